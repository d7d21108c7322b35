package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Sleep puts a ready cluster to sleep in the way of its profile, and returns the job that does it; empty: it is asleep already. Without a
// span it sleeps until somebody wakes it.
func (s *Service) Sleep(ctx context.Context, p policy.Principal, ref string, span Span, origin Origin) (row clusters.Row, job string, err error) {
	row, origin, err = s.checkPower(ctx, p, ref, origin)
	if err != nil {
		return clusters.Row{}, "", err
	}
	switch obstacleTo(policy.VerbSleep, row) {
	case policy.SpotMachines:
		return clusters.Row{}, "", Fail(Conflict, fmt.Sprintf("%s cannot be put to sleep: %s. Destroy it if nobody needs it for a while, or request one of a profile without spot.", row.Card.Name, row.WhyNoSleep()))
	case policy.CannotSleep:
		return clusters.Row{}, "", Fail(Conflict, fmt.Sprintf("%s cannot be put to sleep: its profile %s allows neither removing its workers nor stopping its machines. "+
			"A platform admin can allow it for new clusters, with sleep in the profile.", row.Card.Name, row.Card.Profile))
	}
	request := store.SleepRequest{Until: span.Until, Why: origin.Why}
	if span != (Span{}) {
		if request.Until, err = s.wakeAt(ctx, span); err != nil {
			return clusters.Row{}, "", err
		}
	}
	out, err := s.store.Sleep(ctx, row.ID, request, s.StoreOrigin(origin, p))
	row, err = s.clusterAfter(ctx, row, err, messages.UnreadyForSleep(row.Name))
	return row, out.Job, err
}

// wakeAt returns when a cluster that is put to sleep now wakes by itself.
func (s *Service) wakeAt(ctx context.Context, span Span) (time.Time, error) {
	if err := span.checkSpan(); err != nil {
		return time.Time{}, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock: %w", err)
	}
	until := span.Until
	if until.IsZero() {
		until = now.Add(s.policy.Scale(span.For))
	}
	if !until.After(now) {
		return time.Time{}, &Error{Kind: Invalid, Message: messages.SleepIsPast, Fields: []Field{{Name: "until", Detail: messages.SleepIsPast, Told: true}}}
	}
	return until, nil
}

// Wake wakes a cluster, and returns the job that does it; empty: it is awake already.
func (s *Service) Wake(ctx context.Context, p policy.Principal, ref string, origin Origin) (row clusters.Row, job string, err error) {
	row, origin, err = s.checkPower(ctx, p, ref, origin)
	if err != nil {
		return clusters.Row{}, "", err
	}
	out, err := s.store.Wake(ctx, row.ID, s.StoreOrigin(origin, p))
	row, err = s.clusterAfter(ctx, row, err, messages.UnreadyForSleep(row.Name))
	return row, out.Job, err
}

// checkPower checks what putting to sleep and waking have in common.
func (s *Service) checkPower(ctx context.Context, p policy.Principal, ref string, origin Origin) (clusters.Row, Origin, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActSleep, origin)
	if err != nil {
		return clusters.Row{}, origin, err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return clusters.Row{}, origin, err
	}
	if obstacle := obstacleTo(policy.VerbSleep, row); slices.Contains([]policy.Obstacle{policy.IsGone, policy.IsEnding, policy.NotReady}, obstacle) {
		return clusters.Row{}, origin, Fail(Conflict, fmt.Sprintf("%s is %s (%s). A cluster can be put to sleep and woken only while it is READY.", row.Card.Name, row.Card.Status, row.Card.Phase))
	}
	return row, origin, nil
}
