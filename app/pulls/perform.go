package pulls

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// performAll carries out acts in their order, up to the first error. The notes say what was done.
func (s *Service) performAll(ctx context.Context, f facts, acts []act) (notes []string, err error) {
	for _, a := range acts {
		note, err := s.performAct(ctx, f, a)
		if err != nil {
			return nil, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes, nil
}

// performAct carries out one act. A second time it changes nothing. The row may have changed since it was read: the store's methods
// check that under a lock. Who may do it is judged now. The note says what was done; empty: nothing worth a note.
func (s *Service) performAct(ctx context.Context, f facts, a act) (note string, err error) {
	e := f.event
	switch a := a.(type) {
	case moveInstallation:
		anew := RepositoryEvent{RepoID: e.PR.RepoID, Action: actionAdded, From: e.PR.Repo, To: e.PR.Repo, Actor: e.Actor, ActorID: e.ActorID}
		_, err := s.moveRows(ctx, anew, e.PR.Installation)
		return "", err
	case setEnd:
		return s.setEndAt(ctx, a, e.actorOf())
	case liftEnd:
		return a.row.Name + " no longer ends because " + a.was.String(), s.liftEnd(ctx, a.row, a.kind, a.why, e.actorOf())
	case rebindApproval:
		notes, err := s.rebindApproval(ctx, a.row, e.PR)
		return strings.Join(notes, "; "), err
	case restoreLabel:
		return s.restoreLabel(ctx, e, a)
	case liftHold:
		return s.liftHold(ctx, e, a)
	case tryAgain:
		return "", a.err
	case recheckEnds:
		notes, err := s.settlePull(ctx, e.PR.Repo, e.PR.Number, e.actorOf())
		return strings.Join(notes, "; "), err
	}
	return s.performRequest(ctx, f, a)
}

// performRequest carries out an act that somebody asked for.
func (s *Service) performRequest(ctx context.Context, f facts, a act) (note string, err error) {
	e := f.event
	switch a := a.(type) {
	case followHead:
		if err := s.store.Outbox.FollowHead(ctx, e.PR.Repo, e.PR.Number, e.PR.Head); err != nil {
			return "", fmt.Errorf("follow the head: %w", err)
		}
		return "", nil
	case remark:
		return a.note, nil
	case useCluster:
		return "", s.store.Active(ctx, a.row.ID, lifecycle.ActivityPush)
	case refreshAddons:
		return s.refreshAddons(ctx, e, f.asked.push.request, a)
	case replaceCluster:
		return s.replaceCluster(ctx, e, f.asked.push.request, a)
	case requestCluster:
		return s.createForLabel(ctx, e, a)
	case showByLabel:
		return "", s.store.Outbox.ShowByLabel(ctx, a.row.ID)
	case holdCreated:
		return "", s.holdCreated(ctx, e, a.row)
	case rejectLabel:
		return s.rejectLabel(ctx, e, a)
	case removeLabel:
		return s.removeLabel(ctx, e, a)
	case extendClusters:
		return s.extendClusters(ctx, e, a)
	case holdClusters:
		return s.holdClusters(ctx, e, a.rows)
	case checkFile:
		return s.checkHead(ctx, e, outbox.EffectCheckConfig, profiles.RepositoryFilePath)
	case checkCatalogue:
		return s.checkHead(ctx, e, outbox.EffectCheckCatalogue, "catalogue")
	}
	return "", fmt.Errorf("nothing carries out %T", a)
}
