package messages

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// The texts of the form for a cluster in Slack. Slack shows at most 24 characters of a title and of a button.
const (
	CreateFormTitle  = "Create a cluster"
	CreateFormSubmit = "Create"
)

// NoForms is the answer where forms are not available.
const NoForms = "Forms are not available here. Create a cluster with `/ocp create PROFILE --name NAME`, or on the web page."

// OpenFormAgain is the answer when a form could not be shown. A button opens it.
const OpenFormAgain = "The form could not be shown: Slack lets it open for three seconds only, or its window was closed. Press the button to open it, or type `/ocp create PROFILE --name NAME`."

// NoProfileEnabled is the answer to somebody who wants to choose a profile where there is none.
const NoProfileEnabled = "No profile that you may choose is enabled on this control plane. Ask a platform admin to enable one."

// WouldBeRefused begins the preview of a request that would be refused.
const WouldBeRefused = "**It would be refused.** The reasons are at the fields and above them."

// FormRefused begins what a refused form says, above the problems.
const FormRefused = "Nothing was created. Correct the fields below and submit again."

// NoPreviewYet stands in place of the preview when there was no time for it.
const NoPreviewYet = "Judging the request takes longer than usual. The price and the verdict are shown as soon as you change a field."

// FormPreview says what would happen to a request that would be accepted: the price, the approval, the queue and when it could be
// ready, a paragraph each.
func FormPreview(v policy.Verdict, f lifecycle.Forecast) []string {
	first := "**It would be accepted.**"
	if price := ExpectedPrice(v); price != "" {
		first = "**It would be accepted**: " + price + "."
	}
	lines := []string{first}
	if v.Approval != nil {
		lines = append(lines, "It would need an approval before it starts. "+v.Approval.Text())
	}
	for _, check := range v.Full() {
		lines = append(lines, "It would wait in the queue: "+check.Message)
	}
	if expected := chatops.Expected(f); expected != "" {
		lines = append(lines, expected)
	}
	for _, check := range v.Warnings() {
		lines = append(lines, "Note: "+strings.TrimSpace(check.Message+" "+check.Next))
	}
	return lines
}

// FieldHint is a field's hint as a line of its own.
func FieldHint(hint string) string {
	if hint == "" {
		return ""
	}
	return Sentence(hint)
}

// ProblemText says what is wrong with a field and what would be accepted.
func ProblemText(detail string, accept []string) string {
	text := strings.TrimSuffix(detail, ".") + "."
	if len(accept) > 0 {
		text += " Accepted: " + strings.Join(accept, ", ") + "."
	}
	return text
}

// FormAccepted says what a form led to. where is one of the two texts below.
func FormAccepted(name, where string, v policy.Verdict) string {
	text := fmt.Sprintf("%s is accepted. Its message is %s and shows the progress.", chatops.Code(name), where)
	if v.Approval != nil {
		text += " It starts when it is approved."
	}
	if len(v.Waits) > 0 {
		text += " It waits in the queue, because a quota is full."
	}
	for _, check := range v.Warnings() {
		text += " " + check.Message
	}
	return text
}

// ShownIn names the channel that shows a cluster; empty: its name is not known.
func ShownIn(channel string) string {
	if channel == "" {
		return "in the channel that you chose"
	}
	return "in #" + channel
}

// ShownDirectly says that direct messages show a cluster, and whether a channel was chosen in which ocpctl is not a member.
func ShownDirectly(instead Instead) string {
	if instead == InsteadNotMember {
		return "in your direct messages with ocpctl, because ocpctl is not a member of the channel that you chose,"
	}
	return "in your direct messages with ocpctl"
}

// NotCreated is the answer to a form that was closed before its refusal could be shown in it.
func NotCreated(problems []string) string {
	return "The cluster was not created.\n\n- " + strings.Join(problems, "\n- ")
}

// OpenFormButton is the button that opens the form for a cluster.
const OpenFormButton = "Open the form"

// SubmissionDone is the answer to a form whose command had nothing else to say.
const SubmissionDone = "Done. ocpctl answers you in a message."

// SubmissionRefused is the answer to a form with problems, by field.
func SubmissionRefused(wrong map[string]string) string {
	text := NothingChanged + "\n"
	for _, field := range slices.Sorted(maps.Keys(wrong)) {
		text += "\n- " + wrong[field]
	}
	return text
}
