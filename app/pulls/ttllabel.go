package pulls

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// ttlFromLabels returns the longest lifetime that a pull request's labels ask for; 0: none does.
func ttlFromLabels(labels []string) (ttl time.Duration) {
	for _, label := range labels {
		if d, ok := chatops.ParseTTLLabel(label); ok {
			ttl = max(ttl, d)
		}
	}
	return ttl
}

// extendClusters extends the pull request's clusters to the lifetime in a label that was just added, counted from their
// acceptance. It never shortens one.
func (s *Service) extendClusters(ctx context.Context, e PullRequestEvent, a extendClusters) (note string, err error) {
	request, err := s.newRequest(ctx, policy.SourceLabel, e.PR, e.actorOf())
	if err != nil {
		return "", err
	}
	if s.isOverlooked(e, request) {
		return noteWithoutReply(e, a.label), nil
	}
	if verdict := policy.Authorize(request, policy.ActExtend, nil); !verdict.Allowed {
		return s.removeLabel(ctx, e, removeLabel{a.label, "ttl:" + e.at, refusalNote(a.label, verdict), chatops.Refusal(e.Actor, verdict)})
	}
	var notes []string
	for _, row := range a.rows {
		said, err := s.lengthenOne(ctx, request, row, s.policy.Scale(a.ttl), e, a.label)
		if refused := app.Unaffordable(err); refused != nil {
			return s.rejectLabel(ctx, e, rejectLabel{a.label, refused.Message, addressTo(e.Actor, refused.Message)})
		}
		if err != nil {
			return "", err
		}
		notes = append(notes, said...)
	}
	return strings.Join(notes, "; "), nil
}

func (s *Service) lengthenOne(ctx context.Context, r policy.Request, row clusters.Row, ttl time.Duration, e PullRequestEvent, label string) ([]string, error) {
	until := row.AcceptedAt.Add(ttl)
	switch {
	case !until.After(row.Ends.TTL):
		return nil, nil
	case row.Ends.TTL.Equal(row.Ends.Max):
		note := fmt.Sprintf("%s ends at its maximum already", row.Name)
		return []string{note}, s.answerLabel(ctx, e.PR, "maximum:"+e.at+":"+row.ID, label, messages.LifetimeAtMaximum(e.Actor, label, row.Profile, row.Name, row.Ends.TTL))
	}
	change, err := s.core.Extend(ctx, r.Principal, row.ID, app.Span{Until: until}, app.Origin{
		Source: r.Source, Why: "the label " + label, Version: row.Version, Repository: &r, // counted from this end
	})
	switch app.KindOf(err) {
	case app.Denied: // it belongs to another team
		return nil, nil
	case app.Stale:
		return nil, fmt.Errorf("extend %s: %s", row.ID, err.Error()) // not an answer for people: it is tried again
	}
	if err != nil {
		return nil, err
	}
	after := change.Row.Ends.TTL
	notes := []string{fmt.Sprintf("%s ends %s by its label", row.Name, after.UTC().Format(time.RFC3339))}
	if !change.Capped {
		return notes, nil
	}
	return notes, s.answerLabel(ctx, e.PR, "maximum:"+e.at+":"+row.ID, label, messages.LifetimeAtMaximum(e.Actor, label, row.Profile, row.Name, after))
}
