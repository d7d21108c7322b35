package attempts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// AddonState is what a runner reports about one add-on.
type AddonState struct {
	Name    string
	There   bool   // applied, and every condition seen
	Reason  string // one word
	Message string // for people
	Next    string // what to do about it
}

func (s *Store) addons(ctx context.Context, cluster string) ([]clusters.Addon, error) {
	out, err := db.All[clusters.Addon](ctx, s.db.Pool(), `SELECT name, manifests, waits FROM cluster_addons WHERE cluster_id = $1 ORDER BY position`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the add-ons of %s: %w", cluster, err)
	}
	return out, nil
}

// keepAddons stores what a runner reports about add-ons as conditions. ErrConflict: the cluster was accepted without one.
func keepAddons(ctx context.Context, c *db.Tx, f Fenced, states []AddonState) error {
	if len(states) > 0 && f.Kind != lifecycle.Create && f.Kind != lifecycle.Configure {
		return fmt.Errorf("%w: only a create or a refresh brings add-ons", db.ErrConflict)
	}
	for _, a := range states {
		if !slices.Contains(f.Addons, a.Name) {
			return fmt.Errorf("%w: the cluster was accepted without the add-on %q", db.ErrConflict, a.Name)
		}
		q := clusters.Condition{Type: clusters.AddonCondition + a.Name, Status: "False", Reason: a.Reason, Message: strings.TrimSpace(a.Message + " " + a.Next)}
		if a.There {
			q.Status = "True"
		}
		if err := clusters.SetCondition(ctx, c, f.ID, q); err != nil {
			return err
		}
	}
	return nil
}
