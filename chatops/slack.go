package chatops

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// VerbApprovals is a verb of Slack alone.
const VerbApprovals Verb = "approvals"

// SlackCommand is an understood slash command.
type SlackCommand struct {
	Verb Verb
	Ref  string // approve, refuse: an approval's id, or a cluster's id or name; status: a cluster's, empty: all of the person's
	Why  string // approve, refuse: the reason in the person's own words
}

// slackEntry is what a word of the command table takes in Slack, where no pull request says which cluster is meant.
type slackEntry struct {
	verb       Verb
	args       string // as help shows them
	words      string
	ref, why   bool // takes them
	refMust    bool // and has to have them
	whyMust    bool
	refMissing string // says what would be accepted
}

const anApproval = "which one: the id of an approval, or the name or id of a cluster. `/ocp approvals` lists them."

// slackTable is what is done from Slack. Every other word of the command table is answered with where that is done.
var slackTable = []slackEntry{
	{verb: VerbApprovals, words: "lists the approvals that you may see"},
	{verb: VerbApprove, args: "<approval or cluster> [reason]", words: "approves exactly what was requested", ref: true, refMust: true, why: true, refMissing: anApproval},
	{verb: VerbRefuse, args: "<approval or cluster> <reason>", words: "refuses it: the cluster is not created", ref: true, refMust: true, why: true, whyMust: true, refMissing: anApproval},
	{verb: VerbStatus, args: "[cluster]", words: "shows the clusters that you may see, or one of them", ref: true},
	{verb: VerbLink, words: "links this account to you, so that you have your own permissions here"},
	{verb: VerbHelp, words: "this list"},
}

// slackElsewhere are words whose answer on a pull request leads to another comment.
var slackElsewhere = map[Verb]string{
	VerbList:       "`/ocp status` lists your clusters here.",
	VerbRetry:      "The cluster's page and `ocpctl retry CLUSTER` try a blocked teardown again.",
	VerbHold:       "The cluster's page holds it, and so does `ocpctl hold CLUSTER 8h`.",
	VerbLogs:       "The cluster's page shows its log, and so does `ocpctl logs CLUSTER -f`.",
	VerbKubeconfig: "The cluster's page hands it out, and so does `ocpctl kubeconfig CLUSTER -f kubeconfig`; it is never posted here.",
	VerbRefresh:    "`ocpctl refresh CLUSTER` applies its add-ons again.",
	VerbScale:      "The cluster's page scales its workers, and so does `ocpctl scale-workers CLUSTER --replicas 3`.",
	VerbShare:      "The cluster's page shows it to others, and so does `ocpctl share CLUSTER --team TEAM`.",
}

// maxWhy is how many bytes of a reason the audit trail keeps.
const maxWhy = 500

// ParseSlack reads what was typed behind /ocp in Slack; nothing asks for help. Where it is not understood c is nil and reply
// says why, and what would be.
func ParseSlack(text string) (c *SlackCommand, reply string) {
	words := strings.Fields(slackTyped(text))
	if len(words) > 1 && strings.EqualFold(words[0], Prefix) { // pasted whole
		words = words[1:]
	}
	if len(words) == 0 {
		return &SlackCommand{Verb: VerbHelp}, ""
	}
	i := slices.IndexFunc(slackTable, func(e slackEntry) bool { return strings.EqualFold(string(e.verb), words[0]) })
	if i < 0 {
		return nil, slackUnknown(words[0])
	}
	e := slackTable[i]
	out := SlackCommand{Verb: e.verb}
	words = words[1:]
	if e.verb == VerbHelp {
		return &out, ""
	}
	if e.ref && len(words) > 0 {
		out.Ref, words = strings.Trim(words[0], "`*\"'“”‘’,"), words[1:]
	}
	if e.why {
		out.Why, words = strings.Join(words, " "), nil
	}
	var problem string
	switch {
	case len(words) > 0:
		problem = Code(words[0]) + " is unexpected."
	case e.refMust && out.Ref == "":
		problem = "Say " + e.refMissing
	case e.whyMust && out.Why == "":
		problem = "Add a reason: the person who asked is told."
	case len(out.Why) > maxWhy:
		problem = fmt.Sprintf("The reason has %d bytes; the audit trail keeps up to %d.", len(out.Why), maxWhy)
	default:
		return &out, ""
	}
	return nil, fmt.Sprintf("Nothing was done, because %s could not be understood. %s Usage: %s.", Code(Prefix+" "+string(e.verb)), problem, Code(e.usage()))
}

// slackTyped is what a person typed: Slack sends the three signs of its markup as entities.
func slackTyped(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "\x00", "").Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

func (e slackEntry) usage() string {
	return strings.TrimRight(Prefix+" "+string(e.verb)+" "+e.args, " ")
}

func slackVerbs() []string {
	all := make([]string, 0, len(slackTable))
	for _, e := range slackTable {
		all = append(all, string(e.verb))
	}
	return all
}

