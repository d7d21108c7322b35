package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Refusals lists every reason for a refusal. For a check with sub-checks these are the failed sub-checks, under its name.
func (v Verdict) Refusals() []Check { return leavesOf(v.Checks, Fail) }

// Asks lists everything that needs an approval, in the same way.
func (v Verdict) Asks() []Check { return leavesOf(v.Checks, Ask) }

// Full lists what to wait for as checks, full limits and a brake, in the same way.
func (v Verdict) Full() []Check { return leavesOf(v.Checks, Wait) }

// Served is the verdict on a request that got a cluster from a pool: that one waits for nothing, and stays in its region.
func (v Verdict) Served() Verdict {
	v.Checks = slices.DeleteFunc(slices.Clone(v.Checks), func(c Check) bool { return c.Result == Wait || c.Name == "region" && c.Result == Warn })
	return v
}

// Warnings lists what a person should know although nothing is wrong, in the same way.
func (v Verdict) Warnings() []Check { return leavesOf(v.Checks, Warn) }

func leavesOf(checks []Check, result Result) []Check {
	var out []Check
	for _, c := range checks {
		if len(c.Checks) == 0 && c.Result == result {
			out = append(out, c)
		}
		for _, leaf := range leavesOf(c.Checks, result) {
			leaf.Name = c.Name
			out = append(out, leaf)
		}
	}
	return out
}

// Hit is a check, or one part of it, that did something to a request.
type Hit struct {
	Name   string // of the check
	Part   string // the rule, quota or tag; empty: the check has no parts
	Result Result // Pass: a rule filled something in
}

// RulesCheck is the name of the check of the catalogue's rules. Its parts are named by RuleID.
const RulesCheck = "rules"

// Hits lists what did something to the request, each check and part once: refusals, approvals, waits, warnings, and rules that filled
// something in.
func (v Verdict) Hits() (hits []Hit) {
	seen := map[Hit]bool{}
	add := func(name, part string, result Result) {
		if key := (Hit{Name: name, Part: part}); !seen[key] {
			seen[key] = true
			hits = append(hits, Hit{name, part, result})
		}
	}
	for _, c := range v.Checks {
		if c.Name == SmallerCheck { // a proposal does nothing
			continue
		}
		for _, part := range c.Checks {
			if part.Result != Pass || c.Name == RulesCheck {
				add(c.Name, part.Name, part.Result)
			}
		}
		if len(c.Checks) == 0 && c.Result != Pass {
			add(c.Name, "", c.Result)
		}
	}
	return hits
}

// Text summarises the verdict: refused and why, or accepted and what has to happen before it begins.
func (v Verdict) Text() string {
	if !v.Allowed {
		return "Refused. " + describeChecks(v.Refusals())
	}
	text := "Accepted."
	if v.Approval != nil {
		text = "Accepted. It starts when it is approved. " + v.Approval.Text()
	}
	if full := v.Full(); len(full) > 0 {
		text += " It waits: " + describeChecks(full)
	}
	return text
}

// Text says who has to approve, by when and why.
func (a Approval) Text() string {
	one, several := strings.ReplaceAll(string(a.By), "_", " "), strings.ReplaceAll(string(a.By), "_", " ")+"s"
	if a.By == Requester {
		one, several = "member of the team", "members of the team"
	}
	who := "Another " + one + " must approve this"
	switch {
	case a.Count > 1:
		who = fmt.Sprintf("%d other %s must approve this", a.Count, several)
	case a.Self:
		who = "A " + one + " must approve this"
	}
	return strings.TrimSpace(fmt.Sprintf("%s within %s. %s", who, duration.Format(a.For), strings.Join(a.Why, " ")))
}

func describeChecks(checks []Check) string {
	messages := make([]string, 0, len(checks))
	for _, c := range checks {
		messages = append(messages, c.Message)
	}
	return strings.Join(messages, " ")
}

// The approval that is needed if a check specifies none.
const (
	approvalBy  = PlatformAdmin
	approvalFor = 24 * time.Hour
)

// mergeApprovals merges the approvals that the checks ask for: the highest count, the most powerful role, the shortest time, and the
// requester only if all of them allow it; nil: none.
func mergeApprovals(checks []Check) *Approval {
	var all *Approval
	for _, c := range leavesOf(checks, Ask) {
		one := Approval{}
		if c.Approval != nil {
			one = *c.Approval
		}
		one.setDefaults()
		if all == nil {
			all = &Approval{Count: one.Count, Self: true, By: one.By, For: one.For}
		}
		all.Count, all.For = max(all.Count, one.Count), min(all.For, one.For)
		all.Self = all.Self && one.Self && all.Count == 1
		if one.By == PlatformAdmin {
			all.By = PlatformAdmin
		}
		all.Why = append(all.Why, c.Message)
	}
	return all
}

func (a *Approval) setDefaults() {
	a.Count = min(max(a.Count, 1), 2)
	if a.By != Requester {
		a.By = approvalBy
	}
	if a.For <= 0 {
		a.For = approvalFor
	}
}

// severity orders results: the most severe of several counts for all.
var severity = map[Result]int{Pass: 0, Warn: 1, Wait: 2, Ask: 3, Fail: 4}

// combineChecks combines checks into one: the most severe result, with the texts of the checks that have it. fine is the text if all pass.
func combineChecks(name, fine string, checks []Check) Check {
	c := Check{Name: name, Result: Pass, Message: fine, Checks: checks}
	for _, child := range checks {
		if severity[child.Result] > severity[c.Result] {
			c.Result = child.Result
		}
	}
	if c.Result == Pass {
		return c
	}
	c.Message = ""
	for _, child := range checks {
		if child.Result != c.Result {
			continue
		}
		c.Message = strings.TrimSpace(c.Message + " " + child.Message)
		c.Next = orDefault(c.Next, child.Next)
	}
	return c
}
