package github

import (
	_ "embed"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// schemaText is the implemented part of GitHub's schema, each field with GitHub's own name and type. A query for anything else is
// refused, as GitHub refuses what its schema does not have.
//
//go:embed schema.graphql
var schemaText string

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})

// gqlError is an error in GitHub's form: it has a type in addition to the specification's fields.
type gqlError struct {
	Type       string              `json:"type,omitempty"`
	Path       []any               `json:"path,omitempty"`
	Extensions object              `json:"extensions,omitempty"`
	Locations  []gqlerror.Location `json:"locations,omitempty"`
	Message    string              `json:"message"`
}

// query is one request being answered.
type query struct {
	s      *Server
	w      *world
	c      caller
	vars   map[string]any
	errors []gqlError
	cost   int
}

// postGraphQL answers as GitHub does: always 200, with errors beside the data.
// https://docs.github.com/graphql/guides/forming-calls-with-graphql
func (s *Server) postGraphQL(w http.ResponseWriter, r *http.Request) {
	c, why := s.caller(r)
	switch {
	case why == noCredentials:
		complain(w, http.StatusForbidden, "API rate limit exceeded for anonymous callers.") // GraphQL has no anonymous callers
		return
	case why != "":
		complain(w, http.StatusUnauthorized, string(why))
		return
	case c.app && s.suspended():
		complain(w, http.StatusForbidden, "This installation has been suspended")
		return
	}
	var body struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
		Operation string         `json:"operationName"`
	}
	defer catch(w)
	decodeBody(r, &body)
	if strings.TrimSpace(body.Query) == "" {
		answer(w, http.StatusOK, object{"errors": []gqlError{{Message: "A query attribute must be specified and must be a string."}}})
		return
	}
	op, vars, errs := parse(body.Query, body.Operation, body.Variables)
	if len(errs) > 0 {
		answer(w, http.StatusOK, object{"errors": errs})
		return
	}
	q := &query{s: s, c: c, vars: vars, cost: 1}
	var data object
	if op.Operation == ast.Mutation {
		endOnError(s.change(func(world *world) ([]Event, error) {
			q.w = world
			data = q.fields(mutations{}, op.SelectionSet, nil)
			return nil, nil // GitHub sends no webhook for what can be changed here
		}), "", "")
	} else {
		s.look(func(world *world) {
			q.w = world
			data = q.fields(root{}, op.SelectionSet, nil)
		})
	}
	out := object{"data": data}
	if len(q.errors) > 0 {
		out["errors"] = q.errors
	}
	answer(w, http.StatusOK, out)
}

func parse(text, name string, vars map[string]any) (*ast.OperationDefinition, map[string]any, []gqlError) {
	doc, bad := gqlparser.LoadQueryWithRules(schema, text, rules.NewDefaultRules())
	if len(bad) > 0 {
		return nil, nil, explained(bad)
	}
	op := doc.Operations.ForName(name)
	if op == nil {
		return nil, nil, []gqlError{{Message: "No operation named \"" + name + "\""}}
	}
	values, err := validator.VariableValues(schema, op, vars)
	if err != nil {
		return nil, nil, []gqlError{{Message: err.Error()}}
	}
	return op, values, nil
}

func explained(bad gqlerror.List) []gqlError {
	return pick.Map(bad, func(one *gqlerror.Error) gqlError { return gqlError{Locations: one.Locations, Message: one.Message} })
}

// fields returns the selected fields of an object. Each alias is answered separately: a failed one is null and has an error.
func (q *query) fields(of node, set ast.SelectionSet, path []any) object {
	out := object{}
	for _, one := range set {
		switch one := one.(type) {
		case *ast.Field:
			out[one.Alias] = q.field(of, one, append(path[:len(path):len(path)], one.Alias))
		case *ast.FragmentSpread:
			q.join(out, of, one.Definition.TypeCondition, one.Definition.SelectionSet, path)
		case *ast.InlineFragment:
			q.join(out, of, one.TypeCondition, one.SelectionSet, path)
		}
	}
	return out
}

// join adds a fragment's fields if its type matches.
func (q *query) join(out object, of node, condition string, set ast.SelectionSet, path []any) {
	fits := condition == "" || condition == of.kind()
	for _, name := range schema.GetPossibleTypes(schema.Types[condition]) {
		fits = fits || name.Name == of.kind()
	}
	if !fits {
		return
	}
	maps.Copy(out, q.fields(of, set, path))
}

func (q *query) field(of node, f *ast.Field, path []any) any {
	if f.Name == "__typename" {
		return of.kind()
	}
	value, problem := of.get(q, f.Name, f.ArgumentMap(q.vars))
	if problem != nil {
		problem.Path, problem.Locations = path, []gqlerror.Location{{Line: f.Position.Line, Column: f.Position.Column}}
		q.errors = append(q.errors, *problem)
		return nil
	}
	return q.deep(value, f, path)
}

// deep replaces nodes by their selected fields.
func (q *query) deep(value any, f *ast.Field, path []any) any {
	switch value := value.(type) {
	case node:
		return q.fields(value, f.SelectionSet, path)
	case []node:
		out := []any{}
		for i, one := range value {
			out = append(out, q.fields(one, f.SelectionSet, append(path[:len(path):len(path)], i)))
		}
		return out
	case time.Time:
		return stamp(value)
	}
	return value
}
