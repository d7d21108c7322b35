package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/store"
)

// The actions of GitHub that the service tells apart.
const (
	ActionOpened      = "opened"
	ActionReopened    = "reopened"
	ActionReady       = "ready_for_review"
	ActionLabeled     = "labeled"
	ActionUnlabeled   = "unlabeled"
	ActionSynchronize = "synchronize"
	ActionEdited      = "edited"
	ActionSeen        = "seen" // ours: the sweep looked at it

	actionOvertaken = "overtaken" // ours: something newer was acted on before
)

// PullRequestEvent is one thing that happened to a pull request, or a look at it (any other action).
type PullRequestEvent struct {
	PR      store.PullRequest
	Actor   string // login of who did it; empty: not known
	ActorID int64  // GitHub's own number of them
	Action  string // GitHub's action
	Label   string // the label of a labeled or unlabeled action
	Why     string // how it became known where nobody told, e.g. "seen by the sweep"; empty: GitHub told

	Archived bool // its repository is, as a look at it tells

	at   string            // what tells it from another of its kind: when it happened, by GitHub's clock
	as   store.PullRequest // how the pull request stood then, whatever is known by now
	late bool              // newer things were seen before
	own  bool              // we did it ourselves
	hint bool              // nothing of ours is concerned, so GitHub was not asked: PR is what the payload told
}

// SyncPullRequest makes the clusters of a pull request follow its labels and its state, as GitHub answers when it is asked
// (see stands). It is level-triggered: the same event twice, or an older one late, changes nothing but what somebody asked for
// by it. The note says in words what was done.
func (d *Service) SyncPullRequest(ctx context.Context, e PullRequestEvent) (note string, err error) {
	e.Label, e.PR.Labels, e.at = spelt(e.Label), each(e.PR.Labels, spelt), fmt.Sprint(e.PR.UpdatedAt.Unix())
	e.as = e.PR
	told := e
	if e, err = d.stands(ctx, e); err != nil {
		return d.endByPayload(ctx, told, err)
	}
	if a, b := e.as.RepoID, e.PR.RepoID; a != b && a*b != 0 {
		return "of a repository that had this name before", nil
	}
	switch {
	case e.late && e.Action == ActionSeen:
		return older, nil
	case e.late && !e.asks(): // what it did is overtaken, but GitHub's newer answer may still have to be acted on
		e.Action, e.Actor, e.ActorID, e.Label = actionOvertaken, "", 0, ""
	}
	if e.own, err = d.ourselves(ctx, e); err != nil {
		return "", err
	}
	steps := []func(context.Context, PullRequestEvent) ([]string, error){d.syncLive, d.syncHead, d.syncLabels, d.checkFile}
	var notes []string
	for _, step := range steps {
		said, err := step(ctx, e)
		if err != nil {
			return "", err
		}
		notes = append(notes, said...)
	}
	if len(notes) == 0 && e.late {
		return older, nil
	}
	return nothingOr(notes), nil
}

// nothingOr is what was done, in words.
func nothingOr(notes []string) string {
	if len(notes) == 0 {
		return "nothing to change"
	}
	return strings.Join(notes, "; ")
}

const older = "older than what was already seen; nothing changed"

// asks says whether somebody may have asked for something by the event, which counts however late it comes, if what they
// asked for still stands.
func (e PullRequestEvent) asks() bool {
	return slices.Contains([]string{ActionOpened, ActionReopened, ActionReady, ActionLabeled, ActionSynchronize}, e.Action)
}

// ourselves says whether a label was set or taken off by us.
func (d *Service) ourselves(ctx context.Context, e PullRequestEvent) (bool, error) {
	if e.Action != ActionLabeled && e.Action != ActionUnlabeled || !ours(e.Label) || e.Actor != "" && !isBot(strings.ToLower(e.Actor)) {
		return false, nil // only a bot can be the App, so GitHub need not be asked what the App is called
	}
	login, err := d.github.OwnLogin(ctx)
	if err != nil {
		return false, fmt.Errorf("ask what we are called: %w", err)
	}
	return strings.EqualFold(login, e.Actor), nil
}

// syncLive brings what lives of the pull request up to how it stands: its ends, its approvals and what holds it.
func (d *Service) syncLive(ctx context.Context, e PullRequestEvent) ([]string, error) {
	live, err := d.live(ctx, e.PR.Repo, e.PR.Number)
	if err != nil || len(live) == 0 {
		return nil, err
	}
	if slices.ContainsFunc(live, func(r store.Row) bool { return r.PR.Installation != e.PR.Installation }) { // which nobody told of
		anew := RepositoryEvent{RepoID: e.PR.RepoID, Action: actionAdded, From: e.PR.Repo, To: e.PR.Repo, Actor: e.Actor}
		if _, err := d.follow(ctx, anew, e.PR.Installation); err != nil {
			return nil, err
		}
	}
	notes, err := d.bring(ctx, live, e)
	if err != nil {
		return nil, err
	}
	said, err := d.labelledAgain(ctx, e, live)
	if err != nil {
		return nil, err
	}
	notes = append(notes, said...)
	said, err = d.unkeep(ctx, e, live)
	return append(notes, said...), err
}

// bring moves ends and approvals of clusters to where the pull request has them.
func (d *Service) bring(ctx context.Context, live []store.Row, e PullRequestEvent) (notes []string, err error) {
	noDrafts, err := d.noDrafts(ctx, e.PR)
	if err != nil {
		return nil, err
	}
	for _, row := range live {
		said, err := d.syncEnds(ctx, row, e, noDrafts)
		if err != nil {
			return nil, err
		}
		notes = append(notes, said...)
		if said, err = d.rebind(ctx, row, e.PR); err != nil {
			return nil, err
		}
		notes = append(notes, said...)
	}
	return notes, nil
}

// settle looks at the pull request once more after a wish was written. An event that closed it, took the label off or pushed
// to it may have been processed in between, when there was no cluster yet whose end it could set and whose approval it could
// make void; either it or this sees both.
func (d *Service) settle(ctx context.Context, repo string, number int, actor string) ([]string, error) {
	pr, err := d.store.PullRequest(ctx, repo, number)
	if err != nil {
		return nil, fmt.Errorf("read pull request again: %w", err)
	}
	live, err := d.live(ctx, repo, number)
	if err != nil || len(live) == 0 {
		return nil, err
	}
	return d.bring(ctx, live, PullRequestEvent{PR: pr, Actor: actor})
}

// ours says whether a label means something here.
func ours(label string) bool {
	return strings.HasPrefix(label, chatops.LabelPrefix) || strings.HasPrefix(label, chatops.TTLLabelPrefix)
}

// spelt gives a label of ours the one spelling we compare by; GitHub's labels do not differ by case alone.
func spelt(label string) string {
	if lower := strings.ToLower(label); ours(lower) {
		return lower
	}
	return label
}

func each(labels []string, change func(string) string) []string {
	out := make([]string, 0, len(labels))
	for _, l := range labels {
		out = append(out, change(l))
	}
	return out
}
