package pulls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// logsByComment replies with the end of the newest job's log, which is redacted, in a collapsed section.
func (s *Service) logsByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	log, err := s.core.Log(ctx, c.request.Principal, row.ID, "", c.Lines)
	if err != nil {
		return "", "", err
	}
	return chatops.LogReply(c.event.Author, row.Card, log.Lines, c.siblings, chatops.Links{UI: s.ui}), fmt.Sprintf("%d lines of %s", len(log.Lines), row.Name), nil
}

// accessByComment replies with a one-time link to a kubeconfig or an account of the console, which works only for the signed-in owner of the author's account: others who
// read the comment gain nothing.
func (s *Service) accessByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	console := c.Verb == chatops.VerbConsole
	p, linked, err := s.core.LinkedOwner(ctx, c.event.actorOf().principalID())
	if err != nil {
		return "", "", err
	}
	if !linked {
		return s.linkToAsked(ctx, c, row, credentials.Want{Role: c.Role, Console: console})
	}
	link, err := s.credentials.AccessLink(ctx, p, row.ID, credentials.Want{Role: c.Role, Console: console}, c.originWith(lifecycle.Noted(c.Line)))
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("@%s, open %s and sign in to get your own %s of `%s`. The link works once, until %s, and only for you.",
		c.event.Author, link.URL.Reveal(), messages.AccessKind(console), row.Name, chatops.Time(link.ExpiresAt)), messages.AccessKind(console) + " link of " + row.Name, nil
}

// linkToAsked replies with the one link of somebody whose account is linked to nobody: it also links the account.
func (s *Service) linkToAsked(ctx context.Context, c command, row clusters.Row, want credentials.Want) (reply, note string, err error) {
	by := c.event.actorOf()
	link, err := s.credentials.LinkToAsked(ctx, by.principalID(), by.numberText(), row, want, clusters.Origin{Actor: by.principalID(), Source: string(policy.SourceComment), Why: c.Line})
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("@%[1]s, open %[2]s and sign in to link the GitHub account `%[1]s` to you and get your own %[5]s of `%[3]s`. The link works once, until %[4]s. Nobody else should use it.",
		c.event.Author, link.URL.Reveal(), row.Name, chatops.Time(link.ExpiresAt), messages.AccessKind(want.Console)), messages.AccessKind(want.Console) + " link of " + row.Name, nil
}

func (s *Service) scaleByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	_, job, err := s.core.Scale(ctx, c.request.Principal, row.ID, c.Replicas, c.originWith(lifecycle.Noted(c.Line)))
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("@%s, `%s` is being scaled to %d workers (job `%s`). Its comment says when it is done.", c.event.Author, row.Name, c.Replicas, job), "scaling " + row.Name, nil
}

func (s *Service) sleepByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	_, _, err = s.core.Sleep(ctx, c.request.Principal, row.ID, app.Span{For: c.TTL}, c.onceWith(cmp.Or(lifecycle.Noted(c.Reason), messages.AskedFor(c.event.Author, messages.ByComment, "")), func(out clusters.Outcome) string {
		return chatops.Said("@"+c.event.Author+", "+messages.FallingAsleep(row.Card, out.Job), c.event.Author)
	}))
	return "", "sleep of " + row.Name, err
}

func (s *Service) wakeByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	_, _, err = s.core.Wake(ctx, c.request.Principal, row.ID, c.onceWith(messages.AskedFor(c.event.Author, messages.ByComment, ""), func(out clusters.Outcome) string {
		return chatops.Said("@"+c.event.Author+", "+messages.WakingUp(row.Card, out.Job), c.event.Author)
	}))
	return "", "waking of " + row.Name, err
}

func (s *Service) holdByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	why := cmp.Or(lifecycle.Noted(c.Reason), messages.AskedFor(c.event.Author, messages.ByComment, ""))
	change, err := s.core.Hold(ctx, c.request.Principal, row.ID, app.Span{For: c.TTL, Tonight: c.Tonight}, c.originWith(why))
	if err != nil {
		return "", "", err
	}
	return chatops.Said(fmt.Sprintf("@%s, `%s` is held. %s", c.event.Author, row.Name, change.Message), c.event.Author), "held " + row.Name, nil
}

func (s *Service) shareByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	share, named := app.ShareWith(app.ShareTeam, c.Team, c.Role), c.Team
	if c.With != "" {
		share.Kind = app.SharePrincipal
		if named, share.Grantee, err = s.principalOf(ctx, c); err != nil {
			return "", "", err
		}
	}
	if _, err := s.core.Share(ctx, c.request.Principal, row.ID, share, c.originWith(lifecycle.Noted(c.Line))); err != nil {
		var said *app.Error
		if errors.As(err, &said) && len(said.Fields) > 0 { // its fields are those of another entry point
			wrong := messages.Problem{Detail: said.Fields[0].Detail, Accept: said.Fields[0].Accept}
			return "", "", failTo(said.Kind, messages.CannotShareSo(c.event.Author, row.Name, wrong))
		}
		return "", "", err
	}
	return messages.Shared(c.event.Author, row.Name, share.Kind, named, c.Role), "shared " + row.Name, nil
}

