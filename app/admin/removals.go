package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/cleanup"
	"github.com/ocpctl/ocpctl/store/db"
)

// MostOrphans is how many orphans one request may decide about.
const MostOrphans = 100

// PlanRemovals returns how each of the orphans would be removed. It changes nothing.
func (s *Service) PlanRemovals(ctx context.Context, p policy.Principal, ids []string) ([]cleanup.Plan, error) {
	if err := app.MayForEverybody(p, policy.ActCleanup, messages.ToRemoveOrphans); err != nil {
		return nil, err
	}
	if err := checkOrphans(ids); err != nil {
		return nil, err
	}
	planner := cleanup.Config{BaseDomain: s.catalogue().OnlyBaseDomain, Account: s.runnersIn}
	plans := make([]cleanup.Plan, len(ids))
	for i, id := range ids {
		r, err := s.store.Scans.Removal(ctx, id)
		if err != nil {
			return nil, orphanError(id, err)
		}
		r.Exempt = slices.DeleteFunc(r.Exempt, func(other string) bool { return slices.Contains(ids, other) }) // an approval of both lifts the exemption
		plans[i] = planner.PlanOf(r)
	}
	return plans, nil
}

// ApproveRemovals approves the removal of the orphans, all or none, and returns how each is removed. Nothing is approved that no teardown
// can remove.
func (s *Service) ApproveRemovals(ctx context.Context, p policy.Principal, ids []string, origin app.Origin) ([]cleanup.Plan, error) {
	plans, err := s.PlanRemovals(ctx, p, ids)
	if err != nil {
		return nil, err
	}
	if origin, err = app.CheckReason(origin, true); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(plans, func(p cleanup.Plan) bool { return p.Refused != "" }); i >= 0 {
		return nil, app.Fail(app.Conflict, fmt.Sprintf("Nothing was approved, because no teardown can remove the orphan %s: %s.", plans[i].Orphan, plans[i].Refused))
	}
	if err := s.store.Scans.Approve(ctx, ids, s.core.StoreOrigin(origin, p)); err != nil {
		return nil, orphanError("", err)
	}
	return plans, nil
}

// ExemptOrphans lets the orphans stay, all or none.
func (s *Service) ExemptOrphans(ctx context.Context, p policy.Principal, ids []string, origin app.Origin) error {
	if err := app.MayForEverybody(p, policy.ActCleanup, "exempt orphans"); err != nil {
		return err
	}
	if err := checkOrphans(ids); err != nil {
		return err
	}
	origin, err := app.CheckReason(origin, true)
	if err != nil {
		return err
	}
	return orphanError("", s.store.Scans.Exempt(ctx, ids, s.core.StoreOrigin(origin, p)))
}

func checkOrphans(ids []string) error {
	if len(ids) == 0 || len(ids) > MostOrphans {
		return app.Fail(app.Invalid, fmt.Sprintf("Name between 1 and %d orphans.", MostOrphans))
	}
	return nil
}

// orphanError tells an admin what is wrong with a decision about orphans.
func orphanError(id string, err error) error {
	switch {
	case errors.Is(err, db.ErrNotFound) && id != "":
		return app.Fail(app.NotFound, messages.NoOrphan(id))
	case errors.Is(err, db.ErrNotFound):
		return app.Fail(app.NotFound, messages.OrphanUndecidable(err.Error()))
	case errors.Is(err, db.ErrConflict):
		return app.Fail(app.Conflict, messages.OrphanUndecidable(err.Error()))
	case err != nil:
		return fmt.Errorf("decide about orphans: %w", err)
	}
	return nil
}
