// Package iampolicy evaluates IAM policy documents as AWS does, as far as the stand-ins need it: identity policies, session policies
// and service control policies, permissions boundaries and trust policies of roles, with actions, resources, their negations, policy
// variables, and the string, ARN, bool and null conditions. It refuses to parse what it does not know, so that no statement is taken for
// less than it says.
//
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
package iampolicy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Decision is a document's result for a request.
type Decision int

// NoMatch denies unless another document allows; Deny is final.
const (
	NoMatch Decision = iota
	Allow
	Deny
)

// Document is a policy.
type Document struct {
	Version   string
	Statement []Statement
}

// Statement allows or denies actions on resources.
type Statement struct {
	Sid         string
	Effect      string
	Principal   map[string]list // only of a trust policy
	Action      list
	NotAction   list
	Resource    list
	NotResource list
	Condition   map[string]map[string]list // operator, key, values
}

// list is one string or several.
type list []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *list) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = list{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}

// Parse parses a document strictly.
func Parse(raw string) (Document, error) {
	d, err := parse(raw)
	if err != nil {
		return d, err
	}
	for i, s := range d.Statement {
		if len(s.Principal) > 0 || (len(s.Resource) == 0) == (len(s.NotResource) == 0) {
			return d, fmt.Errorf("policy document: statement %d needs a resource and no principal", i)
		}
	}
	return d, nil
}

// ParseTrust parses the policy that says who may assume a role.
func ParseTrust(raw string) (Document, error) {
	d, err := parse(raw)
	if err != nil {
		return d, err
	}
	for i, s := range d.Statement {
		if len(s.Principal) == 0 || len(s.Resource) > 0 || len(s.NotResource) > 0 {
			return d, fmt.Errorf("trust policy: statement %d needs a principal and no resource", i)
		}
	}
	return d, nil
}

// Trusts reports whether a trust policy lets a principal of a kind ("Federated", "Service", "AWS") call an action on its role.
func (d Document) Trusts(kind, principal, action string, context map[string][]string) bool {
	trusted := false
	for _, s := range d.Statement {
		if !matchesAny(s.Principal[kind], principal, false) || !matchesAny(s.Action, action, true) || !s.applies(context) {
			continue
		}
		if s.Effect == "Deny" {
			return false
		}
		trusted = true
	}
	return trusted
}

func parse(raw string) (Document, error) {
	var d Document
	decoder := json.NewDecoder(bytes.NewReader([]byte(raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("policy document: %w", err)
	}
	if d.Version != "2012-10-17" || len(d.Statement) == 0 {
		return d, fmt.Errorf("policy document: want version 2012-10-17 and a statement, have version %q and %d", d.Version, len(d.Statement))
	}
	for i, s := range d.Statement {
		if (s.Effect != "Allow" && s.Effect != "Deny") || (len(s.Action) == 0) == (len(s.NotAction) == 0) {
			return d, fmt.Errorf("policy document: statement %d needs an effect and an action", i)
		}
		for operator := range s.Condition {
			if _, known := operatorCalled(operator); !known {
				return d, fmt.Errorf("policy document: statement %d: condition operator %q is not part of this stand-in", i, operator)
			}
		}
	}
	return d, nil
}

// Evaluate returns the document's decision about an action on a resource. Context holds the request's condition keys.
func (d Document) Evaluate(action, resource string, context map[string][]string) Decision {
	decision := NoMatch
	for _, s := range d.Statement {
		if !s.names(action, resource, context) || !s.applies(context) {
			continue
		}
		if s.Effect == "Deny" {
			return Deny
		}
		decision = Allow
	}
	return decision
}

// names reports whether the statement is about the action and the resource.
func (s Statement) names(action, resource string, context map[string][]string) bool {
	acts := matchesAny(s.Action, action, true) || len(s.NotAction) > 0 && !matchesAny(s.NotAction, action, true)
	return acts && (matchesAny(resolve(s.Resource, context), resource, false) || len(s.NotResource) > 0 && !matchesAny(resolve(s.NotResource, context), resource, false))
}

// variable is a policy variable, such as ${aws:PrincipalTag/ClusterId}. It stands in resources and in the values of conditions.
var variable = regexp.MustCompile(`\$\{([A-Za-z0-9]+:[^}]+)\}`)

// resolve replaces variables by the request's values. A text with a variable that the request lacks matches nothing, as in AWS.
func resolve(texts []string, context map[string][]string) []string {
	if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "${") }) {
		return texts
	}
	var out []string
	for _, text := range texts {
		complete := true
		text = variable.ReplaceAllStringFunc(text, func(found string) string {
			values := valuesOf(context, found[2:len(found)-1])
			if len(values) != 1 {
				complete = false
				return ""
			}
			return values[0]
		})
		if complete {
			out = append(out, text)
		}
	}
	return out
}

// applies reports whether every condition is met.
func (s Statement) applies(context map[string][]string) bool {
	for name, keys := range s.Condition {
		o, _ := operatorCalled(name)
		for key, wanted := range keys {
			if !o.met(valuesOf(context, key), resolve(wanted, context)) {
				return false
			}
		}
	}
	return true
}

// matchesAny compares with patterns, in which * stands for any characters and ? for one.
func matchesAny(patterns []string, value string, ignoreCase bool) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, value, ignoreCase) })
}

// matches goes through both from the left. After a mismatch, the last * takes one more character.
func matches(pattern, value string, ignoreCase bool) bool {
	same := func(a, b byte) bool { return a == b || ignoreCase && lower(a) == lower(b) }
	p, v, star, taken := 0, 0, -1, 0
	for v < len(value) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, taken = p, v
			p++
		case p < len(pattern) && (pattern[p] == '?' || same(pattern[p], value[v])):
			p++
			v++
		case star >= 0:
			taken++
			p, v = star+1, taken
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
