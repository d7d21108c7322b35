package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// The bounds of one rule. A typical rule costs less than a hundred; a rule that reaches the limit refuses.
const (
	mostCost   = 10_000          // in CEL's units, each roughly one step or a hundred bytes of text
	mostText   = 4000            // characters of an expression
	mostNodes  = 2000            // nodes of the expression, with macros expanded
	mostDepth  = 50              // nesting depth of brackets
	mostRegexp = 500             // instructions of a regular expression
	mostWait   = 1 * time.Second // for all rules of a request together; the cost limit normally applies first, this one is for a stalled machine
	checkEvery = 100             // loop steps between two checks of the time
)

// compiler compiles policies into rules and collects their problems.
type compiler struct {
	env      *cel.Env
	set      Set
	problems profiles.Problems
}

// Compile checks and compiles every rule of the policies. It returns all problems at once, each with file, line, field and what would
// be accepted; the set is nil then.
func Compile(policies []profiles.Policy) (*Set, profiles.Problems) {
	env, err := newEnvironment()
	if err != nil {
		return nil, profiles.Problems{{File: "policies", Got: err.Error(), Accept: "an environment for rules, which is this program's own; it has a mistake"}}
	}
	c := compiler{env: env}
	for _, p := range policies {
		c.compilePolicy(p)
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return &c.set, nil
}

func newEnvironment() (*cel.Env, error) {
	opts := append(declareVariables(),
		ext.Strings(ext.StringsVersion(5)), cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(mostText), cel.ExpressionNodeLimit(mostNodes), cel.ParserRecursionLimit(mostDepth), cel.RegexProgramSizeLimit(mostRegexp))
	return cel.NewEnv(opts...)
}

func (c *compiler) compilePolicy(p profiles.Policy) {
	for i, source := range p.Sources {
		if !slices.ContainsFunc(policy.Sources, func(d policy.Source) bool { return profiles.Fits(source, string(d)) }) {
			names := listSources()
			c.addProblem(p, p.Line, fmt.Sprintf("match.sources[%d]", i), fmt.Sprintf("%q", source), suggestNear(source, names)+"one of "+strings.Join(names, ", "))
		}
	}
	for i, r := range p.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		before := len(c.problems)
		one := rule{
			id: policy.RuleID(p, r), policy: p.Name, name: r.Name, place: fmt.Sprintf("%s:%d", p.File, r.Line), sources: p.Sources, profiles: p.Profiles,
			effect: r.Effect, message: r.Message, next: r.Next, approval: toApproval(r.Approval), set: sortSettings(r.Set),
		}
		one.program, one.reads = c.compileExpression(p, r, at)
		c.checkEffect(p, r, at)
		if len(c.problems) > before {
			continue
		}
		switch {
		case r.Effect != profiles.EffectDefault:
			c.set.judges = append(c.set.judges, one)
		case r.Set["profile"] != "":
			c.set.choosers = append(c.set.choosers, one)
		default:
			c.set.defaults = append(c.set.defaults, one)
		}
	}
}

// compileExpression type-checks and compiles an expression, and returns with it what it reads.
func (c *compiler) compileExpression(p profiles.Policy, r profiles.Rule, at string) (program cel.Program, reads []string) {
	if strings.TrimSpace(r.When) == "" {
		c.addProblem(p, r.Line, at+".when", "missing", `a CEL expression that is a bool, such as "request.ttlHours > 24"`)
		return nil, nil
	}
	ast, issues := c.env.Compile(r.When)
	if issues.Err() != nil {
		for _, m := range c.translateErrors(r.When, issues.Errors()) {
			c.addProblem(p, r.Line, at+".when", m.got, m.accept)
		}
		return nil, nil
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		c.addProblem(p, r.Line, at+".when", "it is of the type "+cel.FormatCELType(ast.OutputType()), "a bool: a comparison, or several with && and ||")
		return nil, nil
	}
	if r.Effect == profiles.EffectDefault && r.Set["profile"] != "" {
		c.checkChooser(p, r, at, ast)
	}
	program, err := c.env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(mostCost), cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		c.addProblem(p, r.Line, at+".when", err.Error(), "an expression that can be evaluated")
		return nil, nil
	}
	return program, readsOf(ast)
}

// checkChooser checks that a rule that fills in the profile reads nothing that depends on the profile: it runs while none is known.
func (c *compiler) checkChooser(p profiles.Policy, r profiles.Rule, at string, ast *cel.Ast) {
	for _, name := range []string{"profile", "price"} {
		if looksAt(ast, name) {
			c.addProblem(p, r.Line, at+".when", "it looks at "+name+" and fills in the profile", "a rule over the other variables: no profile is known when it is asked")
		}
	}
	if len(p.Profiles) > 0 {
		c.addProblem(p, r.Line, at+".set.profile", "a policy for some profiles fills in the profile", "a policy without match.profiles")
	}
}

// checkEffect checks what a rule does.
func (c *compiler) checkEffect(p profiles.Policy, r profiles.Rule, at string) {
	effects := []string{string(profiles.EffectDeny), string(profiles.EffectWarn), string(profiles.EffectRequireApproval), string(profiles.EffectDefault)}
	switch {
	case !slices.Contains(effects, string(r.Effect)):
		c.addProblem(p, r.Line, at+".effect", fmt.Sprintf("%q", r.Effect), suggestNear(string(r.Effect), effects)+"one of "+strings.Join(effects, ", "))
	case r.Effect != profiles.EffectDefault && strings.TrimSpace(r.Message) == "":
		c.addProblem(p, r.Line, at+".message", "missing", "words for people")
	case r.Effect == profiles.EffectDefault && len(r.Set) == 0:
		c.addProblem(p, r.Line, at+".set", "missing", "some of "+strings.Join(profiles.Settable, ", "))
	}
	for _, s := range sortSettings(r.Set) {
		hours, err := strconv.Atoi(s.value)
		switch {
		case !slices.Contains(profiles.Settable, s.field):
			c.addProblem(p, r.Line, at+".set."+s.field, "there is no such field", suggestNear(s.field, profiles.Settable)+"one of "+strings.Join(profiles.Settable, ", "))
		case s.field == "ttlHours" && (err != nil || hours < 1 || hours > mostHours):
			c.addProblem(p, r.Line, at+".set."+s.field, fmt.Sprintf("%q", s.value), fmt.Sprintf("a whole number from 1 to %d", mostHours))
		case s.field == "priority" && (err != nil || hours < -profiles.MostPriority || hours > profiles.MostPriority):
			c.addProblem(p, r.Line, at+".set."+s.field, fmt.Sprintf("%q", s.value), fmt.Sprintf("a whole number from -%d to %d", profiles.MostPriority, profiles.MostPriority))
		case strings.TrimSpace(s.value) == "":
			c.addProblem(p, r.Line, at+".set."+s.field, "empty", "a value")
		}
	}
}

func (c *compiler) addProblem(p profiles.Policy, line int, field, got, accept string) {
	c.problems = append(c.problems, profiles.Problem{File: p.File, Line: line, Field: field, Got: got, Accept: accept})
}

func toApproval(t profiles.ApprovalTerms) *policy.Approval {
	return &policy.Approval{Count: t.Count, Self: t.Self, By: policy.Role(t.By), For: t.For}
}

func listSources() []string {
	names := make([]string, 0, len(policy.Sources))
	for _, d := range policy.Sources {
		names = append(names, string(d))
	}
	return names
}

var errNotBool = errors.New("it is no bool")
