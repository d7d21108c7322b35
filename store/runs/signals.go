package runs

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/store/internal/pg"
)

// SignalledCommits returns the commits of the runs of a repository that wait for a signal of the cluster or were sent one, the newest
// first, as far as they are known.
func (s *Store) SignalledCommits(ctx context.Context, cluster, scope string) ([]string, error) {
	list, err := pg.All[struct{ HeadSHA string }](ctx, s.db.Pool(), `
		SELECT r.head_sha FROM signals g JOIN runs r ON r.id = g.run_id
		WHERE g.cluster_id = $1 AND r.scope = $2 AND r.head_sha <> '' ORDER BY g.asked_at DESC, g.id DESC`, cluster, scope)
	if err != nil {
		return nil, fmt.Errorf("read the signals of %s: %w", cluster, err)
	}
	var commits []string
	for _, one := range list {
		commits = append(commits, one.HeadSHA)
	}
	return commits, nil
}
