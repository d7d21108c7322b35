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
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// syncLabels does what the pull request's labels ask for, and checks the pull request again if a request was stored.
func (d *Service) syncLabels(ctx context.Context, e PullRequestEvent) (notes []string, err error) {
	if !e.PR.Open {
		return nil, nil
	}
	for _, label := range e.PR.Labels {
		said, err := d.syncLabel(ctx, e, label)
		if err != nil {
			return nil, err
		}
		notes = append(notes, said...)
	}
	if len(notes) == 0 {
		return nil, nil
	}
	settled, err := d.settle(ctx, e.PR.Repo, e.PR.Number, e.Actor)
	return append(notes, settled...), err
}

func (d *Service) syncLabel(ctx context.Context, e PullRequestEvent, label string) ([]string, error) {
	switch name, profile := strings.CutPrefix(label, chatops.LabelPrefix); {
	case label == chatops.KeepLabel:
		return d.keep(ctx, e)
	case strings.HasPrefix(label, chatops.TTLLabelPrefix):
		return d.lengthen(ctx, e, label)
	case profile:
		return d.createByLabel(ctx, e, label, name)
	}
	return nil, nil
}

// createByLabel ensures the cluster that a label asks for, only on behalf of whoever added the label.
func (d *Service) createByLabel(ctx context.Context, e PullRequestEvent, label, name string) ([]string, error) {
	profile, known := d.catalogue().Get(name)
	if !known {
		return d.wrongLabel(ctx, e, label, "no profile is called "+name, chatops.UnknownLabel(label, d.core.ProfileNames()))
	}
	newest, err := d.store.ClusterForPR(ctx, e.PR.Repo, e.PR.Number, profile.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("look for the cluster of %s: %w", label, err)
	}
	switch {
	case newest.ID != "" && newest.Desired == lifecycle.Present:
		if newest.Source == string(policy.SourceLabel) {
			return nil, d.keepMade(ctx, e, label, newest)
		}
		return nil, d.store.ShowByLabel(ctx, newest.ID) // the label must not outlast the cluster
	}
	asked, err := d.undrafted(ctx, e, label)
	switch {
	case err != nil:
		return nil, err
	case !asked && !setsLabel(e, label):
		return d.unasked(ctx, e, label)
	case e.late:
		refused, err := d.store.Refused(ctx, string(policy.SourceLabel), e.PR.Repo, e.PR.Number, profile.Name, e.as.UpdatedAt)
		if err != nil || refused { // the person whose label is there now was answered
			return nil, err
		}
	}
	note, err := d.createForLabel(ctx, e, label, profile.Name, newest.Generation+1)
	if err != nil || note == "" {
		return nil, err
	}
	return []string{note}, nil
}

// wrongLabel removes a label that can never mean anything, and tells whoever added it why. If it is not known who added it, it
// stays: it may be the repository's own, from before.
func (d *Service) wrongLabel(ctx context.Context, e PullRequestEvent, label, note, why string) ([]string, error) {
	if !setsLabel(e, label) {
		return nil, nil
	}
	request, err := d.request(ctx, policy.SourceLabel, e.PR, actor{e.Actor, e.ActorID})
	if err != nil {
		return nil, err
	}
	if d.overlooked(e, request) {
		return []string{notTold(e, label)}, nil
	}
	cause := "wrong:" + e.at
	if err := d.store.SaveEffect(ctx, unlabel(e.PR, label, cause)); err != nil {
		return nil, fmt.Errorf("take the label off: %w", err)
	}
	return []string{note}, d.answerLabel(ctx, e.PR, cause, label, strings.TrimRight(why, "\n")+" The label was removed.")
}

// setsLabel reports whether the event is somebody's action on this label: they added it, or opened or reopened a pull request that
// had it. Only such an action counts as a request. Otherwise the next push by a person with permission would create, on their
// behalf, what a person without permission had asked for.
func setsLabel(e PullRequestEvent, label string) bool {
	opens := (e.Action == ActionReopened || e.Action == ActionOpened) && slices.Contains(e.as.Labels, label)
	return !e.own && e.Actor != "" && (opens || e.Action == ActionLabeled && e.Label == label)
}

