package app

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// KeepAwake keeps a cluster that sleeps outside working hours awake until the next ones begin. If it sleeps already, it is woken.
func (s *Service) KeepAwake(ctx context.Context, p policy.Principal, ref string, origin Origin) (Change, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActHold, origin)
	if err != nil {
		return Change{}, err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return Change{}, err
	}
	if err := checkWanted(row, policy.ActHold); err != nil {
		return Change{}, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return Change{}, fmt.Errorf("read the clock: %w", err)
	}
	hours := lifecycle.HoursAt(s.catalogue().HoursOf(row.Profile, row.Team), now, 0, 0)
	switch obstacle := obstacleTo(policy.VerbTonight, row); {
	case obstacle == policy.NoOffHours:
		return Change{}, Fail(Conflict, row.Card.Name+" does not sleep outside working hours, so there is nothing to keep it awake for. To keep it from ending, give a duration, such as 8h.")
	case hours.Opens.IsZero():
		return Change{}, Fail(Conflict, fmt.Sprintf("No working hours that begin again are in force for %s, so nothing puts it to sleep.", row.Card.Name))
	case obstacle == policy.AsleepByHand:
		return Change{}, Fail(Conflict, fmt.Sprintf("%s was put to sleep by a person (%s), not by working hours. Wake it with ocpctl wake %s, or with %s wake.", row.Card.Name, row.Card.SleepWhy, row.Card.Name, chatops.Prefix))
	}
	_, err = s.store.KeepAwake(ctx, row.ID, hours.Opens, s.StoreOrigin(origin, p))
	row, err = s.clusterAfter(ctx, row, err, messages.EndedMeanwhile(row.Name, policy.ActHold))
	if err != nil {
		return Change{}, err
	}
	return Change{Row: row, Message: messages.KeptAwake(row.Card)}, nil
}
