// Package iampolicy evaluates IAM policy documents as AWS does, as far as the stand-ins need it: identity policies and session
// policies with actions, resources, and the string conditions. It refuses to parse what it does not know, so that no statement is
// taken for less than it says.
//
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
package iampolicy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
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
	Sid       string
	Effect    string
	Action    list
	Resource  list
	Condition map[string]map[string]list // operator, key, values
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

// operators are the supported conditions; all of them accept * and ?.
var operators = []string{"StringEquals", "StringLike", "StringNotEquals", "StringNotLike"}

// Parse parses a document strictly.
func Parse(raw string) (Document, error) {
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
		if (s.Effect != "Allow" && s.Effect != "Deny") || len(s.Action) == 0 || len(s.Resource) == 0 {
			return d, fmt.Errorf("policy document: statement %d needs an effect, an action and a resource", i)
		}
		for operator := range s.Condition {
			if !slices.Contains(operators, operator) {
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
		if !matchesAny(s.Action, action, strings.EqualFold) || !matchesAny(s.Resource, resource, nil) || !s.applies(context) {
			continue
		}
		if s.Effect == "Deny" {
			return Deny
		}
		decision = Allow
	}
	return decision
}

// applies reports whether every condition is met.
func (s Statement) applies(context map[string][]string) bool {
	for operator, keys := range s.Condition {
		for key, wanted := range keys {
			have := context[key]
			held := slices.ContainsFunc(have, func(value string) bool { return matchesAny(wanted, value, nil) })
			if strings.Contains(operator, "Not") {
				held = !held
			}
			if !held {
				return false
			}
		}
	}
	return true
}

// matchesAny compares with patterns, in which * stands for any characters and ? for one.
func matchesAny(patterns []string, value string, fold func(a, b string) bool) bool {
	if fold != nil {
		value = strings.ToLower(value)
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if fold != nil {
			pattern = strings.ToLower(pattern)
		}
		return matches(pattern, value)
	})
}

// matches is path.Match with a * that matches slashes, as in ARNs, and without brackets.
func matches(pattern, value string) bool {
	hide := strings.NewReplacer("/", "\x01", "[", `\[`, `\`, `\\`)
	ok, err := path.Match(hide.Replace(pattern), strings.ReplaceAll(value, "/", "\x01"))
	return err == nil && ok
}
