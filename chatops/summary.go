package chatops

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Summary is what a cluster's comment says, in parts, for places with a layout of their own. Its texts are Markdown; an empty one has
// nothing to say. Like Comment it depends only on the arguments.
type Summary struct {
	Sign, Head string        // "🟢", "is ready"
	State      []string      // what is going on and why, and what it waits for
	Progress   string        // the bar with the step and the expected end, while something runs
	Apps       string        // a list of links to what runs in it
	Trouble    []string      // what went wrong or what blocks it, who can fix it and what to do
	Ends       string        // when it ends, why then, and what would keep it; empty once it is to end
	EndsWhy    string        // the part of Ends after the time; it begins with a comma
	Hourly     string        // its price per hour
	Spent      string        // what it has cost
	Workers    string        // how many it has, if that differs from its profile
	OffHours   string        // until when it is kept awake, and when it falls asleep next: see Nights
	Lived      string        // from when to when; empty until it is gone
	Page       string        // the address of its page
	Console    string        // where a reader opens its console; empty: nobody can now
	Acts       []Verb        // the commands that have an effect now, the most useful first
	Longest    time.Duration // by how much its end can be moved; 0: not at all, or without effect
}

// SummaryOf sums a cluster up. Of the detail it needs what the cluster waits for.
func SummaryOf(c lifecycle.Card, d Detail, links Links) Summary {
	f := faceOf(c)
	s := Summary{
		Sign: f.sign, Head: f.head, State: texts(f.doing, needsApproval(c, d), because(c), ofRun(c), advice(c, d), proof(c)),
		Progress: progressUntil(c, etaAs(c, precise, "")), Apps: strings.TrimSpace(apps(c)), Trouble: texts(failure(c, links), blockers(c, links)),
		Hourly: hourly(c), Spent: describeCost(c), Workers: crew(c), OffHours: Nights(c), Page: address(c, links), Console: consolePage(c, links), Acts: VerbsOf(actionsOn(c)), Longest: longest(c),
	}
	switch {
	case c.Status == lifecycle.Destroyed:
		s.Lived = fmt.Sprintf("%s to %s", moment(c.AcceptedAt, life(c)), moment(c.ReleasedAt, life(c)))
	case isWanted(c):
		s.EndsWhy = endWhy(c)
		s.Ends = moment(c.End(), life(c)) + s.EndsWhy
	}
	return s
}

// texts leaves out the empty ones.
func texts(all ...string) (some []string) {
	for _, text := range all {
		if text = strings.TrimSpace(text); text != "" {
			some = append(some, text)
		}
	}
	return some
}

// needsApproval is awaited for places with buttons.
func needsApproval(c lifecycle.Card, d Detail) string {
	switch {
	case !waitsForApproval(c):
		return ""
	case d.Approval != "":
		return d.Approval
	}
	return fmt.Sprintf("**Needs approval** by someone who may approve for team %s, or by a platform admin.", plain(c.Team))
}

// longest is by how much its end can be moved; 0: not at all, or that would have no effect.
func longest(c lifecycle.Card) time.Duration {
	if !canNow(c, policy.VerbExtend) {
		return 0
	}
	return c.Ends.Latest().Sub(c.Ends.TTL)
}

// ofActions are the chat's verbs, by those of policy. Retry means the teardown, or a new cluster in its place.
var ofActions = map[policy.Verb]Verb{
	policy.VerbApprove: VerbApprove, policy.VerbRefuse: VerbRefuse, policy.VerbKubeconfig: VerbKubeconfig, policy.VerbConsole: VerbConsole, policy.VerbWake: VerbWake, policy.VerbExtend: VerbExtend,
	policy.VerbSleep: VerbSleep, policy.VerbRetry: VerbRetry, policy.VerbRecreate: VerbRetry, policy.VerbLogs: VerbLogs, policy.VerbShare: VerbShare,
	policy.VerbTransfer: VerbTransfer, policy.VerbDestroy: VerbDestroy,
}

// VerbsOf returns the chat's verbs of actions that are possible, in their order.
func VerbsOf(actions []policy.Action) (verbs []Verb) {
	for _, verb := range policy.Possible(actions) {
		if ours, known := ofActions[verb]; known && !slices.Contains(verbs, ours) {
			verbs = append(verbs, ours)
		}
	}
	return verbs
}

