package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// keptWhy is the reason of a hold that the label set.
const keptWhy = "the label " + chatops.KeepLabel

// holdClusters holds the clusters of a pull request on behalf of whoever added the label, if they may hold them all. Otherwise
// the label is removed and a reply says why.
func (s *Service) holdClusters(ctx context.Context, e PullRequestEvent, rows []clusters.Row) (note string, err error) {
	request, err := s.newRequest(ctx, policy.SourceLabel, e.PR, e.actorOf())
	if err != nil {
		return "", err
	}
	if s.isOverlooked(e, request) {
		return noteWithoutReply(e, chatops.KeepLabel), nil
	}
	if team := request.Ownership.Team; len(rows) == 0 && !request.Principal.May(policy.ActHold, team) {
		return s.refuseHold(ctx, e, fmt.Sprintf("to hold clusters here, the role %s of team %s is needed; %s. Ask someone who has it to add the label.",
			policy.RoleText(policy.ActHold), chatops.Code(team), request.Principal.OwnRole(team)))
	}
	var notes []string
	for _, row := range rows {
		text, err := s.keepOne(ctx, e.PR, request, row)
		var said *app.Error
		switch {
		case errors.As(err, &said):
			return s.refuseHold(ctx, e, said.Message)
		case err != nil:
			return "", err
		}
		notes = append(notes, text)
	}
	return strings.Join(notes, "; "), nil
}

// refuseHold removes the label and replies why.
func (s *Service) refuseHold(ctx context.Context, e PullRequestEvent, why string) (note string, err error) {
	text := fmt.Sprintf("@%s, the label `%s` was removed: %s", e.Actor, chatops.KeepLabel, chatops.Said(why, e.Actor))
	return s.removeLabel(ctx, e, removeLabel{chatops.KeepLabel, "keep:" + e.at, text, text})
}

func isKept(row clusters.Row) bool { return row.HoldSource == string(policy.SourceLabel) }

// keepOne holds a cluster for as long as the repository's file says, at most up to its profile's maximum.
func (s *Service) keepOne(ctx context.Context, pr pullrequests.PullRequest, r policy.Request, row clusters.Row) (string, error) {
	until, err := s.keepUntil(ctx, pr, row)
	if err != nil {
		return "", err
	}
	change, err := s.core.Hold(ctx, r.Principal, row.ID, app.Span{Until: until}, app.Origin{Source: policy.SourceLabel, Why: keptWhy, Repository: &r})
	return row.Name + " is kept: " + change.Message, err
}

func (s *Service) keepUntil(ctx context.Context, pr pullrequests.PullRequest, row clusters.Row) (time.Time, error) {
	file, _, err := s.readFile(ctx, pr)
	if err != nil || file == nil || file.Keep == 0 {
		return row.Ends.Max, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock: %w", err)
	}
	until := now.Add(s.policy.Scale(file.Keep))
	if until.After(row.Ends.Max) {
		return row.Ends.Max, nil
	}
	return until, nil
}

// keepNew holds a cluster that was created while the label is there, if its requester may hold it.
func (s *Service) keepNew(ctx context.Context, pr pullrequests.PullRequest, r policy.Request, row clusters.Row) error {
	if !mustKeep(pr, row) {
		return nil
	}
	_, err := s.keepOne(ctx, pr, r, row)
	if app.KindOf(err) != "" {
		return nil // the label was meant for the clusters of that time
	}
	return err
}

// mustKeep reports whether the label still has to hold a cluster that was created while it is there.
func mustKeep(pr pullrequests.PullRequest, row clusters.Row) bool {
	return slices.Contains(pr.Labels, chatops.KeepLabel) && row.Ends.Hold.IsZero()
}

// liftHold lifts a hold that the label set.
func (s *Service) liftHold(ctx context.Context, e PullRequestEvent, a liftHold) (note string, err error) {
	whose, err := s.auditActor(ctx, e.actorOf())
	if err != nil {
		return "", err
	}
	_, err = s.store.Hold(ctx, a.row.ID, time.Time{}, clusters.Origin{Actor: whose, Source: string(policy.SourceLabel), Why: a.why})
	if err != nil && !errors.Is(err, db.ErrConflict) {
		return "", fmt.Errorf("let go of %s: %w", a.row.ID, err)
	}
	return a.row.Name + " is no longer held", nil
}
