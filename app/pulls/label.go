package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// quiet is how long a pull request must be unchanged before a label of unknown origin counts as one that no event will explain.
const quiet = 10 * time.Minute

// createForLabel requests a cluster on behalf of whoever added the label. The pull request is read once more from GitHub: it may
// have changed while the request waited.
func (s *Service) createForLabel(ctx context.Context, e PullRequestEvent, a requestCluster) (string, error) {
	pr, err := s.askTruth(ctx, e.PR)
	if err != nil {
		return "", err
	}
	if !pr.Open || !slices.Contains(pr.Labels, a.label) {
		return "", nil // it was removed before anything started
	}
	key := e.requestKey(pr, a.profile)
	request, err := s.newRequest(ctx, policy.SourceLabel, pr, e.actorOf())
	if err != nil {
		return "", err
	}
	if s.isOverlooked(e, request) {
		return noteWithoutReply(e, a.label), nil
	}
	w, err := s.toClusterRequest(ctx, request, pr)
	if err != nil {
		return "", err
	}
	w.Request.Profile, w.Request.Generation, w.Request.TTL = a.profile, a.generation, ttlFromLabels(pr.Labels)
	w.Actor, w.Key, w.Cause, w.AskedAt = e.Actor, key, key, pr.UpdatedAt
	w.Label, w.OnRefusal = a.label, []clusters.Effect{removeLabelEffect(pr, a.label, key)}
	made, err := s.core.CreateFrom(ctx, w)
	switch {
	case app.KindOf(err) == app.Conflict:
		if err := s.store.Outbox.SaveEffect(ctx, w.OnRefusal[0]); err != nil {
			return "", fmt.Errorf("take the label off: %w", err)
		}
		return err.Error(), s.replyOnce(ctx, pr, key, chatops.Said(err.Error(), e.Actor))
	case err != nil:
		return "", err
	case made.Row.ID == "":
		return refusalNote(a.profile, made.Verdict), nil
	}
	return fmt.Sprintf("accepted %s as %s", a.profile, made.Row.ID), s.keepNew(ctx, pr, request, made.Row)
}

// requestKey identifies an event's request for a profile: two events with the same key are one request.
func (e PullRequestEvent) requestKey(pr pullrequests.PullRequest, profile string) string {
	return fmt.Sprintf("label:%s#%d:%s:%s:%s", pr.Repo, pr.Number, profile, e.Action, e.at)
}

// holdCreated holds the cluster that this event created, if the process died before it did that.
func (s *Service) holdCreated(ctx context.Context, e PullRequestEvent, row clusters.Row) error {
	request, err := s.newRequest(ctx, policy.SourceLabel, e.PR, e.actorOf())
	if err != nil {
		return err
	}
	return s.keepNew(ctx, e.PR, request, row)
}

// rejectLabel removes a label that can never mean anything, and tells whoever added it why.
func (s *Service) rejectLabel(ctx context.Context, e PullRequestEvent, a rejectLabel) (note string, err error) {
	request, err := s.newRequest(ctx, policy.SourceLabel, e.PR, e.actorOf())
	if err != nil {
		return "", err
	}
	if s.isOverlooked(e, request) {
		return noteWithoutReply(e, a.label), nil
	}
	return s.removeLabel(ctx, e, removeLabel{a.label, "wrong:" + e.at, a.note, strings.TrimRight(a.why, "\n") + " The label was removed."})
}

// removeLabel removes a label and posts the reply.
func (s *Service) removeLabel(ctx context.Context, e PullRequestEvent, a removeLabel) (note string, err error) {
	if err := s.store.Outbox.SaveEffect(ctx, removeLabelEffect(e.PR, a.label, a.cause)); err != nil {
		return "", fmt.Errorf("take the label off: %w", err)
	}
	if a.reply == "" {
		return a.note, nil
	}
	return a.note, s.answerLabel(ctx, e.PR, a.cause, a.label, a.reply)
}

// restoreLabel puts back a label that a live cluster was requested by.
func (s *Service) restoreLabel(ctx context.Context, e PullRequestEvent, a restoreLabel) (note string, err error) {
	err = s.store.Outbox.SaveEffect(ctx, clusters.Effect{
		Cause: fmt.Sprintf("relabel:%s#%d:%s:%s", e.PR.Repo, e.PR.Number, a.label, e.at), Kind: outbox.EffectAddLabel,
		Installation: e.PR.Installation, Repo: e.PR.Repo, Number: e.PR.Number, Content: a.label,
	})
	return a.label + " comes back: " + a.row.Name + " stands for it", err
}

// removeLabelEffect returns the effect that removes a label, once for its cause.
func removeLabelEffect(pr pullrequests.PullRequest, label, cause string) clusters.Effect {
	return clusters.Effect{
		Cause: fmt.Sprintf("unlabel:%s#%d:%s:%s", pr.Repo, pr.Number, label, cause), Kind: outbox.EffectRemoveLabel,
		Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Content: label,
	}
}

// newRequest returns what all requests from a pull request have in common. The actor's permission is asked from GitHub now.
func (s *Service) newRequest(ctx context.Context, source policy.Source, pr pullrequests.PullRequest, by actor) (policy.Request, error) {
	said, err := s.askStanding(ctx, pr, by)
	if err != nil {
		return policy.Request{}, err
	}
	return s.requestOf(ctx, source, pr, by, said)
}

// requestOf is request with GitHub's answer about the person given.
func (s *Service) requestOf(ctx context.Context, source policy.Source, pr pullrequests.PullRequest, by actor, said pullrequests.SeenPermission) (policy.Request, error) {
	own := s.core.OwnershipOf(pr.Repo)
	who, err := s.onGitHub(ctx, by, said, pr, own.Team)
	if err != nil {
		return policy.Request{}, err
	}
	return policy.Request{
		Principal: who, Source: source, Permission: said.Permission, Bot: by.bot, Takes: s.policy.Permission, Ownership: own,
		PR: app.PullOf(pr),
	}, nil
}

// answerLabel replies about a label, once for its cause.
func (s *Service) answerLabel(ctx context.Context, pr pullrequests.PullRequest, cause, label, text string) error {
	return s.replyOnce(ctx, pr, fmt.Sprintf("%s:%s#%d:%s", cause, pr.Repo, pr.Number, label), text)
}

// replyOnce replies on a pull request, once for its cause.
func (s *Service) replyOnce(ctx context.Context, pr pullrequests.PullRequest, cause, text string) error {
	err := s.store.Outbox.SaveReply(ctx, clusters.Reply{Cause: cause, Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Body: text})
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func refusalNote(profile string, v policy.Verdict) string {
	var why []string
	for _, check := range v.Refusals() {
		why = append(why, check.Message)
	}
	return "refused " + profile + ": " + strings.Join(why, " ")
}
