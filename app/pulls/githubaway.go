package pulls

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// rememberedFor is how long a permission that GitHub reported counts for ending a cluster while GitHub does not answer.
const rememberedFor = time.Hour

// askStanding asks GitHub for a person's permission in a repository and for their teams among the catalogue's, and stores the
// answer.
func (s *Service) askStanding(ctx context.Context, pr pullrequests.PullRequest, by actor) (pullrequests.SeenPermission, error) {
	said := pullrequests.SeenPermission{Installation: pr.Installation, Repo: pr.Repo, Account: by.id, Login: by.login}
	var err error
	if said.Permission, by, err = s.askPermission(ctx, pr.Installation, pr.Repo, by); err != nil {
		return said, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	said.Login = by.login
	if named := profiles.GitHubTeams(s.catalogue().Identities); len(named) > 0 {
		if said.Teams, err = s.github.Teams(ctx, pr.Installation, by.login, named); err != nil {
			return said, fmt.Errorf("ask for the teams of %s: %w: %w", by.login, errNoAnswer, err)
		}
	}
	return said, s.store.PullRequests.SeePermission(ctx, said)
}

// isUnanswered reports whether GitHub gave no usable answer: it is down, or a rate limit is used up.
func isUnanswered(err error) bool {
	return errors.Is(err, errNoAnswer) && !app.IsRefused(err)
}

// endUnanswered returns the error with which a comment waits for GitHub. First it sets the end of each cluster that the comment
// asks to destroy, if the author's permission was seen in the last hour.
func (s *Service) endUnanswered(ctx context.Context, e CommentEvent, err error) error {
	if !isUnanswered(err) {
		return err
	}
	return errors.Join(err, s.EndEarly(ctx, e))
}

// EndEarly sets the end of each cluster that a comment asks to destroy, before the comment is processed: an earlier delivery of
// the pull request, or GitHub itself, delays it. It posts no answer; the comment is processed in its turn, and the cluster is
// going away by then. While GitHub does not answer, the permission seen in the last hour counts.
func (s *Service) EndEarly(ctx context.Context, e CommentEvent) error {
	if e.Action != "created" || e.Bot || e.At.IsZero() {
		return nil
	}
	for i, line := range chatops.Parse(e.Body) {
		if line.Command == nil || line.Command.Verb != chatops.VerbDestroy {
			continue
		}
		pr, err := s.store.PullRequests.PullRequest(ctx, e.Repo, e.Number)
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read pull request: %w", err)
		}
		pr.Installation = e.Installation
		c := command{event: e, pr: pr, cause: causeOfLine(e, i, line.Line), Command: line.Command.For(s.core.ProfileNames())}
		row, err := s.findCluster(ctx, c)
		switch {
		case app.KindOf(err) != "": // a problem is answered later, when the comment is processed
			continue
		case err != nil:
			return err
		case !row.AcceptedAt.Before(e.At): // the comment cannot mean it
			continue
		}
		if err := s.endByMemory(ctx, c, row); err != nil {
			return err
		}
	}
	return nil
}

// endByMemory sets the end of a cluster if the person may destroy it: by GitHub's answer, or by the one of the last hour if
// GitHub gives none. It does nothing if they may not, or if no answer is stored.
func (s *Service) endByMemory(ctx context.Context, c command, row clusters.Row) error {
	if row.Desired != lifecycle.Present {
		return nil
	}
	by := c.event.actorOf()
	said, err := s.askStanding(ctx, c.pr, by)
	why := messages.AskedFor(by.login, c.describeOrigin(), c.Reason)
	if isUnanswered(err) {
		said, err = s.store.PullRequests.PermissionSeen(ctx, c.pr.Installation, c.pr.Repo, by.id, rememberedFor)
		why = lifecycle.Noted(why.String() + fmt.Sprintf("; GitHub gave no answer, and their permission %s was seen at %s", said.Permission, chatops.Time(said.SeenAt)))
	}
	if errors.Is(err, db.ErrNotFound) || errors.Is(err, app.ErrRefused) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.request, err = s.requestOf(ctx, policy.SourceComment, c.pr, by, said); err != nil {
		return err
	}
	_, _, err = s.core.Destroy(ctx, c.request.Principal, row.ID, c.originWith(why))
	switch {
	case app.KindOf(err) != "": // it is answered when GitHub is back
		return nil
	case err != nil:
		return fmt.Errorf("destroy %s: %w", row.ID, err)
	}
	s.log.InfoContext(ctx, "end set before GitHub answered", "cluster", row.ID, "principal", c.request.Principal.ID, "why", why.String())
	return nil
}