// actionsOn returns what can be done with a cluster by what many people read: it offers what the owner may do. It depends on the cluster alone,
// so its time is that of the last change. The log of a cluster that was in use until its end helps nobody any more, so it is not offered.
func actionsOn(c lifecycle.Card) []policy.Action {
	actions := policy.Actions(c, policy.MayAsOwner, c.UpdatedAt)
	if c.Status == lifecycle.Destroyed && !c.NeverReady() {
		actions = slices.DeleteFunc(actions, func(a policy.Action) bool { return a.Verb == policy.VerbLogs })
	}
	return actions
}

// canNow reports whether a verb can be carried out, whoever asks.
func canNow(c lifecycle.Card, verb policy.Verb) bool {
	return policy.ObstacleTo(verb, c, c.UpdatedAt) == ""
}

// ordinary matches names that can stand in a link without becoming markup.
var ordinary = regexp.MustCompile(`^[a-z0-9.-]{1,100}$`)

// Row is a cluster in a list: what it is and how it is, then since when, until when and what it has cost until now. A list is read
// once, so unlike a summary it may contain relative times; without now the cost is that of the last change.
func Row(c lifecycle.Card, links Links, now time.Time) (what, more string) {
	f := faceWithPhase(c)
	name := Code(c.Name)
	if page := address(c, links); web(page) && ordinary.MatchString(c.Name) {
		name = fmt.Sprintf("[%s](%s)", c.Name, page)
	}
	what = fmt.Sprintf("%s **%s** %s", f.sign, name, f.head)
	if moving(c) {
		what += fmt.Sprintf(", %d %%", min(max(c.Progress.Percent, 0), 100))
	}
	what += fmt.Sprintf(". Owned by %s, team %s; profile %s.", plain(c.Owner), plain(c.Team), Code(c.Profile))
	parts := []string{"since " + moment(c.AcceptedAt, life(c))}
	if isWanted(c) {
		ends := "ends " + moment(c.End(), life(c))
		if left := c.End().Sub(now); left > 0 && !now.IsZero() {
			ends += " (in " + duration.Format(left) + ")"
		}
		parts = append(parts, ends)
	}
	cost := SpentUntil(c, now)
	if cost == "" {
		cost = describeCost(c)
	}
	return what, sentence(strings.Join(texts(append(parts, cost)...), "; "))
}

// SpentUntil says what a cluster has cost until now, for what is read once; empty: no time is known, or nothing runs.
func SpentUntil(c lifecycle.Card, now time.Time) string {
	if c.Status == lifecycle.Pending || c.Status == lifecycle.Destroyed || now.IsZero() {
		return ""
	}
	return fmt.Sprintf("about %s so far", price.Dollars(c.Meter.Spent(now)))
}

// Text describes a pending approval: what it is for, who asked, why, and how far it is.
func (a Waiting) Text() string {
	what := strings.Replace(a.what(), "the "+a.Secret, "The "+a.Secret, 1)
	text := fmt.Sprintf("%s of team %s, requested by %s. %s", what, plain(a.Team), plain(a.By), plain(sentence(strings.Join(a.Why, "; "))))
	if a.Needs > 1 {
		text += fmt.Sprintf(" It has %d of %d votes.", a.Votes, a.Needs)
	}
	if !a.Until.IsZero() {
		text += fmt.Sprintf(" It expires at %s.", precise(a.Until))
	}
	if a.WhyNot != "" {
		text += " " + plain(sentence(a.WhyNot))
	}
	return text
}

// Plain makes others' text harmless in Markdown: one line, no markup, no mention, no link, limited length.
func Plain(text string) string { return plain(text) }

// Bare makes others' text fit where there is no markup: one line without control characters, of at most so many characters.
func Bare(text string, most int) string { return cut(oneLine(cutBytes(text, maxRead)), most) }

// When formats a time for people, with seconds unless they are zero.
func When(t time.Time) string { return precise(t) }

// Web is an address that may be shown as a link; empty if it is none.
func Web(address string) string {
	if !web(address) || strings.ContainsAny(address, "()") {
		return ""
	}
	return address
}
