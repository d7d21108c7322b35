// Package rules compiles the catalogue's policies. They are written in CEL (https://cel.dev), type-checked against declared variables
// when loaded, and limited in cost when evaluated.
//
// It is pure and fails closed: a rule that cannot be evaluated refuses. It must never panic, whatever a policy contains.
package rules

import (
	"context"
	"fmt"
	"strings"
	_ "time/tzdata" // now.getHours('Europe/Berlin') must mean the same in an image without time zones

	"cel.dev/cel-go/cel"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// Set holds every policy of a catalogue, compiled. It is safe for concurrent use; nil has no rules.
type Set struct {
	choosers []rule // defaults that fill in the profile; evaluated while none is known
	defaults []rule // the other defaults
	judges   []rule
}

var _ policy.Rules = (*Set)(nil)

// rule is a compiled rule.
type rule struct {
	id, policy, name  string
	place             string // file:line
	sources, profiles []string
	effect            profiles.Effect
	message, next     string
	set               []setting
	approval          *policy.Approval
	program           cel.Program
	reads             []string // what the expression reads, such as request.ttlHours
}

// Len returns the number of rules.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.choosers) + len(s.defaults) + len(s.judges)
}

// Defaults implements policy.Rules. Rules run in their order; each sees what earlier ones filled in, and none overwrites a value.
func (s *Set) Defaults(in policy.In) (policy.Request, []policy.Check) {
	if s == nil {
		return in.Request, nil
	}
	asked := s.defaults
	if in.Request.Profile == "" {
		asked = s.choosers
	}
	if len(asked) == 0 {
		return in.Request, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	var checks []policy.Check
	vars := variableValues(in)
	for _, r := range asked {
		if !r.appliesTo(in) {
			continue
		}
		holds, err := r.evaluateRule(ctx, vars)
		if err != nil {
			checks = append(checks, r.refuseBroken(err))
			continue
		}
		if !holds {
			continue
		}
		if said := fillSettings(&in.Request, r.set); len(said) > 0 {
			vars["request"], vars["price"] = requestOf(in.Request), priceOf(in)
			checks = append(checks, policy.Check{Name: r.id, Result: policy.Pass, Accept: strings.Join(said, ", "),
				Message: fmt.Sprintf("Rule %s of policy %s filled in %s.", r.name, r.policy, strings.Join(said, ", "))})
		}
	}
	return in.Request, checks
}

// Judge implements policy.Rules.
func (s *Set) Judge(in policy.In) []policy.Check {
	if s == nil || len(s.judges) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	var checks []policy.Check
	vars := variableValues(in)
	for _, r := range s.judges {
		if !r.appliesTo(in) {
			if in.Explain {
				checks = append(checks, r.explainSkip())
			}
			continue
		}
		holds, err := r.evaluateRule(ctx, vars)
		var check policy.Check
		switch {
		case err != nil:
			check = r.refuseBroken(err)
		case holds:
			check = r.toCheck()
		case in.Explain:
			check = policy.Check{Name: r.id, Result: policy.Pass, Message: "Does not apply."}
		default:
			continue
		}
		if in.Explain {
			check = r.explainCheck(check, vars)
		}
		checks = append(checks, check)
	}
	return checks
}

// appliesTo reports whether the policy applies to the request's entry point and profile.
func (r rule) appliesTo(in policy.In) bool {
	return fitsAny(r.sources, string(in.Request.Source)) && fitsAny(r.profiles, in.Profile.Name)
}

func fitsAny(globs []string, value string) bool {
	return len(globs) == 0 || profiles.FitsAny(globs, value)
}

// evaluateRule evaluates the rule. Anything except true or false is an error, such as a missing key or a cost above the limit.
func (r rule) evaluateRule(ctx context.Context, vars map[string]any) (bool, error) {
	out, _, err := r.program.ContextEval(ctx, vars)
	if err != nil {
		return false, err
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, errNotBool
	}
	return holds, nil
}

// toCheck returns the check of a rule that applies.
func (r rule) toCheck() policy.Check {
	c := policy.Check{Name: r.id, Message: r.message, Next: r.next}
	next := ""
	switch r.effect {
	case profiles.EffectWarn:
		c.Result, next = policy.Warn, "Nothing to do, unless you meant something else."
	case profiles.EffectRequireApproval:
		c.Result, c.Approval, next = policy.Ask, r.approval, "Wait for approval, or ask for less, so that the rule no longer applies."
	default:
		c.Result, next = policy.Fail, fmt.Sprintf("Change the request, or ask a platform admin about rule %s of policy %s.", r.name, r.policy)
	}
	c.Next = orFallback(c.Next, next)
	return c
}

// refuseBroken returns the refusal for a rule that could not be evaluated.
func (r rule) refuseBroken(err error) policy.Check {
	return policy.Check{Name: r.id, Result: policy.Fail,
		Message: fmt.Sprintf("Rule %s of policy %s could not be evaluated (%s), so the request is refused.", r.name, r.policy, oneLine(err.Error())),
		Next:    fmt.Sprintf("Ask a platform admin to fix the rule at %s.", r.place)}
}
