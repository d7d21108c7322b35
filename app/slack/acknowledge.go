package slack

import (
	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

// Acknowledge returns the immediate answer to a request, as JSON takes it; nil: an empty one, as for a command, which has one
// answer. It asks nobody, because Slack waits for three seconds. A submission with mistakes is answered with them (see Rejected), any other with a form that says to wait.
func Acknowledge(r inbound.Request) any {
	switch r.Kind {
	case inbound.Submission:
		if bad := formErrors(*r.View); len(bad) > 0 {
			return api.NewErrorsViewSubmissionResponse(bad)
		}
		wait := blocks.Working(formTitle(r.View.Callback))
		return api.NewUpdateViewSubmissionResponse(&wait)
	case inbound.Ignored:
		if r.Event == "block_suggestion" { // ocpctl's menus have their options with them
			return map[string]any{"options": []any{}}
		}
	}
	return nil
}

// Rejected reports whether an answer refuses a submission because of mistakes in the form: then there is nothing to process.
func Rejected(answer any) bool {
	said, ok := answer.(*api.ViewSubmissionResponse)
	return ok && said.ResponseAction == api.RAErrors
}

// OnlyToYou is an answer to a command that only the person sees who typed it. text is in Slack's markup.
func OnlyToYou(text string) any {
	return map[string]string{"response_type": "ephemeral", "text": text}
}

// NotStored returns the immediate answer to a request that could not be stored: why, in Slack's markup, is shown to the person. ok is
// false for requests whose answer Slack shows to nobody; they have to fail, so that Slack repeats them or shows that they failed.
func NotStored(r inbound.Request, why string) (answer any, ok bool) {
	switch r.Kind {
	case inbound.Command:
		return OnlyToYou(why), true
	case inbound.Submission:
		if block := firstBlock(r.View); block != "" {
			return api.NewErrorsViewSubmissionResponse(map[string]string{block: why}), true
		}
	}
	return nil, false
}

// firstBlock returns a field of the form where a problem can be shown; empty: it has none.
func firstBlock(v *inbound.View) (first string) {
	for block := range v.Values {
		if first == "" || block < first {
			first = block
		}
	}
	return first
}

// formTitle is the title of a form while its submission is processed. Slack shows 24 characters.
func formTitle(callback string) string {
	switch callback {
	case blocks.FormCreate:
		return messages.CreateFormTitle
	}
	for verb, form := range callbacks {
		if form == callback {
			return verbTitle(verb)
		}
	}
	return "ocpctl"
}
