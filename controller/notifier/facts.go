package notifier

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/notices"
)

// told is what an announcement holds: the facts of a notice, and what they are made from where the store knows no words.
type told struct {
	blocks.Facts
	To string `json:"to"` // whom it is for: an account such as slack:T1/U2, or a principal; empty: nobody in particular

	Finding  lifecycle.FindingKind `json:"finding"`
	Identity string                `json:"identity"`
	Why      string                `json:"why"`
	Evidence []string              `json:"evidence"`

	Ended     notices.Ending `json:"ended"`      // subscription_ended: why
	Workspace string         `json:"workspace"`  // of the channel
	Channel   string         `json:"channel"`    // that was subscribed
	Repo      string         `json:"repo"`       // empty: of every repository
	Events    []string       `json:"events"`     // that the channel got
	Offered   string         `json:"offered"`    // handover_ended: the cluster's name
	OfferedTo string         `json:"offered_to"` // to whom, as a name

	Team    string `json:"team"`
	Percent int    `json:"percent"`
	Cents   int64  `json:"cents"`
	Budget  int64  `json:"budget"`

	WeekFrom time.Time `json:"week_from,omitzero"`
	WeekTo   time.Time `json:"week_to,omitzero"`
}

// The runbooks of events and of findings, by the name of their page.
var (
	runbooks = map[blocks.Event]string{
		blocks.Failed: "failed-create", blocks.Blocked: "destroy-blocked", blocks.Budget: "budget", blocks.Approval: "approval-waiting",
	}
	findingRunbooks = map[lifecycle.FindingKind]string{
		lifecycle.Orphan: "orphans", lifecycle.Overdue: "overdue", lifecycle.Stuck: "restart", lifecycle.Blocked: "destroy-blocked",
		lifecycle.Remains: "remains", lifecycle.FailingDelivery: "lost-webhooks", lifecycle.LostDelivery: "lost-webhooks", lifecycle.FailedJob: "failed-jobs",
		lifecycle.SlackChannel: "slack", lifecycle.SlackRefused: "slack", lifecycle.AccessNotRevoked: "access-not-revoked",
		lifecycle.ScanFailing: "scan-failing", lifecycle.BreakerOpen: "breaker-open",
	}
	findingTitles = map[lifecycle.FindingKind]string{
		lifecycle.Orphan: "Resources belong to no living cluster", lifecycle.Overdue: "A cluster is past its end",
		lifecycle.Stuck: "A cluster makes no progress", lifecycle.Blocked: "A teardown is blocked",
		lifecycle.Remains: "A destroyed cluster's objects could not be deleted", lifecycle.FailingDelivery: "A request cannot be processed",
		lifecycle.LostDelivery: "A request was given up or refused",
		lifecycle.FailedJob:    "A queue job used up its attempts", lifecycle.SlackChannel: "A channel in Slack takes no messages",
		lifecycle.SlackRefused: "Slack refuses the bot", lifecycle.AccessNotRevoked: "Revoked access still works",
		lifecycle.ScanFailing: "A cloud account cannot be looked through", lifecycle.BreakerOpen: "Installs fail, so new clusters wait",
	}
)

// mostEvidence is how much of a finding's evidence is told; the rest is on its page.
const mostEvidence = 5

// toFacts returns what a notice tells.
func (t told) toFacts(kind blocks.Event) blocks.Facts {
	f := t.Facts
	if f.Runbook == "" {
		f.Runbook = runbooks[kind]
	}
	switch {
	case kind == blocks.Finding && t.Finding != "":
		f.Runbook = findingRunbooks[t.Finding]
		if f.Title = findingTitles[t.Finding]; f.Title == "" {
			f.Title = "A finding: " + strings.ReplaceAll(string(t.Finding), "_", " ")
		}
		f.Text = t.findingText()
	case kind == blocks.SubscriptionEnded:
		f.Title, f.Text = t.subscriptionEnded()
	case kind == blocks.HandoverEnded:
		f.Title, f.Text = "Your offer of "+t.Offered+" has ended", fmt.Sprintf("%s accepted it just now, but you may no longer transfer the cluster, so it was not handed over. "+
			"Ask somebody of its team to offer it.", t.OfferedTo)
	case kind == blocks.Budget && t.Budget > 0:
		f.Title = fmt.Sprintf("Team %s has reached %d %% of its budget", t.Team, t.Percent)
		f.Text = fmt.Sprintf("Spent this month and promised to its clusters: %s of %s.", price.Dollars(t.Cents), price.Dollars(t.Budget))
	}
	return f
}

// findingText tells a finding in GitHub's Markdown.
func (t told) findingText() string {
	var b strings.Builder
	if t.Identity != "" {
		fmt.Fprintf(&b, "`%s`: ", plainCode(t.Identity))
	}
	b.WriteString(t.Why)
	for i, e := range t.Evidence {
		if i == mostEvidence {
			fmt.Fprintf(&b, "\n- and %d more", len(t.Evidence)-i)
			break
		}
		fmt.Fprintf(&b, "\n- `%s`", plainCode(e))
	}
	return b.String()
}

// whySubscriptionEnded says what became of whoever made a subscription.
var whySubscriptionEnded = map[notices.Ending]string{
	notices.EndedNoMember:     "The person who subscribed this channel is no longer a full member of the workspace.",
	notices.EndedNoRole:       "The person who subscribed this channel may no longer see these clusters.",
	notices.EndedNotInChannel: "The person who subscribed this channel has left it.",
	notices.EndedOutside:      "Another organization shares this channel or is invited to it, and the person who subscribed it is not a platform admin.",
}

// subscriptionEnded tells which subscription of a channel ended, why, and what to do.
func (t told) subscriptionEnded() (title, text string) {
	command := "/ocp notify " + strings.Join(t.Events, ",")
	of := "all clusters"
	switch {
	case t.Repo != "":
		of = "the clusters of the repository " + t.Repo
		command += " --repo " + t.Repo
	case t.Team != "":
		of = "the clusters of team " + t.Team
	}
	if t.Team != "" {
		command += " --team " + t.Team
	}
	who := "Somebody in this channel who may see these clusters"
	if t.Ended == notices.EndedOutside {
		who = "A platform admin in this channel"
	}
	return "This channel no longer gets messages about " + of, fmt.Sprintf("%s %s can subscribe it again with `%s`.", whySubscriptionEnded[t.Ended], who, plainCode(command))
}

// plainCode is text that stays inside a code span.
func plainCode(s string) string {
	return strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(s)
}

// longestExtension returns by how much a cluster's end can be extended; zero: extending would not move its end.
func longestExtension(c lifecycle.Cluster) time.Duration {
	farthest, _ := c.Ends.Extend(max(0, c.Ends.Latest().Sub(c.Ends.TTL)))
	return max(0, farthest.DestroyAt().Sub(c.Ends.DestroyAt()))
}
