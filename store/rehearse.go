package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// errRehearsed rolls the rehearsal's transaction back.
var errRehearsed = errors.New("this was a rehearsal")

// Rehearse does what Judge does, under the same locks and with the same statements, forecasts how the cluster would go on, and
// rolls everything back: no row, job, message or audit line stays. It returns the same errors, ErrNameTaken included. The ids in
// its result are unused. a.Once and a.Key are ignored: a rehearsal never answers a request that is sent again.
func (s *Store) Rehearse(ctx context.Context, a Ask, judge func(usage.Usage) (Judgement, error)) (Judged, error) {
	a.Once, a.Key = nil, ""
	var out Judged
	select {
	case s.Judging <- struct{}{}:
		defer func() { <-s.Judging }()
	case <-ctx.Done():
		return out, fmt.Errorf("rehearse a request of %s: %w", a.Principal, ctx.Err())
	}
	earlier := earlier{ask: a}
	err := s.WriteAfter(ctx, earlier.queue, func(c *db.Tx) (err error) {
		if out, err = judgeLocked(ctx, c, a, &earlier, judge); err != nil {
			return err
		}
		if out.Allowed {
			if out.Forecast, err = forecast(ctx, c, out.Row); err != nil {
				return err
			}
		}
		return errRehearsed
	})
	if !errors.Is(err, errRehearsed) {
		return Judged{Judgement: out.Judgement}, fmt.Errorf("rehearse a request of %s: %w", a.Principal, err)
	}
	return out, nil
}

// forecast returns how a cluster that this change accepted would go on.
func forecast(ctx context.Context, c *db.Tx, row clusters.Row) (lifecycle.Forecast, error) {
	var out lifecycle.Forecast
	if !row.NeedsTurn && !row.NeedsApproval {
		out.StartsAt = c.Now
	}
	if row.NeedsTurn {
		turn, err := foreseenTurn(ctx, c, row.ID)
		if err != nil {
			return lifecycle.Forecast{}, err
		}
		out.Position = turn.Position
		if !row.NeedsApproval {
			out.StartsAt = turn.ETA
		}
	}
	var took []float64
	err := c.QueryRow(ctx, clusters.ExpectedOf, pgx.NamedArgs{"kind": lifecycle.Create, "cluster": row.ID}).Scan(&took)
	if err != nil {
		return lifecycle.Forecast{}, fmt.Errorf("read how long others took: %w", err)
	}
	if len(took) == 2 {
		out.ReadyP50, out.ReadyP90 = time.Duration(took[0]*float64(time.Second)), time.Duration(took[1]*float64(time.Second))
	}
	return out, nil
}

// foreseenTurn returns the position that the next pass over the queue would give a cluster. It changes nothing and waits for no
// pass.
func foreseenTurn(ctx context.Context, c *db.Tx, cluster string) (lifecycle.Turn, error) {
	_, _, places, err := takeTurns(ctx, c)
	if err != nil {
		return lifecycle.Turn{}, err
	}
	return places[cluster], nil
}
