package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/ocpctl/ocpctl/policy"
)

// readsOf lists what an expression reads of the variables, such as request.ttlHours, in the order of the expression and each once.
func readsOf(checked *cel.Ast) (paths []string) {
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind {
			return
		}
		if t, path := typeOf(e); t != nil && (t.Kind() != reflect.Struct) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}))
	return paths
}

// explainCheck adds to a check what its rule read.
func (r rule) explainCheck(check policy.Check, vars map[string]any) policy.Check {
	var values []string
	for _, path := range r.reads {
		values = append(values, path+" is "+formatValue(valueAt(vars, path)))
	}
	if len(values) > 0 {
		check.Message += " (" + strings.Join(values, ", ") + ")"
	}
	return check
}

// explainSkip is the check of a rule whose policy is about other profiles or entry points.
func (r rule) explainSkip() policy.Check {
	var only []string
	if len(r.profiles) > 0 {
		only = append(only, "the profiles "+strings.Join(r.profiles, ", "))
	}
	if len(r.sources) > 0 {
		only = append(only, "requests from "+strings.Join(r.sources, ", "))
	}
	return policy.Check{Name: r.id, Result: policy.Pass, Message: "Does not apply: it is only for " + strings.Join(only, " and for ") + "."}
}

// valueAt returns a field of a variable, such as usage.team.live.
func valueAt(vars map[string]any, path string) any {
	names := strings.Split(path, ".")
	value := reflect.ValueOf(vars[names[0]])
	for _, name := range names[1:] {
		if value.Kind() != reflect.Struct {
			return nil
		}
		for field, at := range value.Fields() {
			if field.Tag.Get("cel") == name {
				value = at
				break
			}
		}
	}
	if !value.IsValid() {
		return nil
	}
	return value.Interface()
}

func formatValue(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	}
	return fmt.Sprint(value)
}
