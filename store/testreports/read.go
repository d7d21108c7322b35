package testreports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// historyOf is how many runs a cluster's history has.
const historyOf = 10

// Of returns the reports about a cluster of its newest runs, the newest run first. Those of earlier clusters of the same pull request and
// profile are among them.
func (s *Store) Of(ctx context.Context, cluster string) ([]lifecycle.RunTests, error) {
	all, err := reports(ctx, s.db.Pool(), `
		WITH mine AS (
			SELECT t.id, t.run_id FROM clusters c
			JOIN clusters o ON o.id = c.id OR o.repo = c.repo AND o.pr_number = c.pr_number AND o.profile = c.profile
			JOIN test_reports t ON t.cluster_id = o.id WHERE c.id = @cluster),
		newest AS (SELECT r.id FROM runs r WHERE r.id IN (SELECT run_id FROM mine) ORDER BY r.created_at DESC, r.id DESC LIMIT @most)
		SELECT `+columns+` FROM mine m JOIN test_reports t ON t.id = m.id JOIN runs r ON r.id = t.run_id WHERE r.id IN (SELECT id FROM newest)`,
		pgx.NamedArgs{"cluster": cluster, "most": historyOf})
	if err != nil {
		return nil, fmt.Errorf("read the test reports of %s: %w", cluster, err)
	}
	return lifecycle.TestsByRun(all), nil
}

// Target is the check that shows a report: the repository, the profile of the cluster, and the run that says which commit it is on.
type Target struct {
	RunID, RunKey           string
	Repo, Profile, Workflow string
	Event, Claimed          string // Claimed is the commit that the run's token named
	Head                    string // the tested commit; empty: the platform has to be asked at which commit it shows the run
	Cluster                 string // name
	ClusterID               string
}

// Target returns where a report is shown. ErrNotFound: there is no such report.
func (s *Store) Target(ctx context.Context, report string) (Target, error) {
	t, err := db.One[Target](ctx, s.db.Pool(), `
		SELECT r.id AS run_id, r.key AS run_key, r.repo, c.profile, r.name AS workflow, r.event, r.head AS claimed,
			coalesce(nullif(t.head, ''), r.head_sha) AS head, c.name AS cluster, c.id AS cluster_id
		FROM test_reports t JOIN runs r ON r.id = t.run_id JOIN clusters c ON c.id = t.cluster_id WHERE t.id = $1`, report)
	if err != nil {
		return Target{}, fmt.Errorf("read test report %s: %w", report, err)
	}
	return t, nil
}

// onCommit selects the reports t that one check shows.
const onCommit = `FROM test_reports t JOIN runs r ON r.id = t.run_id JOIN clusters c ON c.id = t.cluster_id
	WHERE r.repo = @repo AND coalesce(nullif(t.head, ''), r.head_sha) = @head AND c.profile = @profile`

// Waiting returns the effects that are to show reports on a commit. Read them before the reports: each shows what is read then.
func (s *Store) Waiting(ctx context.Context, t Target) (effects []string, err error) {
	type row struct{ ID string }
	list, err := db.All[row](ctx, s.db.Pool(), `
		SELECT e.id FROM effects e WHERE e.done_at IS NULL AND e.kind = @kind AND e.content IN (SELECT t.id `+onCommit+`)`, t.args())
	for _, one := range list {
		effects = append(effects, one.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("look for checks to update: %w", err)
	}
	return effects, nil
}

// OnCommit returns the reports on a commit about clusters of a profile, the newest run first.
func (s *Store) OnCommit(ctx context.Context, t Target) ([]lifecycle.RunTests, error) {
	all, err := reports(ctx, s.db.Pool(), `SELECT `+columns+` `+onCommit, t.args())
	if err != nil {
		return nil, fmt.Errorf("read the test reports on %s: %w", t.Head, err)
	}
	return lifecycle.TestsByRun(all), nil
}

func (t Target) args() pgx.NamedArgs {
	return pgx.NamedArgs{"repo": t.Repo, "head": t.Head, "profile": t.Profile, "kind": EffectCheck}
}
