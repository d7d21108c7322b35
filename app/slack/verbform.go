package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
)

// The fields of the small forms that ask for what a button's command needs.
const (
	fieldReason = "reason"
	fieldFor    = "ttl"
	fieldPerson = "person"
	fieldTeam   = "team"
)

// pressMetadata comes back with such a form: the button that opened it, and where.
type pressMetadata struct {
	Press   blocks.Press `json:"press"`
	Channel string       `json:"channel,omitempty"`
}

// callbacks are the forms by verb.
var callbacks = map[chatops.Verb]string{
	chatops.VerbRefuse: blocks.FormReason, chatops.VerbExtend: blocks.FormExtend, chatops.VerbShare: blocks.FormShare, chatops.VerbTransfer: blocks.FormTransfer,
}

// verbForm returns, as an error, the form that asks for what a button's command needs. instead is for whoever has no window for it.
func verbForm(t task, press blocks.Press, cluster, instead string) error {
	meta, err := json.Marshal(pressMetadata{press, t.request.Channel})
	if err != nil {
		return fmt.Errorf("encode the button: %w", err)
	}
	title, submit := messages.VerbFormTitles(press.Verb)
	view := blocks.FormView{
		Callback: callbacks[press.Verb], Title: title, Submit: submit, Fields: verbFields(press.Verb),
		Fixed: []blocks.Fact{{Name: messages.ClusterLabel, Value: cluster}}, Metadata: string(meta),
	}
	return inWindow{blocks.Form(view), blocks.Answer(instead)}
}

func verbFields(verb chatops.Verb) []blocks.Field {
	switch verb {
	case chatops.VerbRefuse:
		return []blocks.Field{{Name: fieldReason, Label: messages.ReasonLabel, Hint: messages.ReasonHint, Kind: blocks.FieldArea, Required: true}}
	case chatops.VerbExtend:
		return []blocks.Field{{Name: fieldFor, Label: messages.ForLabel, Hint: messages.ForHint, Kind: blocks.FieldText, Value: "4h", Required: true}}
	}
	return []blocks.Field{
		{Name: fieldPerson, Label: messages.PersonLabel, Hint: messages.PersonHint(verb), Kind: blocks.FieldPerson},
		{Name: fieldTeam, Label: messages.TeamLabel, Hint: messages.TeamHint(verb), Kind: blocks.FieldText},
	}
}

// submitVerb does what a submitted form of a button asks for. problems are what is wrong, by field: nothing was done. An empty answer
// was saved with the change.
func (s *Service) submitVerb(ctx context.Context, r inbound.Request, p policy.Principal) (answer slack.Message, problems map[string]string, err error) {
	var meta pressMetadata
	if err := json.Unmarshal([]byte(r.View.Metadata), &meta); err != nil || callbacks[meta.Press.Verb] != r.View.Callback {
		return blocks.Answer(messages.UnknownButton), nil, nil
	}
	value := func(name string) string { return strings.TrimSpace(r.View.Values[name][name]) }
	c := chatops.SlackCommand{Cluster: meta.Press.Cluster}
	c.Verb = meta.Press.Verb
	switch c.Verb {
	case chatops.VerbRefuse:
		c.Ref, c.Reason = meta.Press.Approval, value(fieldReason)
		if c.Reason == "" {
			return answer, map[string]string{fieldReason: messages.ReasonHint}, nil
		}
	case chatops.VerbExtend:
		parsed, _ := chatops.ParseSlack("extend " + c.Cluster + " " + value(fieldFor))
		if parsed == nil || parsed.TTL <= 0 {
			return answer, map[string]string{fieldFor: messages.ForHint}, nil
		}
		c.TTL = parsed.TTL
	default:
		c.Person, c.Team = value(fieldPerson), value(fieldTeam)
		if (c.Person == "") == (c.Team == "") {
			return answer, map[string]string{fieldPerson: messages.OneOfBoth}, nil
		}
	}
	notice, err := s.noticeOf(ctx, meta.Press)
	if err != nil {
		return answer, nil, err
	}
	r.Channel = meta.Channel
	answer, err = s.run(ctx, task{request: r, by: p, SlackCommand: c, notice: notice})
	return answer, nil, err
}
