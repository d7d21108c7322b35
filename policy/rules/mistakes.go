package rules

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/ocpctl/ocpctl/internal/closest"
)

// mistake is a problem with an expression, and what would be accepted.
type mistake struct{ got, accept string }

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	undefined  = regexp.MustCompile(`^undefined field '([^']*)'`)
	overload   = regexp.MustCompile(`^found no matching overload for '(.*)' applied to '(.*)'$`)
)

// translateErrors translates CEL's errors: an unknown name comes with the known ones.
func (c *compiler) translateErrors(text string, errs []*cel.Error) []mistake {
	parsed, _ := c.env.Parse(text)
	var out []mistake
	for _, err := range errs {
		m := mistake{got: oneLine(err.Message), accept: "an expression in CEL (https://cel.dev) over " + strings.Join(variableNames(), ", ")}
		if found := undeclared.FindStringSubmatch(err.Message); found != nil {
			m.got = fmt.Sprintf("%s is not known", found[1])
			m.accept = suggestNear(found[1], variableNames()) + "one of " + strings.Join(variableNames(), ", ")
			if strings.Contains(text, found[1]+"(") {
				m.accept = suggestNear(found[1], c.functionNames()) + "a function of CEL's standard library or of its strings extension"
			}
		}
		if found := undefined.FindStringSubmatch(err.Message); found != nil {
			path, fields := siblingFields(parsed, err.ExprID)
			m.got = fmt.Sprintf("%s has no field %s", path, found[1])
			m.accept = suggestNear(found[1], fields) + "one of " + strings.Join(fields, ", ")
		}
		if found := overload.FindStringSubmatch(err.Message); found != nil {
			m.got = fmt.Sprintf("%s does not go with %s", strings.Trim(found[1], "_"), found[2])
			m.accept = "values of types that go together, such as a string with a string"
		}
		m.got += describePosition(text, err)
		out = append(out, m)
	}
	return out
}

// describePosition says at which position of the expression the problem is.
func describePosition(text string, err *cel.Error) string {
	switch line, column := err.Location.Line(), err.Location.Column(); {
	case line < 1 || column < 0:
		return ""
	case strings.Contains(strings.TrimSpace(text), "\n"):
		return fmt.Sprintf(" (line %d, column %d of it)", line, column+1)
	default:
		return fmt.Sprintf(" (column %d of it)", column+1)
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// suggestNear begins the list of accepted values with the one that was probably meant.
func suggestNear(word string, known []string) string {
	if meant, ok := closest.Match(word, known); ok {
		return meant + " (closest match); "
	}
	return ""
}

// variableNames returns the variables' names, sorted.
func variableNames() []string { return slices.Sorted(maps.Keys(variables)) }

func (c *compiler) functionNames() []string {
	var out []string
	for name := range c.env.Functions() {
		if word.MatchString(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// siblingFields returns the existing fields where the expression with that id uses an unknown one.
func siblingFields(parsed *cel.Ast, id int64) (path string, fields []string) {
	path = "it"
	if parsed == nil {
		return path, nil
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.ID() != id || e.Kind() != ast.SelectKind {
			return
		}
		if t, name := typeOf(e.AsSelect().Operand()); t != nil {
			path, fields = name, fieldsOf(t)
		}
	}))
	return path, fields
}

// typeOf resolves a variable and its fields, such as "usage.team"; nil for anything else.
func typeOf(e ast.Expr) (reflect.Type, string) {
	switch e.Kind() {
	case ast.IdentKind:
		return variables[e.AsIdent()], e.AsIdent()
	case ast.SelectKind:
		t, name := typeOf(e.AsSelect().Operand())
		if t == nil || t.Kind() != reflect.Struct {
			return nil, ""
		}
		for field := range t.Fields() {
			if field.Tag.Get("cel") == e.AsSelect().FieldName() {
				return field.Type, name + "." + e.AsSelect().FieldName()
			}
		}
	}
	return nil, ""
}

func fieldsOf(t reflect.Type) []string {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []string
	for field := range t.Fields() {
		if name := field.Tag.Get("cel"); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// looksAt reports whether an expression uses the variable.
func looksAt(a *cel.Ast, variable string) bool {
	found := false
	ast.PostOrderVisit(a.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && e.AsIdent() == variable
	}))
	return found
}
