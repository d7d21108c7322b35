package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// syncLabel ensures the cluster a label asks for.
func (d *Desk) syncLabel(ctx context.Context, e PullRequestEvent, label string) ([]string, error) {
	name, ours := strings.CutPrefix(label, chatops.LabelPrefix)
	if !ours {
		return nil, nil
	}
	profile, known := d.book().Get(name)
	if !known {
		reply := store.Reply{
			Cause:        fmt.Sprintf("label:%s#%d:%s", e.PR.Repo, e.PR.Number, label),
			Installation: e.PR.Installation, Repo: e.PR.Repo, Number: e.PR.Number,
			Body: chatops.UnknownLabel(label, d.profiles()),
		}
		if err := d.store.SaveReply(ctx, reply); err != nil {
			return nil, fmt.Errorf("answer label %s: %w", label, err)
		}
		return []string{"no profile is called " + name}, nil
	}
	newest, err := d.store.ClusterForPR(ctx, e.PR.Repo, e.PR.Number, profile.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("look for the cluster of %s: %w", label, err)
	}
	if !wanted(newest, e, label) {
		return nil, nil
	}
	if !deed(e, label) && newest.ID == "" {
		refused, err := d.store.Refused(ctx, string(policy.DoorLabel), e.PR.Repo, e.PR.Number, profile.Name)
		if err != nil || refused {
			return nil, err
		}
	}
	note, err := d.createForLabel(ctx, e, profile.Name, newest.Generation+1)
	if err != nil {
		return nil, err
	}
	return []string{note}, nil
}

// deed says whether the event is somebody's act on this label. After a refusal only a deed asks again: else the next push
// of a person who may would create, in that person's name, what a person who may not had asked for.
func deed(e PullRequestEvent, label string) bool {
	return e.Action == ActionReopened || e.Action == ActionOpened || e.Action == ActionLabeled && e.Label == label
}

// wanted says whether a standing label asks for one more cluster. A cluster that ended by its time or by command stays
// ended until somebody labels or reopens again; one that ended because the pull request was closed or the label was
// gone comes back as soon as that is seen to be undone, even if the event that told so was lost.
func wanted(newest store.Row, e PullRequestEvent, label string) bool {
	switch {
	case newest.ID == "":
		return true
	case newest.Wish == lifecycle.Present:
		return false
	case deed(e, label):
		return true
	}
	first := newest.Ends.DestroyAt()
	undone := first.Equal(newest.Ends.PRClosed) || first.Equal(newest.Ends.LabelRemoved)
	return newest.Teardown == lifecycle.JobJanitorDestroy && undone
}

func (d *Desk) createForLabel(ctx context.Context, e PullRequestEvent, profile string, generation int) (string, error) {
	key := fmt.Sprintf("label:%s#%d:%s:%s:%d", e.PR.Repo, e.PR.Number, profile, e.Action, e.PR.UpdatedAt.Unix())
	request, err := d.request(ctx, policy.DoorLabel, e.PR, actor{e.Actor, e.ActorID})
	if err != nil {
		return "", err
	}
	request.Profile, request.Generation = profile, generation
	made, err := d.create(ctx, wish{request: request, pr: e.PR, actor: e.Actor, key: key, cause: key})
	switch {
	case KindOf(err) == Conflict:
		return d.sayConflict(ctx, e.PR, key, err)
	case err != nil:
		return "", err
	case made.Row.ID == "":
		return refusedNote(profile, made.Verdict), nil
	}
	return fmt.Sprintf("accepted %s as %s", profile, made.Row.ID), nil
}

// request is what every wish from a pull request has in common; the actor's permission is asked now, not believed.
func (d *Desk) request(ctx context.Context, door policy.Door, pr store.PullRequest, by actor) (policy.Request, error) {
	permission, err := d.github.Permission(ctx, pr.Installation, pr.Repo, by.login)
	if err != nil {
		return policy.Request{}, fmt.Errorf("ask permission of %s on %s: %w", by.login, pr.Repo, err)
	}
	own := d.ownership(pr.Repo)
	who, err := d.onGitHub(ctx, by, door, permission, pr.Repo, own.Team)
	if err != nil {
		return policy.Request{}, err
	}
	return policy.Request{
		Principal: who, Door: door, Permission: permission, Ownership: own,
		PR: &policy.PullRequest{
			Repo: pr.Repo, Number: pr.Number, Author: pr.Author, Fork: pr.Fork, Head: pr.Head, Base: pr.Base,
			Labels: pr.Labels,
		},
	}, nil
}

func (d *Desk) sayConflict(ctx context.Context, pr store.PullRequest, cause string, conflict error) (string, error) {
	err := d.store.SaveReply(ctx, store.Reply{
		Cause: cause, Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Body: conflict.Error(),
	})
	if err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	return conflict.Error(), nil
}

func refusedNote(profile string, v policy.Verdict) string {
	var why []string
	for _, check := range v.Refusals() {
		why = append(why, check.Words)
	}
	return "refused " + profile + ": " + strings.Join(why, " ")
}

func principalID(login string) string { return "github:" + login }