// undrafted reports whether somebody made a pull request with the label ready for review where drafts count as closed: that
// reopens it.
func (d *Service) undrafted(ctx context.Context, e PullRequestEvent, label string) (bool, error) {
	if e.Action != ActionReady || e.own || e.Actor == "" || !slices.Contains(e.as.Labels, label) {
		return false, nil
	}
	file, _, err := d.file(ctx, e.PR)
	return file != nil && file.Drafts == profiles.DraftsDeny, err
}

// quiet is how long a pull request must be unchanged before a label of unknown origin counts as one that no event will explain.
const quiet = 10 * time.Minute

// unasked removes a label without a request: one that we put back too late, and one that the sweep finds although GitHub never
// said who added it or when it came back.
func (d *Service) unasked(ctx context.Context, e PullRequestEvent, label string) ([]string, error) {
	switch now, err := d.store.Now(ctx); {
	case err != nil:
		return nil, fmt.Errorf("read the clock: %w", err)
	case e.own && e.Action == ActionLabeled && e.Label == label:
		return []string{label + " stands for nothing any more"}, d.store.SaveEffect(ctx, unlabel(e.PR, label, "back:"+e.at))
	case e.Action != ActionSeen || now.Sub(e.PR.UpdatedAt) < quiet:
		return nil, nil
	}
	words := fmt.Sprintf("The label %s did not create a cluster: GitHub did not say who added it, and a cluster needs a requester. "+
		"The label was removed; add it again to get a cluster.", chatops.Code(label))
	if err := d.answerLabel(ctx, e.PR, "unasked:"+e.at, label, words); err != nil {
		return nil, err
	}
	return []string{label + " was set by nobody we know"}, d.store.SaveEffect(ctx, unlabel(e.PR, label, "unasked:"+e.at))
}

func (d *Service) createForLabel(ctx context.Context, e PullRequestEvent, label, profile string, generation int) (string, error) {
	pr, err := d.truth(ctx, e.PR)
	if err != nil {
		return "", err
	}
	if !pr.Open || !slices.Contains(pr.Labels, label) {
		return "", nil // it was removed before anything started
	}
	key := e.key(pr, profile)
	request, err := d.request(ctx, policy.SourceLabel, pr, actor{e.Actor, e.ActorID})
	if err != nil {
		return "", err
	}
	if d.overlooked(e, request) {
		return notTold(e, label), nil
	}
	w, err := d.asked(ctx, request, pr)
	if err != nil {
		return "", err
	}
	w.Request.Profile, w.Request.Generation, w.Request.TTL = profile, generation, labelled(pr.Labels)
	w.Actor, w.Key, w.Cause, w.AskedAt = e.Actor, key, key, pr.UpdatedAt
	w.Label, w.OnRefusal = label, []store.Effect{unlabel(pr, label, key)}
	made, err := d.core.CreateFrom(ctx, w)
	switch {
	case app.KindOf(err) == app.Conflict:
		if err := d.store.SaveEffect(ctx, w.OnRefusal[0]); err != nil {
			return "", fmt.Errorf("take the label off: %w", err)
		}
		return err.Error(), d.say(ctx, pr, key, chatops.Said(err.Error(), e.Actor))
	case err != nil:
		return "", err
	case made.Row.ID == "":
		return refusedNote(profile, made.Verdict), nil
	}
	return fmt.Sprintf("accepted %s as %s", profile, made.Row.ID), d.keepNew(ctx, pr, request, made.Row)
}

// key identifies an event's request for a profile: two events with the same key are one request.
func (e PullRequestEvent) key(pr store.PullRequest, profile string) string {
	return fmt.Sprintf("label:%s#%d:%s:%s:%s", pr.Repo, pr.Number, profile, e.Action, e.at)
}

