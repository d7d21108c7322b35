package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/app"
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
	fieldPerson = "person"
	fieldTeam   = "team"
)

// pressMetadata comes back with such a form: the button that opened it, where, and what its cluster is called.
type pressMetadata struct {
	Press   blocks.Press `json:"press"`
	Channel string       `json:"channel,omitempty"`
	Name    string       `json:"name,omitempty"`
}

// callbacks are the forms by verb.
var callbacks = map[chatops.Verb]string{
	chatops.VerbRefuse: blocks.FormReason, chatops.VerbShare: blocks.FormShare, chatops.VerbTransfer: blocks.FormTransfer,
}

// verbForm returns, as an error, the form that asks for what a button's command needs. instead is for whoever has no window for it.
func verbForm(t task, press blocks.Press, cluster, instead string) error {
	return inWindow{verbView(pressMetadata{press, t.request.Channel, cluster}, nil, nil), blocks.Answer(instead)}
}

// verbView is such a form, with what was entered and what is wrong by field; what is wrong with no field has an empty name.
func verbView(meta pressMetadata, entered, wrong map[string]string) api.ModalViewRequest {
	raw, err := json.Marshal(meta)
	if err != nil {
		panic(err) // strings alone
	}
	title, submit := messages.VerbFormTitles(meta.Press.Verb)
	view := blocks.FormView{
		Callback: callbacks[meta.Press.Verb], Title: title, Submit: submit, Fields: verbFields(meta.Press.Verb),
		Preview: []string{"Cluster " + chatops.Code(meta.Name)}, Metadata: string(raw),
	}
	for i, f := range view.Fields {
		view.Fields[i].Value = entered[f.Name]
		if problem := wrong[f.Name]; problem != "" {
			view.Fields[i].Problems = []string{problem}
		}
	}
	if len(wrong) > 0 {
		view.Problems = []string{strings.TrimSpace(messages.NothingChanged + " " + wrong[""])}
	}
	return blocks.Form(view)
}

func verbFields(verb chatops.Verb) []blocks.Field {
	if verb == chatops.VerbRefuse {
		return []blocks.Field{{Name: fieldReason, Label: "Reason", Hint: "The person who asked is told the reason.", Kind: blocks.FieldArea, Required: true}}
	}
	return []blocks.Field{
		{Name: fieldPerson, Label: "Person", Hint: sayPersonHint(verb), Kind: blocks.FieldPerson},
		{Name: fieldTeam, Label: "Team", Hint: sayTeamHint(verb), Kind: blocks.FieldText},
	}
}

// readEntered returns what is entered in such a form, by field.
func readEntered(v inbound.View) map[string]string {
	entered := map[string]string{}
	for name, actions := range v.Values {
		entered[name] = strings.TrimSpace(actions[name])
	}
	return entered
}

// verbErrors returns what is wrong in such a form by its content alone, by field.
func verbErrors(v inbound.View) map[string]string {
	entered := readEntered(v)
	switch v.Callback {
	case blocks.FormReason:
		if entered[fieldReason] == "" {
			return map[string]string{fieldReason: "Enter a reason. The person who asked is told it."}
		}
	case blocks.FormShare, blocks.FormTransfer:
		if (entered[fieldPerson] == "") == (entered[fieldTeam] == "") {
			return map[string]string{fieldPerson: "Choose a person or name a team, one of them."}
		}
	}
	return nil
}

// submitVerb does what a submitted form of a button asks for, and shows the result in its window: the answer, or the form again with what
// was entered and what is wrong.
func (s *Service) submitVerb(ctx context.Context, r inbound.Request, p policy.Principal) (note string, err error) {
	var meta pressMetadata
	if err := json.Unmarshal([]byte(r.View.Metadata), &meta); err != nil || callbacks[meta.Press.Verb] != r.View.Callback {
		return s.concludeVerb(ctx, r, blocks.Answer(messages.UnknownButton), nil)
	}
	entered, wrong := readEntered(*r.View), verbErrors(*r.View)
	var answer slack.Message
	if len(wrong) == 0 {
		if answer, err = s.runVerb(ctx, r, p, meta, entered); err != nil {
			wrong = wrongIn(meta.Press.Verb, entered, err)
		}
	}
	if len(wrong) > 0 {
		return r.View.Callback + ": refused", s.replaceForm(ctx, r, verbView(meta, entered, wrong), blocks.Answer(saySubmissionRefused(wrong)))
	}
	return s.concludeVerb(ctx, r, answer, err)
}

// runVerb does what such a form asks for.
func (s *Service) runVerb(ctx context.Context, r inbound.Request, p policy.Principal, meta pressMetadata, entered map[string]string) (slack.Message, error) {
	c := chatops.SlackCommand{Cluster: meta.Press.Cluster, Person: entered[fieldPerson]}
	c.Verb, c.Team, c.Reason = meta.Press.Verb, entered[fieldTeam], entered[fieldReason]
	if c.Verb == chatops.VerbRefuse {
		c.Ref = meta.Press.Approval
	}
	notice, err := s.noticeOf(ctx, meta.Press)
	if err != nil {
		return slack.Message{}, err
	}
	r.Channel = meta.Channel
	return s.runTask(ctx, task{request: r, by: p, SlackCommand: c, notice: notice})
}

// wrongIn returns what an error says is wrong with what was entered, by field: it can be corrected in the form. Empty: it cannot.
func wrongIn(verb chatops.Verb, entered map[string]string, err error) map[string]string {
	var said *app.Error
	if !errors.As(err, &said) {
		return nil
	}
	field := fieldTeam
	switch {
	case verb == chatops.VerbRefuse:
		field = fieldReason
	case entered[fieldPerson] != "":
		field = fieldPerson
	}
	switch said.Kind {
	case app.Invalid:
		texts := make([]string, 0, len(said.Fields))
		for _, f := range said.Fields {
			texts = append(texts, messages.ProblemText(f.Detail, f.Accept))
		}
		if len(texts) == 0 {
			texts = append(texts, said.Message)
		}
		return map[string]string{field: strings.Join(texts, " ")}
	case app.Conflict:
		if verb != chatops.VerbRefuse { // the approval is decided
			return map[string]string{"": said.Message}
		}
	}
	return nil
}

// concludeVerb shows the answer to such a form, or an error for people; any other error is returned.
func (s *Service) concludeVerb(ctx context.Context, r inbound.Request, answer slack.Message, err error) (note string, _ error) {
	answer, note, err = toAnswer(answer, err)
	if err != nil {
		return "", fmt.Errorf("submission of %s: %w", r.View.Callback, err)
	}
	if answer.Text == "" { // it was saved with the change
		answer = blocks.Answer(messages.SubmissionDone)
	}
	return r.View.Callback + note, s.replaceForm(ctx, r, blocks.Shown(formTitle(r.View.Callback), answer), answer)
}

// sayPersonHint says what naming a person in such a form means.
func sayPersonHint(verb chatops.Verb) string {
	if verb == chatops.VerbTransfer {
		return "The cluster is theirs once they accept it."
	}
	return "They see the cluster and its state."
}

// sayTeamHint says what naming a team in such a form means.
func sayTeamHint(verb chatops.Verb) string {
	if verb == chatops.VerbTransfer {
		return "One of your teams. The cluster belongs to it at once."
	}
	return "Everybody in the team sees the cluster and its state."
}

// saySubmissionRefused is the answer to a form with problems, by field.
func saySubmissionRefused(wrong map[string]string) string {
	text := messages.NothingChanged + "\n"
	for _, field := range slices.Sorted(maps.Keys(wrong)) {
		text += "\n- " + wrong[field]
	}
	return text
}
