package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func (s *Service) statusByComment(ctx context.Context, c command) (reply, note string, err error) {
	rows, _, err := s.store.List(ctx, store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Live: true})
	if err != nil {
		return "", "", fmt.Errorf("list clusters: %w", err)
	}
	if len(rows) == 0 {
		if rows, err = s.lastGone(ctx, c); err != nil {
			return "", "", err
		}
	}
	if len(rows) == 0 && c.Profile != "" {
		return "", "", s.noClusterError(c)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the clock: %w", err)
	}
	cards := make([]lifecycle.Card, 0, len(rows))
	for _, row := range rows {
		cards = append(cards, row.Card)
	}
	return chatops.StatusReply(c.event.Author, cards, chatops.Links{UI: s.ui}, now), "status of " + messages.Clusters(len(rows)), nil
}

// explainByComment says why a cluster is in its state, and when and why it ends. The cluster's comment has what can be done.
func (s *Service) explainByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	found, err := s.core.ExplainRow(ctx, row)
	if err != nil {
		return "", "", err
	}
	return chatops.Said(found.Markdown(), c.event.Author), "explained " + row.Name, nil
}

func (s *Service) showStatus(ctx context.Context, c command, row clusters.Row) (reply, note string, err error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the clock: %w", err)
	}
	return chatops.Exists(c.event.Author, row.Card, chatops.Links{UI: s.ui}, now), row.Name + " is there already", nil
}

func (s *Service) extendByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	return s.extendCluster(ctx, c, row)
}

// extendCluster extends a cluster as the command says, once, and replies.
func (s *Service) extendCluster(ctx context.Context, c command, row clusters.Row) (reply, note string, err error) {
	origin := c.onceWith(lifecycle.Reason{}, func(out clusters.Outcome) string {
		return messages.Extended(c.event.Author, row.Card, out.Before, out.After, out.Capped, out.Warning)
	})
	_, err = s.core.Extend(ctx, c.request.Principal, row.ID, app.Span{For: c.TTL}, origin)
	return "", "extended " + row.Name, err
}

func (s *Service) destroyByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := s.findCluster(ctx, c)
	if err != nil {
		return "", "", err
	}
	return s.destroyCluster(ctx, c, row)
}

// destroyCluster starts a cluster's teardown, once, and replies.
func (s *Service) destroyCluster(ctx context.Context, c command, row clusters.Row) (reply, note string, err error) {
	why := messages.AskedFor(c.event.Author, c.describeOrigin(), c.Reason)
	_, _, err = s.core.Destroy(ctx, c.request.Principal, row.ID, c.onceWith(why, func(out clusters.Outcome) string {
		if out.Already {
			return fmt.Sprintf("@%s, `%s` is already being destroyed: %s. Its comment says when nothing is left.", c.event.Author, row.Card.Name, chatops.Code(row.Card.DesiredWhy.String()))
		}
		return fmt.Sprintf("@%s, `%s` is being destroyed (job `%s`). Its comment says when nothing is left.", c.event.Author, row.Name, out.Job)
	}))
	switch {
	case err != nil:
		return "", "", err
	case app.IsGone(row):
		return messages.DestroyedAlready(c.event.Author, row.Card), "gone already", nil
	case row.Desired != lifecycle.Present:
		return "", "already going", nil
	}
	return "", "destroying " + row.Name, nil
}

// onceWith returns the origin of a command whose reply is saved with the change, so that a comment that is processed twice changes
// nothing the second time.
func (c command) onceWith(why lifecycle.Reason, reply func(clusters.Outcome) string) app.Origin {
	origin := c.originWith(why)
	origin.Reply = &clusters.ReplyOnce{Cause: c.cause, Build: func(out clusters.Outcome) clusters.Reply { return c.replyWith(reply(out)) }}
	return origin
}

// originWith returns who asks by a command, from where and why.
func (c command) originWith(why lifecycle.Reason) app.Origin {
	return app.OriginOf(policy.SourceComment, why, &c.request)
}

