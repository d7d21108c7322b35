package blocks

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// kind is how a kind of notice is shown.
type kind struct {
	sign, head, many string         // of one cluster, and of several
	past             string         // the head once a button was pressed, if that changes it; empty: the same
	call             string         // what the mentioned person is told; empty: nobody is mentioned
	verbs            []chatops.Verb // its buttons
}

var kinds = map[Event]kind{
	Ready: {sign: "🟢", head: "is ready", past: "was ready", many: "clusters are ready", call: "your cluster is ready.", verbs: []chatops.Verb{chatops.VerbConsole, chatops.VerbKubeconfig, chatops.VerbExtend, chatops.VerbLogs}},
	Failed: {sign: "🔴", head: "could not be created", many: "clusters could not be created", call: "your cluster could not be created.",
		verbs: []chatops.Verb{chatops.VerbRetry, chatops.VerbLogs}},
	Expiring: {sign: "🟡", head: "ends soon", past: "was to end soon", many: "clusters end soon", call: "your cluster ends soon."},
	Resting: {sign: "🌙", head: "falls asleep soon", past: "was about to fall asleep", many: "clusters fall asleep soon", call: "your cluster falls asleep soon.",
		verbs: []chatops.Verb{chatops.VerbHold}},
	Idle: {sign: "💤", head: "is not used", past: "was not used", many: "clusters are not used", call: "nobody uses your cluster.",
		verbs: []chatops.Verb{chatops.VerbDestroy}},
	Blocked:   {sign: "🔴", head: "cannot be destroyed yet", many: "clusters cannot be destroyed yet", verbs: []chatops.Verb{chatops.VerbRetry, chatops.VerbLogs}},
	Destroyed: {sign: "⚫", head: "is gone", many: "clusters are gone"},
	Approval: {sign: "⚪", head: "is waiting for approval", past: "was waiting for approval", many: "clusters are waiting for approval",
		verbs: []chatops.Verb{chatops.VerbApprove, chatops.VerbRefuse}},
	HandoverAsk: {sign: "🔵", head: "is offered to you", past: "was offered to you", many: "clusters are offered to you", call: "a cluster is offered to you.",
		verbs: []chatops.Verb{chatops.VerbAcceptHandover, chatops.VerbDeclineHandover}},
	Finding: {sign: "🟠", many: "findings"},
	Budget:  {sign: "🟠", many: "budgets"},
	Weekly:  {sign: "📊", many: "weekly reports"},

	HandoverEnded:     {sign: "⚪", many: "offers have ended"},
	SubscriptionEnded: {sign: "⚪", many: "subscriptions have ended"},
}

// Notice is one message about something that happened.
func Notice(v NoticeView) slack.Message {
	k, known := kinds[v.Event]
	if !known {
		k = kind{sign: "⚪", head: "has news", many: "clusters have news"}
	}
	if len(v.More) > 0 {
		return digestMessage(v, k)
	}
	s := chatops.SummaryOf(v.Card, chatops.Detail{Approval: v.Approval}, v.Links)
	blocks := []api.Block{headerBlock(k.sign + " " + noticeTitle(v, k))}
	if call := mentionWithReason(v.Mention, k.call); v.Facts.Done == "" && k.call != "" && call != "" {
		blocks = append(blocks, sectionsOf(call)...)
	}
	if v.Facts.Done == "" || k.past == "" {
		blocks = append(blocks, fitBlocks(denseSections(eventParagraphs(v, s)...), maxMessage/2)...)
	}
	if v.Card.ID != "" {
		blocks = append(blocks, factFields(clusterFacts(v, s)...)...)
	}
	if v.Facts.Done != "" {
		blocks = append(blocks, outcomeBlocks(v.Facts)...)
	} else {
		blocks = append(blocks, voterBlocks(v.Facts)...)
		blocks = append(blocks, actionBlocks(noticeButtons(v, s, k)...)...)
	}
	if where := noticeLinks(v, s); where != "" {
		blocks = append(blocks, contextOf(where))
	}
	return newMessage(blocks)
}

