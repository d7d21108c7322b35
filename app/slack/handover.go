package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// offerCluster offers a cluster to a person, who has to accept it. The offer itself is a direct message to them.
func (s *Service) offerCluster(ctx context.Context, t task, row clusters.Row) (slack.Message, error) {
	found, err := s.findColleague(ctx, t.Person)
	if err != nil {
		return slack.Message{}, err
	}
	origin := t.originWith(s.reasonOf(t))
	origin.Cause = causeOf(t.request)
	to := people.Grantee{Account: accountOf(t.request.Workspace, t.Person), Name: found.Name}
	offered, err := s.core.OfferHandover(ctx, t.by, row.ID, to, origin)
	if err != nil {
		return slack.Message{}, err
	}
	return blocks.Answer(chatops.Said(fmt.Sprintf("%s is offered to %s, who can accept it until %s. It stays yours until then.", row.Name, offered.ToName, chatops.Time(offered.ExpiresAt)), "")), nil
}

// answerOffer accepts or declines a cluster that was offered. Whoever could take it for several of their teams is asked which.
func (s *Service) answerOffer(ctx context.Context, t task) (slack.Message, error) {
	accept := t.Verb == chatops.VerbAcceptHandover
	change, err := s.core.AnswerHandover(ctx, t.by, t.Ref, accept, t.originWith(s.reasonOf(t)))
	var said *app.Error
	if errors.As(err, &said) && accept {
		if i := slices.IndexFunc(said.Fields, func(f app.Field) bool { return f.Name == "team" }); i >= 0 {
			return s.whichTeam(t, said.Message, said.Fields[i].Accept), nil
		}
	}
	if err != nil {
		return slack.Message{}, err
	}
	return blocks.Answer(chatops.Said(change.Message, "")), s.updateNotice(ctx, t, sayHandoverNote(accept))
}

// whichTeam asks to which of their teams the person takes a cluster.
func (s *Service) whichTeam(t task, question string, teams []string) slack.Message {
	options := make([]blocks.Option, 0, len(teams))
	for _, team := range teams {
		options = append(options, blocks.Option{Value: t.Ref + "/" + team, Text: team})
	}
	return blocks.Pick(question, options, blocks.Press{Verb: t.Verb, Notice: t.notice})
}

// sayHandoverNote says in an offer what its button did.
func sayHandoverNote(accepted bool) string {
	if accepted {
		return "Accepted."
	}
	return "Declined."
}