// describeOrigin returns as text how the command was given.
func (c command) describeOrigin() string {
	if c.by == "" {
		return messages.ByComment
	}
	return c.by
}

// findCluster finds the cluster that a command means: the live one (see liveOne), else the newest released one, so that its end can
// still be read.
func (s *Service) findCluster(ctx context.Context, c command) (clusters.Row, error) {
	row, err := s.liveOne(ctx, c)
	if app.KindOf(err) != app.NotFound {
		return row, err
	}
	gone, problem := s.lastGone(ctx, c)
	switch {
	case problem != nil:
		return clusters.Row{}, problem
	case len(gone) == 0:
		return clusters.Row{}, err
	}
	return gone[0], nil
}

// lastGone returns the pull request's newest cluster, of the command's profile if it names one. It is used if none is live; a
// pull request that never had one gives none.
func (s *Service) lastGone(ctx context.Context, c command) ([]clusters.Row, error) {
	rows, _, err := s.store.List(ctx, store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("look for the last cluster of %s#%d: %w", c.pr.Repo, c.pr.Number, err)
	}
	return rows, nil
}

// liveOne finds the newest live cluster of the named profile, or the only live one.
func (s *Service) liveOne(ctx context.Context, c command) (clusters.Row, error) {
	filter := store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Live: true, Limit: 500}
	rows, _, err := s.store.List(ctx, filter)
	if err != nil {
		return clusters.Row{}, fmt.Errorf("list clusters: %w", err)
	}
	if present := slices.DeleteFunc(slices.Clone(rows), isGoing); len(present) > 0 {
		rows = present
	} else if len(rows) > 1 {
		rows = rows[:1] // all are going; people mean the newest
	}
	switch len(rows) {
	case 0:
		return clusters.Row{}, s.noClusterError(c)
	case 1:
		return rows[0], nil
	}
	return clusters.Row{}, s.askWhich(c, rows)
}

// askWhich returns an error that asks which of several clusters the command means.
func (s *Service) askWhich(c command, rows []clusters.Row) error {
	names := make([]string, 0, len(rows))
	for _, row := range rows {
		names = append(names, row.Profile)
	}
	return failTo(app.Invalid, sayWhichCluster(c.event.Author, c.Command, names))
}

// noClusterError returns an error that says that the pull request has no cluster, or none of the command's profile.
func (s *Service) noClusterError(c command) error {
	return failTo(app.NotFound, sayNoClusterHere(c.event.Author, c.Profile, s.core.ProfileNames()))
}

func isGoing(r clusters.Row) bool { return r.Desired != lifecycle.Present }

// sayWhichCluster asks a commenter which of a pull request's clusters a command means. Its line is repeated for each profile, with the
// other arguments, unless it is too long or cannot be shown as code.
func sayWhichCluster(actor string, c chatops.Command, profiles []string) string {
	typed := chatops.Prefix + " " + string(c.Verb)
	if c.Line != "" && len(c.Line) <= 200 && !strings.Contains(c.Line, "`") {
		typed = c.Line // for example /ocp extend 4h aws-standard
	}
	lines := make([]string, 0, len(profiles))
	for _, profile := range profiles {
		lines = append(lines, "`"+typed+" "+profile+"`")
	}
	return fmt.Sprintf("@%s, this pull request has %s. Which one? %s", actor, messages.Clusters(len(profiles)), strings.Join(lines, " or "))
}

// sayNoClusterHere tells a commenter that the pull request has no cluster, or none of the profile; known are the profiles' names.
func sayNoClusterHere(actor, profile string, known []string) string {
	if profile == "" {
		return fmt.Sprintf("@%s, this pull request has no cluster. `/ocp create` creates one.", actor)
	}
	hint := ""
	if near, ok := closest.Match(profile, known); ok && near != profile {
		hint = fmt.Sprintf(" Did you mean `%s`?", near)
	}
	return fmt.Sprintf("@%s, this pull request has no cluster of profile %s.%s `/ocp status` shows what it has.", actor, chatops.Code(profile), hint)
}
