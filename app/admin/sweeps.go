package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/sweeps"
)

// StartSweeps opens a sweep of an account, or of all that are configured (an empty account), and returns them. One that is open already is
// returned as it is.
func (s *Service) StartSweeps(ctx context.Context, p policy.Principal, account string, origin app.Origin) ([]sweeps.Sweep, error) {
	if err := app.MayForEverybody(p, policy.ActSweep, messages.ToStartSweeps); err != nil {
		return nil, err
	}
	origin, err := app.CheckReason(origin, false)
	if err != nil {
		return nil, err
	}
	var wanted []sweeps.Wanted
	if s.accounts != nil {
		wanted = s.accounts()
	}
	if len(wanted) == 0 {
		return nil, app.Fail(app.Conflict, messages.NoSweepAccount)
	}
	var names []string
	var opened []sweeps.Sweep
	for _, w := range wanted {
		names = append(names, w.Account)
		if account != "" && w.Account != account {
			continue
		}
		sweep, _, err := s.store.Sweeps.Open(ctx, w, s.core.StoreOrigin(origin, p))
		if err != nil {
			return nil, err
		}
		opened = append(opened, sweep)
	}
	if len(opened) == 0 {
		return nil, &app.Error{Kind: app.Invalid, Message: messages.NoSweep, Fields: []app.Field{app.ProblemOf("account", messages.UnknownSweepAccount(account, names))}}
	}
	return opened, nil
}

// maySeeSweeps: a sweep concerns every team.
func maySeeSweeps(p policy.Principal) error {
	if err := app.MayForEverybody(p, policy.ActFindings, messages.ToSeeSweeps); err != nil {
		return err
	}
	if p.TeamsFor(policy.ActFindings) != nil {
		return app.Fail(app.Denied, messages.SweepsCoverAllTeams)
	}
	return nil
}

// Sweeps returns the newest sweeps of one account, or of all (an empty account).
func (s *Service) Sweeps(ctx context.Context, p policy.Principal, account string, limit int) ([]sweeps.Sweep, error) {
	if err := maySeeSweeps(p); err != nil {
		return nil, err
	}
	return s.store.Sweeps.Sweeps(ctx, account, limit)
}

// Sweep returns one sweep and what it looked at.
func (s *Service) Sweep(ctx context.Context, p policy.Principal, id string) (sweeps.Sweep, []sweeps.Part, error) {
	if err := maySeeSweeps(p); err != nil {
		return sweeps.Sweep{}, nil, err
	}
	sweep, err := s.store.Sweeps.Sweep(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return sweeps.Sweep{}, nil, app.Fail(app.NotFound, messages.NoSuchSweep(id))
	}
	if err != nil {
		return sweeps.Sweep{}, nil, fmt.Errorf("get a sweep: %w", err)
	}
	parts, err := s.store.Sweeps.Parts(ctx, id)
	return sweep, parts, err
}