func noticeTitle(v NoticeView, k kind) string {
	switch {
	case v.Card.ID == "" || k.head == "" || v.Event == Approval && v.Facts.Title != "":
		return cmp.Or(v.Facts.Title, "Something needs a look")
	case v.Facts.Done != "" && k.past != "":
		return v.Card.Name + " " + k.past
	}
	return v.Card.Name + " " + k.head
}

// eventParagraphs says what happened, in paragraphs of GitHub's Markdown.
func eventParagraphs(v NoticeView, s chatops.Summary) []string {
	f := v.Facts
	f.Text = chatops.Said(f.Text, "") // it may hold what others wrote
	switch v.Event {
	case Ready:
		return []string{f.Text, s.Apps}
	case Failed:
		if len(s.Trouble) > 0 {
			return s.Trouble
		}
		return []string{chatops.Plain(v.Card.FailMessage), f.Text}
	case Blocked:
		if len(s.Trouble) > 0 {
			return s.Trouble
		}
		return []string{"**Reason:** " + chatops.Plain(v.Card.Why.String()), f.Text}
	case Expiring:
		return []string{endText(v, s)}
	case Resting:
		return []string{fmt.Sprintf("It falls asleep at %s, outside working hours. If you need it, keep it awake until the next working hours.", chatops.When(f.End))}
	case Idle:
		return []string{idleText(f)}
	case Destroyed:
		return append([]string{"**Cost:** " + s.Spent + "."}, s.State...)
	case Approval:
		if f.Text != "" {
			return []string{f.Text}
		}
		return s.State
	case HandoverAsk:
		return []string{chatops.Plain(f.From) + " wants to hand this cluster over. Once you accept, you own it, and its cost counts for you. Nothing changes until then.", f.Text}
	case Finding, Budget, Weekly:
		return []string{f.Text}
	}
	return []string{f.Text}
}

// endText says when a cluster ends and why, and what the maximum allows.
func endText(v NoticeView, s chatops.Summary) string {
	f := v.Facts
	text := "It ends at " + chatops.When(f.End)
	if f.Before > 0 {
		text = fmt.Sprintf("It ends in about %s (%s)", duration.Format(f.Before), chatops.When(f.End))
	}
	if f.Longest > 0 {
		return fmt.Sprintf("%s. It can be extended by up to %s, to %s.", text, duration.Format(f.Longest.Round(time.Minute)), chatops.When(f.End.Add(f.Longest)))
	}
	if f.End.Equal(v.Card.Ends.DestroyAt()) {
		text += s.EndsWhy
	}
	return text + ". It cannot be extended."
}

// idleText says since when nobody has used a cluster, what happens if that stays so, and what keeps it.
func idleText(f Facts) string {
	text := fmt.Sprintf("As far as ocpctl knows, nobody has used it since %s.", chatops.When(f.Since))
	if f.Unobserved {
		text += " " + chatops.Unobserved
	}
	if !f.Sleeps.IsZero() {
		text += fmt.Sprintf(" If that stays so, it is put to sleep at %s, and the next use wakes it.", chatops.When(f.Sleeps))
	}
	if !f.End.IsZero() {
		text += fmt.Sprintf(" If nobody uses it, it ends at %s.", chatops.When(f.End))
	}
	return text + " A push to its pull request, a request for a kubeconfig, a job that waits for it and people's requests to its API count as use. A hold keeps it awake, and keeps it from ending."
}

// clusterFacts are the facts about a notice's cluster.
func clusterFacts(v NoticeView, s chatops.Summary) []Fact {
	c := v.Card
	owner := Fact{"Owner", fmt.Sprintf("%s, team %s", chatops.Plain(c.Owner), chatops.Plain(c.Team))}
	switch v.Event {
	case Ready:
		return []Fact{owner, {"Ends", s.Ends}}
	case Resting:
		return []Fact{owner, {"Ends", s.Ends}}
	case Idle:
		return []Fact{owner, {"Price", s.Hourly}}
	case Expiring, HandoverAsk:
		price := strings.Join(nonEmpty([]string{s.Hourly, s.Spent}), "; ")
		if v.Event == Expiring {
			return []Fact{owner, {"Price", price}}
		}
		return []Fact{owner, {"Price", price}, {"Ends", s.Ends}}
	case Approval:
		return []Fact{owner, {"Profile", chatops.Code(c.Profile)}, {"Price", s.Hourly}, {"Ends", s.Ends}}
	case Destroyed:
		return []Fact{owner, {"Lived", s.Lived}}
	}
	return []Fact{owner}
}

