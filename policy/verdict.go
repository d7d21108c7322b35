package policy

import (
	"fmt"
	"strings"
	"time"
)

// Refusals lists what refused, each reason by itself: of a check with checks of its own those that failed, under its name.
func (v Verdict) Refusals() []Check { return leaves(v.Checks, Fail) }

// Asks lists what has to be approved, each reason by itself, likewise.
func (v Verdict) Asks() []Check { return leaves(v.Checks, Ask) }

// Full lists the limits it has to wait for, as checks, likewise.
func (v Verdict) Full() []Check { return leaves(v.Checks, Wait) }

// Warnings lists what a person should know though nothing is wrong, likewise.
func (v Verdict) Warnings() []Check { return leaves(v.Checks, Warn) }

func leaves(checks []Check, result Result) []Check {
	var out []Check
	for _, c := range checks {
		if len(c.Checks) == 0 && c.Result == result {
			out = append(out, c)
		}
		for _, leaf := range leaves(c.Checks, result) {
			leaf.Name = c.Name
			out = append(out, leaf)
		}
	}
	return out
}

// Words is the verdict in short: refused and why, or accepted and what comes before it begins.
func (v Verdict) Words() string {
	if !v.Allowed {
		return "Refused. " + said(v.Refusals())
	}
	words := "Accepted."
	if v.Approval != nil {
		words = "Accepted. It starts when it is approved. " + v.Approval.Words()
	}
	if len(v.Waits) > 0 {
		words += " It waits for its turn: " + said(v.Full())
	}
	return words
}

// Words says who has to agree, by when and why.
func (a Approval) Words() string {
	one, several := strings.ReplaceAll(string(a.By), "_", " "), strings.ReplaceAll(string(a.By), "_", " ")+"s"
	if a.By == Requester {
		one, several = "member of the team", "members of the team"
	}
	who := "One " + one + " other than the one who asked has to approve it"
	switch {
	case a.Count > 1:
		who = fmt.Sprintf("%d %s have to approve it, none of them the one who asked,", a.Count, several)
	case a.Self:
		who = "One " + one + " has to approve it"
	}
	return strings.TrimSpace(fmt.Sprintf("%s within %s. %s", who, Span(a.For), strings.Join(a.Why, " ")))
}

func said(checks []Check) string {
	words := make([]string, 0, len(checks))
	for _, c := range checks {
		words = append(words, c.Words)
	}
	return strings.Join(words, " ")
}

// What an approval asks for where nothing else is said.
const (
	approvalBy  = PlatformAdmin
	approvalFor = 24 * time.Hour
)

// approval merges what the checks ask for: the most persons, the role that may most, the shortest time, and the one who asked
// only where all of them let that person approve. nil: nothing.
func approval(checks []Check) *Approval {
	var all *Approval
	for _, c := range leaves(checks, Ask) {
		one := Approval{}
		if c.Approval != nil {
			one = *c.Approval
		}
		one.fill()
		if all == nil {
			all = &Approval{Count: one.Count, Self: true, By: one.By, For: one.For}
		}
		all.Count, all.For = max(all.Count, one.Count), min(all.For, one.For)
		all.Self = all.Self && one.Self && all.Count == 1
		if one.By == PlatformAdmin {
			all.By = PlatformAdmin
		}
		all.Why = append(all.Why, c.Words)
	}
	return all
}

func (a *Approval) fill() {
	a.Count = min(max(a.Count, 1), 2)
	if a.By != Requester {
		a.By = approvalBy
	}
	if a.For <= 0 {
		a.For = approvalFor
	}
}

// severity orders results: of several, the one that weighs most counts for all.
var severity = map[Result]int{Pass: 0, Warn: 1, Wait: 2, Ask: 3, Fail: 4}

// whole makes one check of several: its result is the heaviest of theirs, in the words of those that have it. fine is what
// is said when all pass.
func whole(name, fine string, checks []Check) Check {
	c := Check{Name: name, Result: Pass, Words: fine, Checks: checks}
	for _, child := range checks {
		if severity[child.Result] > severity[c.Result] {
			c.Result = child.Result
		}
	}
	if c.Result == Pass {
		return c
	}
	c.Words = ""
	for _, child := range checks {
		if child.Result != c.Result {
			continue
		}
		c.Words = strings.TrimSpace(c.Words + " " + child.Words)
		c.Next = orDefault(c.Next, child.Next)
	}
	return c
}
