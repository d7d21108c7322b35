package blocks

import (
	"fmt"
	"time"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// labels are what the buttons say.
var labels = map[chatops.Verb]string{
	chatops.VerbApprove: "Approve", chatops.VerbRefuse: "Refuse…", chatops.VerbKubeconfig: "Kubeconfig", chatops.VerbConsole: "Open console", chatops.VerbExtend: "Extend",
	chatops.VerbSleep: "Sleep", chatops.VerbWake: "Wake", chatops.VerbRetry: "Retry", chatops.VerbLogs: "Logs", chatops.VerbShare: "Share…", chatops.VerbTransfer: "Hand over…", chatops.VerbDestroy: "Destroy", chatops.VerbCreate: "Create",
	chatops.VerbStatus: "Status", chatops.VerbList: "My clusters", chatops.VerbLink: "Link my account", chatops.VerbHelp: "Help",
	chatops.VerbOpenForm: "Create a cluster", chatops.VerbAcceptHandover: "Accept", chatops.VerbDeclineHandover: "Decline", chatops.VerbPage: "More",
}

// newButton is a button with its press. It is styled by what it does.
func newButton(label string, p Press) *api.ButtonBlockElement {
	b := api.NewButtonBlockElement("ocp_"+string(p.Verb), p.Encode(), plainText(label, maxButton))
	switch p.Verb {
	case chatops.VerbApprove, chatops.VerbOpenForm, chatops.VerbAcceptHandover:
		b.Style = api.StylePrimary
	case chatops.VerbDestroy:
		b.Style = api.StyleDanger
	}
	return b
}

// pressFor is a button about a cluster. Destroy asks once more.
func pressFor(c lifecycle.Card, label string, p Press) *api.ButtonBlockElement {
	p.Cluster = c.ID
	if p.Verb == chatops.VerbExtend {
		p.End = c.Ends.TTL.UnixMicro()
	}
	b := newButton(label, p)
	if p.Verb == chatops.VerbDestroy {
		b.Confirm = api.NewConfirmationBlockObject(plainText("Destroy "+c.Name+"?", 100),
			plainText("Everything in the cluster is deleted. This cannot be undone.", 300), plainText("Destroy", 30), plainText("Cancel", 30)).WithStyle(api.StyleDanger)
	}
	return b
}

// buttonsFor are the buttons of a cluster for these verbs. approval is what it waits for; nil: nothing.
func buttonsFor(c lifecycle.Card, s chatops.Summary, verbs []chatops.Verb, approval, notice string) (all []*api.ButtonBlockElement) {
	for _, verb := range verbs {
		p := Press{Verb: verb, Notice: notice}
		switch verb {
		case chatops.VerbApprove, chatops.VerbRefuse:
			if approval == "" {
				continue
			}
			p.Approval = approval
		case chatops.VerbExtend:
			all = append(all, extensionButtons(c, s.Longest, notice)[:min(1, s.Longest)]...)
			continue
		}
		all = append(all, pressFor(c, labels[verb], p))
	}
	return all
}

// step is by how much a button extends.
const step = 4 * time.Hour

// extensionButtons are the buttons that extend a cluster by at most so much: a step, and all of it.
func extensionButtons(c lifecycle.Card, longest time.Duration, notice string) (all []*api.ButtonBlockElement) {
	extend := func(label string, by time.Duration) {
		all = append(all, pressFor(c, label, Press{Verb: chatops.VerbExtend, Notice: notice, Value: duration.Typed(by)}))
	}
	if longest > step {
		extend(fmt.Sprintf("Extend %d h", step/time.Hour), step)
	}
	if longest > 0 {
		whole := (longest + time.Minute - 1).Truncate(time.Minute) // people type minutes; what is above the maximum has no effect
		extend(fmt.Sprintf("Extend to the maximum (%s)", c.Ends.Latest().UTC().Format("Mon 15:04 UTC")), whole)
	}
	return all
}