// principalOf returns whom a word of a comment means: a principal's id, or a GitHub login, which stands for its linked owner.
// named is the word's own id: readers of a pull request are not told who owns an account elsewhere.
func (s *Service) principalOf(ctx context.Context, c command) (named, principal string, err error) {
	word := strings.TrimPrefix(c.With, "@")
	if !strings.Contains(word, ":") {
		word = string(profiles.SourceGitHub) + ":" + word
	}
	principal, problem, err := s.core.PrincipalNamed(ctx, c.pr.Installation, word)
	switch {
	case err != nil:
		return "", "", err
	case problem != nil:
		return "", "", failTo(app.Invalid, messages.CannotShareSo(c.event.Author, c.Profile, *problem))
	}
	account, err := s.store.People.AccountOf(ctx, principal)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return word, principal, nil
	case err != nil:
		return "", "", fmt.Errorf("look for the owner of %s: %w", word, err)
	}
	return word, account.Principal, nil
}

// retryByComment asks again for a cluster that failed or ended, or moves the next try of a stuck teardown to now.
func (s *Service) retryByComment(ctx context.Context, c command) (reply, note string, err error) {
	rows, err := s.listNewest(ctx, c.pr.Repo, c.pr.Number)
	if err != nil {
		return "", "", err
	}
	var meant, all []clusters.Row
	for _, row := range rows {
		if c.Profile == "" || row.Profile == c.Profile {
			all = append(all, row)
			if !isLively(row) {
				meant = append(meant, row)
			}
		}
	}
	switch {
	case len(all) == 0:
		return "", "", s.noClusterError(c)
	case len(meant) == 0:
		return "", "", checkRetryable(c, all[0])
	case len(meant) > 1:
		return "", "", s.askWhich(c, meant)
	}
	return s.retryCluster(ctx, c, meant[0])
}

// isLively reports whether a cluster exists or is on its way.
func isLively(row clusters.Row) bool { return row.Desired == lifecycle.Present }

func checkRetryable(c command, row clusters.Row) error {
	return failTo(app.Conflict, fmt.Sprintf("@%s, there is nothing to retry: `/ocp status %s` shows the state of `%s`. To replace it, use `/ocp destroy %s` and then `/ocp create %s`.",
		c.event.Author, row.Card.Profile, row.Card.Name, row.Card.Profile, row.Card.Profile))
}

// retryCluster retries the teardown if that is stuck, else creates a cluster of the next generation on behalf of whoever asks.
func (s *Service) retryCluster(ctx context.Context, c command, row clusters.Row) (reply, note string, err error) {
	switch {
	case isLively(row):
		return "", "", checkRetryable(c, row)
	case row.Phase == lifecycle.DestroyBlocked || row.Phase == lifecycle.Abandoned:
		_, err := s.core.RetryTeardown(ctx, c.request.Principal, row.ID, c.onceWith(messages.AskedFor(c.event.Author, c.describeOrigin(), ""), func(clusters.Outcome) string {
			return fmt.Sprintf("@%s, the teardown of `%s` is tried again now. Its comment shows the progress.", c.event.Author, row.Name)
		}))
		return "", "retry of " + row.Name, err
	}
	w, err := s.requestAlike(ctx, c.request, c.pr, row)
	if err != nil {
		return "", "", err
	}
	return s.createOnce(ctx, c, w)
}

// requestAlike returns a request for a cluster like an earlier one: with the same choice about the time outside working hours, and with the same
// lifetime unless a label sets another.
func (s *Service) requestAlike(ctx context.Context, r policy.Request, pr pullrequests.PullRequest, row clusters.Row) (app.ClusterRequest, error) {
	w, err := s.toClusterRequest(ctx, r, pr)
	if err != nil {
		return app.ClusterRequest{}, err
	}
	alike := s.core.Alike(row)
	w.Request.Profile, w.Request.Region, w.Request.Version, w.Request.OffHours = alike.Profile, alike.Region, alike.Version, alike.OffhoursOptIn
	w.Request.TTL = cmp.Or(ttlFromLabels(pr.Labels), alike.TTL)
	if row.Team != r.Ownership.Team {
		w.Request.Team = row.Team
	}
	return w, nil
}

func (s *Service) refreshByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	_, _, err = s.core.Refresh(ctx, c.request.Principal, row.ID, c.onceWith(lifecycle.Noted(c.Line), func(out clusters.Outcome) string {
		return fmt.Sprintf("@%s, the add-ons of `%s` are being applied again: %s (job `%s`). Its comment shows the result.",
			c.event.Author, row.Card.Name, strings.Join(row.Card.Addons, ", "), out.Job)
	}))
	return "", "refreshing " + row.Name, err
}
