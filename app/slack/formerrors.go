package slack

import (
	"strings"

	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
)

// formErrors returns what is wrong in a form by its content alone, by block_id: an unusable name, hours that are no number, lines that
// are no tags, a missing reason. It asks nobody; everything else is judged behind the answer.
func formErrors(v inbound.View) map[string]string {
	if v.Callback != blocks.FormCreate {
		return problemsOfForm(v, verbErrors(v))
	}
	wrong := map[string]string{}
	values := readForm(v).values
	if check := policy.NameCheck(values[createform.Name]); check.Result == policy.Fail {
		wrong[createform.Name] = check.Message + " " + check.Next
	}
	for _, field := range values.Request(policy.SourceSlack).Wrong {
		text := messages.ProblemText(field.Detail, field.Accept)
		wrong[field.Name] = strings.TrimSpace(wrong[field.Name] + " " + text)
	}
	return problemsOfForm(v, wrong)
}

// problemsOfForm returns the problems with fields that a form has: Slack shows no others.
func problemsOfForm(v inbound.View, wrong map[string]string) map[string]string {
	for name := range wrong {
		if _, has := v.Values[name]; !has {
			delete(wrong, name)
		}
	}
	return wrong
}
