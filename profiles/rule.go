package profiles

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Policy is a set of rules in CEL (https://cel.dev) about a request for a new cluster. The variables are request, profile, actor,
// team, usage, pr and now; package policy/rules documents them.
type Policy struct {
	Name     string
	Sources  []string // entry points at which it applies (pr_label, pr_comment, api …); empty: all
	Profiles []string // globs over the profile's name; empty: all
	Rules    []Rule
	File     string // for problems
	Line     int
}

// Effect is what a rule does when its condition holds.
type Effect string

// The effects.
const (
	EffectDeny            Effect = "deny"
	EffectWarn            Effect = "warn"
	EffectRequireApproval Effect = "requireApproval"
	EffectDefault         Effect = "default" // fills in what the request leaves out
)

// Rule is one rule of a policy.
type Rule struct {
	Name     string
	When     string // CEL, a bool
	Effect   Effect
	Message  string            // text for people; required except for a default
	Next     string            // what to do about it
	Set      map[string]string // for default: field of the request (one of Settable) → value
	Approval ApprovalTerms     // for requireApproval
	Line     int               // in its file, for problems
}

// Settable are the fields of a request that a default may fill in. Owner and team are not among them: a cluster's ownership is never
// guessed.
var Settable = []string{"baseDomain", "costCenter", "environment", "priority", "profile", "region", "ttlHours", "version"}

// MostPriority is the highest priority, and its negative the lowest. Only rules give one; 0 is usual.
const MostPriority = 100

// ApprovalTerms say who has to approve. The zero value means one platform admin within a day.
type ApprovalTerms struct {
	Count int           // 1 or 2 people, not counting the requester
	Self  bool          // the requester may approve too, if one approval is enough
	By    string        // role: platform_admin (default) or requester (of the cluster's team)
	For   time.Duration // how long it may wait before it counts as refused
}

// The bounds that a rule must keep.
const (
	mostRule    = 4000 // bytes of an expression; its cost is limited where it is compiled
	mostPatient = 7 * 24 * time.Hour
)

// sources are where requests come from (package policy declares them).
var sources = []string{"pr_label", "pr_comment", "api", "web", "slack", "environment", "merge_queue", "pool"}

func readPolicy(r *reader, body []byte) Policy {
	p := Policy{File: r.file}
	doc := r.document(body, "policy")
	if doc == nil {
		return p
	}
	p.Line = doc.Line
	r.object(doc, "", policyFields(r, &p)...)
	checkName(r, p.Name)
	seen := map[string]bool{}
	for i, rule := range p.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if r.good(at+".name") && seen[rule.Name] {
			r.failAt(at+".name", rule.Name+" again", "each rule once")
		}
		seen[rule.Name] = true
		compareRule(r, at, rule)
	}
	return p
}

// policyFields describes the fields of a policy's file.
func policyFields(r *reader, p *Policy) []field {
	return []field{
		text("name", &p.Name, nameAccept, nameForm.MatchString),
		optional(r.inner("match",
			optional(r.texts("sources", &p.Sources, "one of "+strings.Join(sources, ", "), func(s string) bool { return slices.Contains(sources, s) })),
			optional(r.texts("profiles", &p.Profiles, globText, glob)))),
		r.objects("rules", "a rule", func(at string) []field {
			p.Rules = append(p.Rules, Rule{Line: r.lines[at]})
			return ruleFields(r, &p.Rules[len(p.Rules)-1])
		}),
		kind("Policy"),
	}
}

func ruleFields(r *reader, rule *Rule) []field {
	return []field{
		text("name", &rule.Name, nameAccept, nameForm.MatchString),
		text("when", &rule.When, fmt.Sprintf(`a CEL expression of at most %d bytes, in quotes, e.g. "request.ttlHours > 24"`, mostRule),
			func(s string) bool { return isFilled(s) && len(s) <= mostRule }),
		choice("effect", (*string)(&rule.Effect), string(EffectDeny), string(EffectWarn), string(EffectRequireApproval), string(EffectDefault)),
		optional(text("message", &rule.Message, "a text", isFilled)),
		optional(text("next", &rule.Next, "a text: what to do about it", isFilled)),
		optional(settings(r, &rule.Set)),
		optional(r.inner("approval",
			optional(whole("count", &rule.Approval.Count, 1, 2)),
			optional(boolean("selfApproval", &rule.Approval.Self)),
			optional(choice("by", &rule.Approval.By, "platform_admin", "requester")),
			optional(span("for", &rule.Approval.For, mostPatient)))),
	}
}

// settable describes the valid values of each of Settable.
var settable = map[string]struct {
	accept string
	ok     func(string) bool
}{
	"baseDomain":  {"a lowercase DNS domain", domain},
	"costCenter":  {tagText, tagValue},
	"environment": {tagText, tagValue},
	"priority":    {fmt.Sprintf("a whole number from -%d to %d", MostPriority, MostPriority), priority},
	"profile":     {nameAccept, nameForm.MatchString},
	"region":      {"a region such as us-east-1 or us-south", regionName},
	"ttlHours":    {fmt.Sprintf("a whole number from 1 to %d", mostTTLHours), ttlHours},
	"version":     {"a version such as \"4.20.3\", in quotes", versionForm.MatchString},
}

// regionName reports whether s could be a region of some cloud.
func regionName(s string) bool {
	for _, on := range platforms {
		if on.region.MatchString(s) {
			return true
		}
	}
	return false
}

func priority(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= -MostPriority && n <= MostPriority
}

func ttlHours(s string) bool {
	hours, err := strconv.Atoi(s)
	return err == nil && hours >= 1 && hours <= mostTTLHours
}

// settings reads what a default fills in.
func settings(r *reader, into *map[string]string) field {
	var fields []field
	for _, name := range Settable {
		is := settable[name]
		fields = append(fields, optional(field{name: name, accept: is.accept, read: func(n *yaml.Node, _ string) bool {
			text := scalar(n, "!!str") || (name == "ttlHours" || name == "priority") && scalar(n, "!!int")
			if text {
				(*into)[name] = n.Value
			}
			return text && is.ok(n.Value)
		}}))
	}
	return field{name: "set", accept: "a mapping with one or more of " + strings.Join(Settable, ", "), read: func(n *yaml.Node, path string) bool {
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
			return false
		}
		*into = map[string]string{}
		r.object(n, path, fields...)
		return true
	}}
}

// compareRule makes the checks that need more than one field.
func compareRule(r *reader, at string, rule Rule) {
	if !r.good(at + ".effect") {
		return
	}
	given := func(field string) bool { return r.lines[at+"."+field] != 0 }
	refuse := func(field string, only Effect) {
		if given(field) && rule.Effect != only {
			r.failAt(at+"."+field, fmt.Sprintf("given with effect %s", rule.Effect), fmt.Sprintf("none, or effect: %s", only))
		}
	}
	refuse("set", EffectDefault)
	refuse("approval", EffectRequireApproval)
	if rule.Approval.Self && rule.Approval.Count == 2 {
		r.failAt(at+".approval.selfApproval", "true with count 2", "false, or count: 1")
	}
	if rule.Effect == EffectDefault && !given("set") {
		r.fail(r.lines[at], at+".set", "missing", "a mapping with one or more of "+strings.Join(Settable, ", "))
	}
	if rule.Effect != EffectDefault && !given("message") {
		r.fail(r.lines[at], at+".message", "missing", "a text")
	}
}
