package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// EffectReject rejects the jobs of a run that wait for an environment, although nothing is known of the run. Its content is a Rejection.
const EffectReject clusters.EffectKind = "reject"

// Rejection is the answer to jobs about whose run the platform could not be asked.
type Rejection struct {
	Run         int64  `json:"run"` // its number on the platform
	Deployment  int64  `json:"deployment"`
	Environment string `json:"environment"`
	Why         string `json:"why"`
}

// Reject has such jobs rejected. The same deployment is rejected once.
func (s *Store) Reject(ctx context.Context, installation int64, repo string, r Rejection) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the rejection of run %d: %w", r.Run, err)
	}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		return clusters.SaveEffects(ctx, c, []clusters.Effect{{
			Cause: fmt.Sprintf("reject:%d:%d:%d:%s", installation, r.Run, r.Deployment, r.Environment), Kind: EffectReject, Installation: installation, Repo: repo, Content: string(content),
		}})
	})
	if err != nil {
		return fmt.Errorf("reject %s to run %d of %s: %w", r.Environment, r.Run, repo, err)
	}
	return nil
}
