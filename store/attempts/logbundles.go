package attempts

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// LogBundle is a log archive that an attempt stored when its installation failed.
type LogBundle struct {
	Attempt int // number
	Key     string
	SHA256  string // lowercase hex
	Size    int64
	TakenAt time.Time
}

// LogBundles returns a cluster's log archives, those of the newest attempt first.
func (s *Store) LogBundles(ctx context.Context, cluster string) ([]LogBundle, error) {
	out, err := db.All[LogBundle](ctx, s.db.Pool(), `
		SELECT a.number AS attempt, f.s3_key AS key, f.checksum AS sha256, f.size, f.taken_at
		FROM artifacts f JOIN attempts a ON a.id = f.attempt_id
		WHERE f.cluster_id = $1 AND f.artifact_type = 'LOG' AND f.s3_key LIKE 'operate/%'
		ORDER BY a.number DESC, f.taken_at, f.s3_key`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read log bundles of %s: %w", cluster, err)
	}
	return out, nil
}