// slackUnknown answers a word that is not done here: with where it is, or with what was probably meant.
func slackUnknown(word string) string {
	verb := Verb(strings.ToLower(word))
	_, known := find(string(verb))
	words, led := slackElsewhere[verb]
	switch {
	case led:
	case known:
		words = fmt.Sprintf("Comment %s on the pull request, or use the web pages or `ocpctl %s`.", Code(Prefix+" "+string(verb)), verb)
	default:
		hint := "There are: " + list(slackVerbs()) + "."
		if near := suggestion(word, slices.Concat(slackVerbs(), verbs())); near != "" {
			hint = near
		}
		return fmt.Sprintf("%s is not a command. %s %s lists the commands.", Code(Prefix+" "+word), hint, Code(Prefix+" help"))
	}
	return fmt.Sprintf("%s is not available in Slack. %s", Code(Prefix+" "+string(verb)), words)
}

// SlackGot acknowledges a slash command at once, before anything was done for it. Only a command that is understood is called so;
// of any other the answer that follows says what is wrong.
func SlackGot(text string) string {
	c, _ := ParseSlack(text)
	if c == nil {
		return "Nothing was done. The next message says why."
	}
	line := strings.TrimRight(Prefix+" "+string(c.Verb)+" "+c.Ref, " ")
	if c.Why != "" {
		line += " " + c.Why
	}
	return fmt.Sprintf("Got it: %s. The answer follows.", Code(line))
}

// SlackHelp lists what one can type in Slack.
func SlackHelp() string {
	var b strings.Builder
	b.WriteString("**Commands**\n\n")
	for _, e := range slackTable {
		fmt.Fprintf(&b, "- %s: %s\n", Code(e.usage()), e.words)
	}
	fmt.Fprintf(&b, "\nOnly you see the answers. Clusters come from a label or a comment on a pull request, from the pages or from `ocpctl create`.\n")
	return b.String()
}

// Waiting is what waits for a person's word, as one person sees it.
type Waiting struct {
	ID, Cluster, Team string
	By                string // who asked
	Password          bool   // it is for the kubeadmin password; else for the cluster itself
	Why               []string
	Head              string // of its pull request; empty: it has none
	Votes, Needs      int
	Until             time.Time
	WhyNot            string // what stands against the person's own vote; empty: nothing
}

// SlackWaiting lists what waits for a word. more: there is more than is listed.
func SlackWaiting(all []Waiting, more bool, links Links) string {
	if len(all) == 0 {
		return "No approval that you may see is pending.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Waiting for approval**\n\n")
	for _, a := range all {
		fmt.Fprintf(&b, "- %s: %s of team %s, asked for by %s. %s", Code(a.ID), a.what(), plain(a.Team), plain(a.By), plain(sentence(strings.Join(a.Why, "; "))))
		if a.Needs > 1 {
			fmt.Fprintf(&b, " It has %d of %d votes.", a.Votes, a.Needs)
		}
		fmt.Fprintf(&b, " Until %s.", precise(a.Until))
		if a.WhyNot != "" {
			b.WriteString(" " + plain(sentence(a.WhyNot)))
		} else {
			fmt.Fprintf(&b, " %s or %s", Code(Prefix+" approve "+a.ID), Code(Prefix+" refuse "+a.ID+" <reason>"))
		}
		b.WriteString("\n")
	}
	if more {
		fmt.Fprintf(&b, "\nThere is more: %s\n", link(strings.TrimRight(links.UI, "/")+"/approvals"))
	}
	return b.String()
}

// what is waited for, with the commit it is bound to.
func (a Waiting) what() string {
	words := Code(a.Cluster)
	if a.Password {
		words = "the kubeadmin password of " + words
	}
	if a.Head != "" {
		words += " at " + Code(ShortSHA(a.Head))
	}
	return words
}

// SlackVoted says what a person's word came to. a is as it stands after it.
func SlackVoted(a Waiting, approved, over bool) string {
	did := "You refused"
	if approved {
		did = "You approved"
	}
	words := fmt.Sprintf("%s %s.", did, a.what())
	switch {
	case !over:
		words += fmt.Sprintf(" It has %d of the %d votes it needs.", a.Votes, a.Needs)
	case !approved && a.Password:
		words += " It is not shown."
	case !approved:
		words += " It is not created, and the person who asked is told."
	case a.Password:
		words += " Whoever asked may look at it once."
	default:
		words += " It starts now, or when it is its turn."
	}
	return words
}

// SlackStatus is how clusters are, each as on a pull request. more: there are more than are listed.
func SlackStatus(cards []lifecycle.Card, more bool, links Links, now time.Time) string {
	if len(cards) == 0 {
		return "There is no cluster that you may see.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "As of %s:\n\n", now.UTC().Format("2006-01-02 15:04:05 UTC"))
	for _, card := range cards {
		b.WriteString(statusLine(card, links, now))
	}
	if more {
		fmt.Fprintf(&b, "\nThere is more: %s\n", link(strings.TrimRight(links.UI, "/")+"/"))
	}
	return b.String()
}
