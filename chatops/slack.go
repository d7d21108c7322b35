package chatops

import (
	"fmt"
	"strings"
	"time"
)

// SlackCommand is a command as it is typed in Slack: that of a pull request with what Slack alone has. A cluster is named, instead of
// being the pull request's.
type SlackCommand struct {
	Command
	Cluster string // id or name; empty: none is named
	Ref     string // approve, refuse: an approval's id, or a cluster's id or name; help: the command that it is about, empty: all

	Person  string // share, unshare, transfer: a person, U… or W…
	Group   string // share, unshare: a user group, S…
	Channel string // notify: the channel, C… or G…; empty: the one in which it is typed

	Events []string // notify: what the channel wants to hear of; empty: list its subscriptions, or with Off end them all
	Repo   string   // notify: only of the clusters of this repository, owner/name; empty: of all
	Off    bool     // notify: stop

	Filter ListFilter // list
}

// ListFilter narrows a list of clusters. Empty fields do not.
type ListFilter struct {
	Team, Profile string
	Owner         string // a person in Slack, U… or W…, or an owner's name as it is shown
	Query         string // a filter, see package filter; people are as Slack writes them
	Cursor        string // where the page begins; nobody types it
}

// ParseSlack parses what was typed after /ocp in Slack, or to the bot; an empty text asks for help. If it is not understood, c is nil
// and reply says why and what would be accepted.
func ParseSlack(text string) (c *SlackCommand, reply string) {
	line := slackLine(text)
	if len(line) > maxLine {
		return nil, tooLong(line)
	}
	return inSlack.parse(line)
}

// AllCommands asks help for every command, in the place of one command's name.
const AllCommands = "all"

// SlackHelp lists the commands in Slack that people need first; with AllCommands, those and the others; with a verb, all about that one.
func SlackHelp(about string) string {
	if text := inSlack.explain(about); text != "" {
		return text
	}
	var b strings.Builder
	b.WriteString("**Commands**\n\n")
	for _, common := range []bool{true, false} {
		for _, e := range inSlack.rows {
			if e.form.Common == common && (common || about == AllCommands) {
				fmt.Fprintf(&b, "- %s: %s\n", Code(e.usage()), e.form.Summary)
			}
		}
	}
	more := ""
	if about != AllCommands {
		more = fmt.Sprintf(" %s lists every command.", Code(Prefix+" help "+AllCommands))
	}
	fmt.Fprintf(&b, "\nIf you have one cluster, you need not name it. %s shows the options of a command.%s\n", Code(Prefix+" help create"), more)
	return b.String()
}

// explain says all about a command; empty: there is no such command here.
func (g grammar) explain(verb string) string {
	e, known := g.find(verb)
	if !known {
		return ""
	}
	var b strings.Builder
	e.explain(&b)
	return b.String()
}

// explain writes all about a command.
func (e entry) explain(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s. For example %s.\n", Code(e.usage()), e.form.Summary, Code(Prefix+" "+e.form.Example))
	if len(e.options) > 0 {
		b.WriteString("\n")
	}
	for _, o := range e.options {
		fmt.Fprintf(b, "- %s: %s\n", o.usage(), o.Plain())
	}
}

// Waiting is a pending approval, as one person sees it.
type Waiting struct {
	ID, Cluster, Team string
	By                string // who made the request
	Secret            string // which of the installer's credentials it is for, e.g. "kubeadmin password"; empty: it is for the cluster itself
	Why               []string
	Head              string // of its pull request; empty: there is none
	Votes, Needs      int
	Until             time.Time
	WhyNot            string // why this person may not vote; empty: they may
}

// SlackWaiting lists pending approvals. more: there are more than listed.
func SlackWaiting(all []Waiting, more bool, links Links) string {
	if len(all) == 0 {
		return "No approval is waiting for you.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Waiting for approval**\n\n")
	for _, a := range all {
		fmt.Fprintf(&b, "- %s: %s of team %s, requested by %s. %s", Code(a.ID), a.what(), plain(a.Team), plain(a.By), plain(sentence(strings.Join(a.Why, "; "))))
		if a.Needs > 1 {
			fmt.Fprintf(&b, " It has %d of %d votes.", a.Votes, a.Needs)
		}
		fmt.Fprintf(&b, " It expires at %s.", precise(a.Until))
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

// what names what the approval is for, with the commit that it is bound to.
func (a Waiting) what() string {
	text := Code(a.Cluster)
	if a.Secret != "" {
		text = "the " + a.Secret + " of " + text
	}
	if a.Head != "" {
		text += " at " + Code(ShortSHA(a.Head))
	}
	return text
}

// SlackVoted says what a person's vote led to. a is the state after the vote.
func SlackVoted(a Waiting, approved, over bool) string {
	did := "You refused"
	if approved {
		did = "You approved"
	}
	text := fmt.Sprintf("%s %s.", did, a.what())
	switch {
	case !over:
		text += fmt.Sprintf(" It has %d of the %d votes it needs.", a.Votes, a.Needs)
	case !approved && a.Secret != "":
		text += " It is not shown."
	case !approved:
		text += " It is not created, and the person who asked is told."
	case a.Secret != "":
		text += " The requester can view it once."
	default:
		text += " It starts now, or when it reaches the front of the queue."
	}
	return text
}