// outcomeBlocks says how it ended: what a press did and who pressed, or what happened without one.
func outcomeBlocks(f Facts) []api.Block { return sectionsOf(outcomeText(f)) }

// outcomeText is done in Slack's markup.
func outcomeText(f Facts) string {
	text := slack.Markup(chatops.Said(f.Done, ""))
	if first, size := utf8.DecodeRuneInString(text); size > 0 {
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	by := slack.Markup(chatops.Plain(f.Who))
	if f.DoneBy != "" {
		by = namePerson(f.DoneBy)
	}
	if by != "" {
		text = strings.TrimSuffix(text, ".") + " by " + by + "."
	}
	return text
}

// maxVoters is how many people a notice names.
const maxVoters = 10

// voterBlocks says who approved so far.
func voterBlocks(f Facts) []api.Block {
	if len(f.Voters) == 0 {
		return nil
	}
	var names []string
	for _, who := range f.Voters[:min(len(f.Voters), maxVoters)] {
		names = append(names, slack.Markup(chatops.Plain(who)))
	}
	return sectionsOf("Approved so far by " + strings.Join(names, ", ") + ".")
}

func noticeButtons(v NoticeView, s chatops.Summary, k kind) (all []*api.ButtonBlockElement) {
	c := v.Card
	if c.ID == "" && v.Facts.Approval == "" && v.Facts.Handover == "" {
		return nil
	}
	switch v.Event {
	case HandoverAsk:
		for _, verb := range k.verbs {
			all = append(all, pressFor(c, labels[verb], Press{Verb: verb, Notice: v.ID, Value: v.Facts.Handover}))
		}
		return all
	case Resting:
		return []*api.ButtonBlockElement{pressFor(c, "Keep it awake", Press{Verb: chatops.VerbHold, Notice: v.ID, Value: "tonight"})}
	case Idle:
		hold := pressFor(c, fmt.Sprintf("Hold %d h", step/time.Hour), Press{Verb: chatops.VerbHold, Notice: v.ID, Value: duration.Typed(step)})
		return append([]*api.ButtonBlockElement{hold}, buttonsFor(c, s, k.verbs, "", v.ID)...)
	case Expiring:
		c.Ends.Max = v.Facts.End.Add(v.Facts.Longest)
		return extensionButtons(c, v.Facts.Longest, v.ID)
	}
	return buttonsFor(c, s, k.verbs, v.Facts.Approval, v.ID)
}

// noticeLinks leads to the cluster's page, its console, the page of a report and the runbook.
func noticeLinks(v NoticeView, s chatops.Summary) string {
	var all []string
	if v.Card.ID != "" {
		all = append(all, linksElsewhere(v.Card, s))
	}
	if v.Facts.Page != "" && v.Links.UI != "" {
		all = append(all, markdownLink("Report", strings.TrimRight(v.Links.UI, "/")+v.Facts.Page))
	}
	return strings.Join(nonEmpty(append(all, runbookLink(v))), " · ")
}

// page matches the name of a runbook's page, with the place in it.
var page = regexp.MustCompile(`^[a-z0-9-]+(#[a-z0-9-]+)?$`)

// runbookLink leads to the notice's runbook, unless that is linked already where the cluster's trouble is described.
func runbookLink(v NoticeView) string {
	described := v.Event == Failed || v.Event == Blocked
	if described && strings.HasPrefix(chatops.Runbook(v.Card), "/runbooks/"+v.Facts.Runbook) {
		return ""
	}
	return runbookPage("Runbook", v.Links, v.Facts.Runbook)
}

// runbookPage leads to a runbook; empty if there is none.
func runbookPage(text string, links chatops.Links, name string) string {
	if links.UI == "" || !page.MatchString(name) {
		return ""
	}
	return markdownLink(text, strings.TrimRight(links.UI, "/")+"/runbooks/"+name)
}
