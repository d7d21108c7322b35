package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// The actions that the service distinguishes: GitHub's, and two of its own.
const (
	ActionOpened      = "opened"
	ActionReopened    = "reopened"
	ActionReady       = "ready_for_review"
	ActionLabeled     = "labeled"
	ActionUnlabeled   = "unlabeled"
	ActionSynchronize = "synchronize"
	ActionEdited      = "edited"
	ActionSeen        = "seen" // ours: polling looked at it

	actionOvertaken = "overtaken" // ours: something newer was acted on before
)

// PullRequestEvent is a change of a pull request, or a look at it (any other action).
type PullRequestEvent struct {
	PR      pullrequests.PullRequest
	Actor   string // login of the person who acted; empty: unknown
	ActorID int64  // GitHub's id of the actor
	Bot     bool   // the actor's account is a bot's, by its type
	Action  string // GitHub's action
	Label   string // the label of a labeled or unlabeled action
	Seen    bool   // it became known by polling, and not by an event

	LabeledAt time.Time // when the label was added, if it was found later; zero: GitHub sent an event

	Archived bool // its repository is archived, found in a look at it

	at   string                   // when it happened, by GitHub's clock; distinguishes it from other events of its kind
	as   pullrequests.PullRequest // the pull request at that time, whatever is known now
	late bool                     // newer states were seen before
	own  bool                     // we did it ourselves
	hint bool                     // nothing of ours is concerned, so GitHub was not asked: PR is from the payload
}

// how says how the event became known, if polling found it.
func (e PullRequestEvent) how() string {
	if e.Seen {
		return "seen by polling"
	}
	return ""
}

// SyncPullRequest makes the clusters of a pull request follow its labels and its state, as GitHub returns them (see stands). It
// is level-triggered: a repeated or late event changes nothing, except for what somebody requested by it. The note says what was
// done.
func (s *Service) SyncPullRequest(ctx context.Context, e PullRequestEvent) (note string, err error) {
	e.Label, e.PR.Labels, e.at = lowerOurLabel(e.Label), mapLabels(e.PR.Labels, lowerOurLabel), fmt.Sprint(e.PR.UpdatedAt.Unix())
	e.as = e.PR
	if e, note, err = s.confirmEvent(ctx, e); err != nil || note != "" {
		return note, err
	}
	var notes []string
	for _, r := range []round{firstRound, secondRound} {
		f, err := s.readFacts(ctx, e, r)
		if err != nil {
			return "", err
		}
		said, err := s.performAll(ctx, f, decideActs(f))
		if err != nil {
			return "", err
		}
		notes = append(notes, said...)
		if f.asked != nil { // everything is decided
			break
		}
	}
	if len(notes) == 0 && e.late {
		return older, nil
	}
	return nothingOr(notes), nil
}

// confirmEvent replaces the event by what GitHub confirms of it. note is set if nothing follows from it.
func (s *Service) confirmEvent(ctx context.Context, e PullRequestEvent) (_ PullRequestEvent, note string, err error) {
	got := e
	if e, err = s.confirmState(ctx, e); err != nil {
		note, err = s.endByPayload(ctx, got, err)
		return e, note, err
	}
	if a, b := e.as.RepoID, e.PR.RepoID; a != b && a*b != 0 {
		return e, "of a repository that had this name before", nil
	}
	switch {
	case e.late && e.Action == ActionSeen:
		return e, older, nil
	case e.late && !e.mayRequest(): // its own change is outdated, but GitHub's newer answer may still have to be acted on
		e.Action, e.Actor, e.ActorID, e.Bot, e.Label = actionOvertaken, "", 0, false, ""
	}
	if e.own, err = s.isOurOwnChange(ctx, e); err != nil {
		return e, "", err
	}
	return e, "", nil
}

// nothingOr joins notes about what was done.
func nothingOr(notes []string) string {
	if len(notes) == 0 {
		return "nothing to change"
	}
	return strings.Join(notes, "; ")
}

const older = "older than what was already seen; nothing changed"

// mayRequest reports whether somebody may have requested something by the event. A request counts however late it comes, if it still
// stands.
func (e PullRequestEvent) mayRequest() bool {
	return slices.Contains([]string{ActionOpened, ActionReopened, ActionReady, ActionLabeled, ActionSynchronize}, e.Action)
}

// isOurOwnChange reports whether we added or removed the label ourselves.
func (s *Service) isOurOwnChange(ctx context.Context, e PullRequestEvent) (bool, error) {
	if e.Action != ActionLabeled && e.Action != ActionUnlabeled || !isOurLabel(e.Label) || e.Actor != "" && !e.Bot {
		return false, nil // only a bot can be the App, so GitHub need not be asked for the App's login
	}
	login, err := s.github.OwnLogin(ctx)
	if err != nil {
		return false, fmt.Errorf("ask what we are called: %w", err)
	}
	return strings.EqualFold(login, e.Actor), nil
}

// settlePull checks the pull request once more after a request was stored. An event that closed it, removed the label or pushed to
// it may have been processed in between, when there was no cluster yet whose end it could set and whose approval it could void.
// Either that event or this check sees both.
func (s *Service) settlePull(ctx context.Context, repo string, number int, by actor) ([]string, error) {
	pr, err := s.store.PullRequests.PullRequest(ctx, repo, number)
	if err != nil {
		return nil, fmt.Errorf("read pull request again: %w", err)
	}
	f, err := s.readFacts(ctx, PullRequestEvent{PR: pr, Actor: by.login, ActorID: by.id, Bot: by.bot}, endsOnly)
	if err != nil {
		return nil, err
	}
	return s.performAll(ctx, f, decideActs(f))
}

// isOurLabel reports whether a label has a meaning for ocpctl.
func isOurLabel(label string) bool {
	return strings.HasPrefix(label, chatops.LabelPrefix) || strings.HasPrefix(label, chatops.TTLLabelPrefix)
}

// lowerOurLabel returns our labels in lower case for comparison; GitHub's labels never differ by case alone.
func lowerOurLabel(label string) string {
	if lower := strings.ToLower(label); isOurLabel(lower) {
		return lower
	}
	return label
}

func mapLabels(labels []string, change func(string) string) []string {
	out := make([]string, 0, len(labels))
	for _, l := range labels {
		out = append(out, change(l))
	}
	return out
}