// keepMade holds the cluster that this event created, if the process died before it did that.
func (d *Service) keepMade(ctx context.Context, e PullRequestEvent, label string, row store.Row) error {
	if !setsLabel(e, label) || !keeps(e.PR, row) {
		return nil
	}
	made, err := d.store.Made(ctx, principalID(e.Actor), e.key(e.PR, row.Profile))
	if err != nil || made != row.ID {
		return err
	}
	request, err := d.request(ctx, policy.SourceLabel, e.PR, actor{e.Actor, e.ActorID})
	if err != nil {
		return err
	}
	return d.keepNew(ctx, e.PR, request, row)
}

// labelledAgain puts back a label that we removed while somebody requested a live cluster by it.
func (d *Service) labelledAgain(ctx context.Context, e PullRequestEvent, live []store.Row) ([]string, error) {
	stands := slices.IndexFunc(live, func(r store.Row) bool {
		return r.Source == string(policy.SourceLabel) && e.Label == chatops.LabelPrefix+r.Profile
	})
	if !e.own || e.Action != ActionUnlabeled || stands < 0 || slices.Contains(e.PR.Labels, e.Label) {
		return nil, nil
	}
	err := d.store.SaveEffect(ctx, store.Effect{
		Cause: fmt.Sprintf("relabel:%s#%d:%s:%s", e.PR.Repo, e.PR.Number, e.Label, e.at), Kind: store.EffectAddLabel,
		Installation: e.PR.Installation, Repo: e.PR.Repo, Number: e.PR.Number, Content: e.Label,
	})
	return []string{e.Label + " comes back: " + live[stands].Name + " stands for it"}, err
}

// unlabel returns the effect that removes a label, once for its cause.
func unlabel(pr store.PullRequest, label, cause string) store.Effect {
	return store.Effect{
		Cause: fmt.Sprintf("unlabel:%s#%d:%s:%s", pr.Repo, pr.Number, label, cause), Kind: store.EffectRemoveLabel,
		Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Content: label,
	}
}

// request returns what all requests from a pull request have in common. The actor's permission is asked from GitHub now.
func (d *Service) request(ctx context.Context, door policy.Source, pr store.PullRequest, by actor) (policy.Request, error) {
	said, err := d.standing(ctx, pr, by)
	if err != nil {
		return policy.Request{}, err
	}
	return d.requestOf(ctx, door, pr, by, said)
}

// requestOf is request with GitHub's answer about the person given.
func (d *Service) requestOf(ctx context.Context, door policy.Source, pr store.PullRequest, by actor, said store.SeenPermission) (policy.Request, error) {
	own := d.core.OwnershipOf(pr.Repo)
	who, err := d.onGitHub(ctx, by, door, said, pr, own.Team)
	if err != nil {
		return policy.Request{}, err
	}
	return policy.Request{
		Principal: who, Source: door, Permission: said.Permission, Bot: isBot(by.login), Takes: d.policy.Permission, Ownership: own,
		PR: &policy.PullRequest{
			Repo: pr.Repo, Number: pr.Number, Author: pr.Author, Fork: pr.Fork, Head: pr.Head, Base: pr.Base,
			Draft: pr.Draft, Association: pr.Association, Labels: pr.Labels,
		},
	}, nil
}

// isBot reports whether a login is a bot's. Apps' logins end in [bot], and no person's login can contain a bracket.
func isBot(login string) bool { return strings.HasSuffix(login, "[bot]") }

// answerLabel replies about a label, once for its cause.
func (d *Service) answerLabel(ctx context.Context, pr store.PullRequest, cause, label, words string) error {
	return d.say(ctx, pr, fmt.Sprintf("%s:%s#%d:%s", cause, pr.Repo, pr.Number, label), words)
}

// say replies on a pull request, once for its cause.
func (d *Service) say(ctx context.Context, pr store.PullRequest, cause, words string) error {
	err := d.store.SaveReply(ctx, store.Reply{Cause: cause, Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Body: words})
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func refusedNote(profile string, v policy.Verdict) string {
	var why []string
	for _, check := range v.Refusals() {
		why = append(why, check.Message)
	}
	return "refused " + profile + ": " + strings.Join(why, " ")
}

func principalID(login string) string { return "github:" + login }
