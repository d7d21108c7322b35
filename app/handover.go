package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// handoverLasts is how long a person can accept a cluster that was offered to them.
const handoverLasts = 24 * time.Hour

// OfferHandover offers a cluster to a person, who owns it once they accept. The principal must be allowed to transfer it. A cluster is
// offered to one person at a time: an earlier offer to somebody else is withdrawn, and one to the same person is returned again.
func (s *Service) OfferHandover(ctx context.Context, p policy.Principal, ref string, to people.Grantee, origin Origin) (people.Handover, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActTransfer, origin)
	if err != nil {
		return people.Handover{}, err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return people.Handover{}, err
	}
	if to.Account == "" || len(to.Account) > maxPrincipal {
		return people.Handover{}, &Error{Kind: Invalid, Message: messages.CannotTransfer(row.Name), Fields: []Field{ProblemOf("to", messages.Problem{"it is empty or too long", []string{"a person's account, such as slack:T012AB3CD/U023BECGF"}})}}
	}
	to.Name = cmp.Or(to.Name, s.NameOf(to.Account))
	if err := checkWanted(row, policy.ActTransfer); err != nil {
		return people.Handover{}, err
	}
	own, err := s.isSamePerson(ctx, p, to.Account)
	switch {
	case err != nil:
		return people.Handover{}, err
	case own:
		return people.Handover{}, Fail(Conflict, fmt.Sprintf("You cannot offer %s to yourself. Name another person, or transfer it to one of your teams.", row.Name))
	}
	claims, err := ClaimsOf(p)
	if err != nil {
		return people.Handover{}, err
	}
	cause := origin.causeOf(p)
	offered, err := s.store.People.OfferHandover(ctx, row.ID, to, cause, handoverLasts, claims, s.StoreOrigin(origin, p))
	if _, err := s.clusterAfter(ctx, row, err, messages.EndedBeforeTransfer(row.Name)); err != nil {
		return people.Handover{}, err
	}
	if offered.ID != "" {
		return offered, nil
	}
	if offered, err = s.store.People.HandoverOf(ctx, cause); err != nil { // its reply was saved before
		return people.Handover{}, fmt.Errorf("read the handover: %w", err)
	}
	return offered, nil
}

// AnswerHandover accepts or declines the offer of a cluster. Only the person to whom it was offered can accept it, by whichever of
// their accounts. Whoever accepts must be allowed to create clusters for the team that it goes to: the cluster's, if they may create
// there, or else their only team. Who has several names one behind the id: "hnd_01J…/payments"; without it the error lists them.
// Declining by somebody else who may transfer the cluster withdraws the offer. The result has the cluster only if it was accepted.
func (s *Service) AnswerHandover(ctx context.Context, p policy.Principal, id string, accept bool, origin Origin) (Change, error) {
	id, team, _ := strings.Cut(id, "/")
	h, err := s.store.People.Handover(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return Change{}, Fail(NotFound, messages.NoHandover(id))
	}
	if err != nil {
		return Change{}, fmt.Errorf("answer a handover: %w", err)
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return Change{}, err
	}
	theirs, err := s.isSamePerson(ctx, p, h.ToAccount)
	switch {
	case err != nil:
		return Change{}, err
	case !theirs && !accept:
		return s.withdrawHandover(ctx, p, h, origin)
	case !theirs:
		return Change{}, Fail(NotFound, messages.NoHandover(id))
	}
	row, err := s.store.Cluster(ctx, h.Cluster)
	if err != nil {
		return Change{}, fmt.Errorf("answer a handover: %w", err)
	}
	if h.State != clusters.HandoverOffered {
		return s.handoverOver(ctx, p, row, h)
	}
	if !accept {
		return s.endHandover(ctx, p, row, h, clusters.HandoverDeclined, origin)
	}
	return s.acceptHandover(ctx, p, row, h, team, origin)
}

// acceptHandover gives the cluster to the principal.
func (s *Service) acceptHandover(ctx context.Context, p policy.Principal, row clusters.Row, h people.Handover, team string, origin Origin) (Change, error) {
	if p.OfPipeline() && !p.MayAnywhere(policy.ActTransfer) {
		return Change{}, Fail(Denied, messages.NoTeamToTake(row.Name, row.Team))
	}
	if row.Team != h.Team {
		return s.unlessOver(ctx, p, row, h, Fail(Conflict, fmt.Sprintf("%s belongs to another team since it was offered, so %s can no longer hand it over. Ask its new owner.", row.Name, h.FromName)))
	}
	may, err := s.mayStillOffer(ctx, h)
	switch {
	case err != nil:
		return Change{}, err
	case !may:
		return s.endOfferOfFormer(ctx, p, row, h, origin)
	}
	if team == "" {
		var err error
		if team, err = s.teamToTake(p, row); err != nil {
			return Change{}, err
		}
	}
	owner := cmp.Or(withDisplayName(p, s.catalogue().Catalogue).Name, h.ToName, p.ID)
	change, err := s.giveCluster(ctx, row, p, team, owner, func(judge store.JudgeTransfer) error {
		return s.store.AcceptHandover(ctx, h, team, owner, s.transferOrigin(origin, p, team), judge)
	})
	if KindOf(err) != Conflict {
		return change, err
	}
	return s.unlessOver(ctx, p, row, h, err)
}

