package chatops

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// SlackCommand is a command as it is typed in Slack: that of a pull request with what Slack alone has. A cluster is named, instead of
// being the pull request's.
type SlackCommand struct {
	Command
	Cluster string // id or name; empty: none is named
	Ref     string // approve, refuse: an approval's id, or a cluster's id or name

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
	Cursor        string // where the page begins; nobody types it
}

// maxWhy is how many bytes of a reason the audit trail stores.
const maxWhy = 500

// ParseSlack parses what was typed after /ocp in Slack; an empty text asks for help. If it is not understood, c is nil and reply says
// why and what would be accepted.
func ParseSlack(text string) (c *SlackCommand, reply string) {
	words := strings.Fields(slackTyped(text))
	if len(words) > 1 && strings.EqualFold(words[0], Prefix) { // the prefix was pasted too
		words = words[1:]
	}
	if len(words) == 0 {
		return &SlackCommand{Command: Command{Verb: VerbHelp}}, ""
	}
	known := commands.At(commands.Slack)
	i := slices.IndexFunc(known, func(c commands.Command) bool { return strings.EqualFold(c.Name, words[0]) })
	if i < 0 {
		return nil, slackUnknown(words[0])
	}
	found := known[i]
	out := SlackCommand{Command: Command{Verb: Verb(found.Name)}}
	words = words[1:]
	if out.Verb == VerbHelp {
		return &out, ""
	}
	var missing string
	for _, a := range found.Slack.Arguments {
		switch {
		case len(words) == 0 && a.Required && missing == "":
			missing = a.Missing
		case len(words) == 0:
		case a.Kind == commands.Reason:
			out.Reason, words = strings.Join(words, " "), nil
		default:
			ref := strings.Trim(words[0], "`*\"'“”‘’,")
			if a.Kind == commands.Request {
				out.Ref = ref
			} else {
				out.Cluster = ref
			}
			words = words[1:]
		}
	}
	var problem string
	switch {
	case len(words) > 0:
		problem = Code(words[0]) + " is unexpected."
	case missing != "":
		problem = missing
	case len(out.Reason) > maxWhy:
		problem = fmt.Sprintf("The reason has %d bytes; the audit trail keeps up to %d.", len(out.Reason), maxWhy)
	default:
		return &out, ""
	}
	return nil, fmt.Sprintf("Nothing was done, because %s could not be understood. %s Usage: %s.",
		Code(Prefix+" "+found.Name), problem, Code(Prefix+" "+found.Usage(commands.Slack)))
}

// slackTyped restores what a person typed: Slack sends the three special characters of its markup as entities.
func slackTyped(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "\x00", "").Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

func slackVerbs() []string {
	var all []string
	for _, c := range commands.At(commands.Slack) {
		all = append(all, c.Name)
	}
	return all
}

// slackUnknown answers an unknown word: where it works, or what was probably meant.
func slackUnknown(word string) string {
	verb := Verb(strings.ToLower(word))
	e, known := find(string(verb))
	text := e.InSlack
	switch {
	case text != "":
	case known:
		text = fmt.Sprintf("Comment %s on the pull request, or use the web pages or `ocpctl %s`.", Code(Prefix+" "+string(verb)), verb)
	default:
		hint := "There are: " + list(slackVerbs()) + "."
		if near := suggestion(word, slices.Concat(slackVerbs(), verbs())); near != "" {
			hint = near
		}
		return fmt.Sprintf("%s is not a command. %s %s lists the commands.", Code(Prefix+" "+word), hint, Code(Prefix+" help"))
	}
	return fmt.Sprintf("%s is not available in Slack. %s", Code(Prefix+" "+string(verb)), text)
}

// SlackGot acknowledges a slash command at once, before anything is done. It names only commands that are understood; for any other
// text, the answer that follows says what is wrong.
func SlackGot(text string) string {
	c, _ := ParseSlack(text)
	if c == nil {
		return "Nothing was done. The next message says why."
	}
	line := strings.TrimRight(Prefix+" "+string(c.Verb)+" "+c.Ref+c.Cluster, " ")
	if c.Reason != "" {
		line += " " + c.Reason
	}
	return fmt.Sprintf("Got it: %s. The answer follows.", Code(line))
}

// SlackHelp lists the commands in Slack.
func SlackHelp() string {
	var b strings.Builder
	b.WriteString("**Commands**\n\n")
	for _, c := range commands.At(commands.Slack) {
		fmt.Fprintf(&b, "- %s: %s\n", Code(Prefix+" "+c.Usage(commands.Slack)), c.Slack.Summary)
	}
	fmt.Fprintf(&b, "\nOnly you see the answers. Clusters come from a label or a comment on a pull request, from the pages or from `ocpctl create`.\n")
	return b.String()
}

// Waiting is a pending approval, as one person sees it.
type Waiting struct {
	ID, Cluster, Team string
	By                string // who made the request
	Password          bool   // it is for the kubeadmin password; otherwise for the cluster itself
	Why               []string
	Head              string // of its pull request; empty: there is none
	Votes, Needs      int
	Until             time.Time
	WhyNot            string // why this person may not vote; empty: they may
}

// SlackWaiting lists pending approvals. more: there are more than listed.
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

// what names what the approval is for, with the commit that it is bound to.
func (a Waiting) what() string {
	text := Code(a.Cluster)
	if a.Password {
		text = "the kubeadmin password of " + text
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
	case !approved && a.Password:
		text += " It is not shown."
	case !approved:
		text += " It is not created, and the person who asked is told."
	case a.Password:
		text += " Whoever asked may look at it once."
	default:
		text += " It starts now, or when it reaches the front of the queue."
	}
	return text
}

// SlackStatus lists clusters with their state, as on a pull request. more: there are more than listed.
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
