package store

import (
	"context"

	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
)

// AskAccess is Access.Ask for a job of a pipeline's run; nil: for nobody's. What the job gets ends with its run. A runs.Refusal: the run is
// over.
func (s *Store) AskAccess(ctx context.Context, cluster string, w access.Wanted, run *runs.Ref, job string, d clusters.Origin) (found access.Row, err error) {
	if run == nil {
		return s.Access.Ask(ctx, cluster, w, d)
	}
	err = s.Write(ctx, func(tx *db.Tx) error {
		var unwatched bool
		if w.OfRun, unwatched, err = runs.EnterFor(ctx, tx, *run, job, cluster); err != nil {
			return err
		}
		if unwatched && w.Blind > 0 {
			w.Lifetime, w.Least, w.Most = min(w.Lifetime, w.Blind), min(w.Least, w.Blind/4), w.Blind
		}
		found, err = access.AskIn(ctx, tx, cluster, w, d)
		return err
	})
	return found, err
}