// mayStillOffer reports whether the person who offered a cluster may transfer it now.
func (s *Service) mayStillOffer(ctx context.Context, h people.Handover) (bool, error) {
	if h.FromClaims == nil {
		return true, nil
	}
	var said policy.Claims
	if err := json.Unmarshal(h.FromClaims, &said); err != nil {
		return false, fmt.Errorf("read what %s proved: %w", h.FromPrincipal, err)
	}
	from, err := s.PrincipalNow(ctx, said, linkCounts)
	return from.May(policy.ActTransfer, h.Team), err
}

// endOfferOfFormer withdraws the offer of somebody who may no longer transfer the cluster. Whoever accepts it learns that from the answer,
// and whoever made it in a direct message.
func (s *Service) endOfferOfFormer(ctx context.Context, p policy.Principal, row clusters.Row, h people.Handover, origin Origin) (Change, error) {
	why := s.StoreOrigin(origin, p)
	why.Why, why.Version, why.Reply = "the person who offered it may no longer transfer it", 0, nil
	err := s.store.People.EndOfferOfFormer(ctx, h, row.Name, why)
	if err != nil && !errors.Is(err, db.ErrConflict) {
		return Change{}, fmt.Errorf("end a handover: %w", err)
	}
	return Change{}, Fail(Conflict, fmt.Sprintf("%s may no longer transfer %s, so the offer has ended. Ask somebody of the cluster's team to offer it.", h.FromName, row.Name))
}

// unlessOver answers a conflict: as handoverOver if the offer is over by now, maybe because its button was pressed twice.
func (s *Service) unlessOver(ctx context.Context, p policy.Principal, row clusters.Row, h people.Handover, conflict error) (Change, error) {
	now, err := s.store.People.Handover(ctx, h.ID)
	if err != nil || now.State == clusters.HandoverOffered { // the conflict is another one
		return Change{}, conflict
	}
	return s.handoverOver(ctx, p, row, now)
}

// teamToTake returns the team to which an offered cluster goes if the principal names none.
func (s *Service) teamToTake(p policy.Principal, row clusters.Row) (string, error) {
	if p.May(policy.ActCreate, row.Team) {
		return row.Team, nil
	}
	switch open := teamsOpenTo(p, s.catalogue().Catalogue); len(open) {
	case 0:
		return "", Fail(Denied, messages.NoTeamToTake(row.Name, row.Team))
	case 1:
		return open[0], nil
	default:
		return "", &Error{Kind: Invalid, Message: fmt.Sprintf("You may not create clusters for team %s, to which %s belongs. Choose the team that it goes to: %s.", row.Team, row.Name, strings.Join(open, ", ")), Fields: []Field{ProblemOf("team", messages.Problem{"it is not given", open})}}
	}
}

// withdrawHandover ends an offer on the word of somebody who may give the cluster away.
func (s *Service) withdrawHandover(ctx context.Context, p policy.Principal, h people.Handover, origin Origin) (Change, error) {
	row, origin, err := s.Authorize(ctx, p, h.Cluster, policy.ActTransfer, origin)
	switch {
	case KindOf(err) == NotFound || KindOf(err) == Denied:
		return Change{}, Fail(NotFound, messages.NoHandover(h.ID))
	case err != nil:
		return Change{}, err
	case h.State != clusters.HandoverOffered:
		return Change{}, Fail(Conflict, messages.HandoverOver(row.Name, string(h.State), h.Note, ""))
	}
	return s.endHandover(ctx, p, row, h, clusters.HandoverWithdrawn, origin)
}

func (s *Service) endHandover(ctx context.Context, p policy.Principal, row clusters.Row, h people.Handover, state clusters.HandoverState, origin Origin) (Change, error) {
	err := s.store.People.EndHandover(ctx, h, state, s.StoreOrigin(origin, p))
	if errors.Is(err, db.ErrConflict) {
		if h, err = s.store.People.Handover(ctx, h.ID); err == nil {
			return s.handoverOver(ctx, p, row, h)
		}
	}
	switch {
	case errors.Is(err, db.ErrStale):
		return Change{}, Fail(Stale, messages.ChangedMeanwhile(row.Name))
	case err != nil:
		return Change{}, fmt.Errorf("end a handover: %w", err)
	case state == clusters.HandoverWithdrawn:
		return Change{Message: fmt.Sprintf("%s is no longer offered to %s.", row.Name, h.ToName)}, nil
	}
	return Change{Message: fmt.Sprintf("You declined %s. It stays with %s.", row.Name, h.FromName)}, nil
}

// handoverOver answers somebody whose offer is no longer open. One that they accepted before is no error: a button may be pressed twice.
func (s *Service) handoverOver(ctx context.Context, p policy.Principal, row clusters.Row, h people.Handover) (Change, error) {
	mine, err := s.isSamePerson(ctx, p, h.DecidedBy)
	if err != nil {
		return Change{}, err
	}
	if h.State != clusters.HandoverAccepted || !mine {
		return Change{}, Fail(Conflict, messages.HandoverOver(row.Name, string(h.State), h.Note, h.FromName))
	}
	now, err := s.store.Cluster(ctx, row.ID)
	if err != nil {
		return Change{}, fmt.Errorf("read cluster: %w", err)
	}
	return Change{Row: now, Message: fmt.Sprintf("You accepted %s before. It belongs to team %s, and its owner is %s.", now.Card.Name, now.Card.Team, now.Card.Owner)}, nil
}
