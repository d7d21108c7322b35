package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nektos/act/pkg/exprparser"
	"github.com/nektos/act/pkg/model"
	"gopkg.in/yaml.v3"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// evaluator evaluates the expressions of one job outside its steps, or of a workflow without one.
type evaluator struct {
	env exprparser.EvaluationEnvironment
	run *model.Run
}

// newEvaluator prepares the contexts: github, needs, matrix, inputs, and the state of the run.
func newEvaluator(scope workflow.Scope, run *model.Run, place workflow.Place, inputs map[string]any, cancelled bool) (*evaluator, error) {
	github := &model.GithubContext{
		Event: map[string]any{}, EventName: scope.Event, Actor: scope.Actor, Workflow: scope.Env["GITHUB_WORKFLOW"], Job: place.Key,
		RunID: scope.Env["GITHUB_RUN_ID"], RunAttempt: scope.Env["GITHUB_RUN_ATTEMPT"], RunNumber: scope.Env["GITHUB_RUN_NUMBER"],
		Repository: scope.Env["GITHUB_REPOSITORY"], RepositoryOwner: scope.Env["GITHUB_REPOSITORY_OWNER"], Sha: scope.Env["GITHUB_SHA"],
		Ref: scope.Env["GITHUB_REF"], RefName: scope.Env["GITHUB_REF_NAME"], RefType: scope.Env["GITHUB_REF_TYPE"],
		HeadRef: scope.Env["GITHUB_HEAD_REF"], BaseRef: scope.Env["GITHUB_BASE_REF"],
		ServerURL: scope.Env["GITHUB_SERVER_URL"], APIURL: scope.Env["GITHUB_API_URL"],
	}
	if len(scope.Payload) > 0 {
		if err := json.Unmarshal(scope.Payload, &github.Event); err != nil {
			return nil, fmt.Errorf("read the event: %w", err)
		}
	}
	needs := map[string]exprparser.Needs{}
	if job := run.Job(); job != nil {
		for _, key := range job.Needs() {
			needs[key] = exprparser.Needs{Outputs: place.Needs[key].Outputs, Result: place.Needs[key].Result}
		}
	}
	for key, need := range place.Needs {
		if job := run.Workflow.Jobs[key]; job != nil {
			job.Result, job.Outputs = need.Result, need.Outputs
		}
	}
	state := "success"
	if cancelled {
		state = "cancelled"
	}
	return &evaluator{run: run, env: exprparser.EvaluationEnvironment{
		Github: github, Needs: needs, Matrix: place.Matrix, Inputs: inputs, Job: &model.JobContext{Status: state},
	}}, nil
}

// expression evaluates the inside of ${{ }}.
func (e *evaluator) expression(text string, check exprparser.DefaultStatusCheck) (any, error) {
	return exprparser.NewInterpeter(&e.env, exprparser.Config{Run: e.run, Context: "job"}).Evaluate(text, check)
}

// value evaluates a text: one that is a single expression gets the expression's own type, any other is a string.
func (e *evaluator) value(text string) (any, error) {
	var out strings.Builder
	rest := text
	for {
		before, after, found := strings.Cut(rest, "${{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		end := closing(after)
		if end < 0 {
			return nil, fmt.Errorf("%q: an expression does not end with }}", text)
		}
		inside := after[:end]
		rest = after[end+2:]
		if out.Len() == 0 && rest == "" {
			return e.expression(inside, exprparser.DefaultStatusCheckNone)
		}
		part, err := e.expression("format('{0}', "+inside+")", exprparser.DefaultStatusCheckNone)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		fmt.Fprint(&out, part)
	}
}

// closing returns where an expression ends; }} in a string does not end it.
func closing(text string) int {
	quoted := false
	for i := range text {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], "}}"):
			return i
		}
	}
	return -1
}

// text evaluates to a string.
func (e *evaluator) text(text string) (string, error) {
	v, err := e.value(text)
	switch v := v.(type) {
	case nil:
		return "", err
	case string:
		return v, err
	}
	return fmt.Sprint(v), err
}

// node evaluates every expression in a part of the file.
func (e *evaluator) node(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		if strings.Contains(n.Value, "${{") {
			return e.value(n.Value)
		}
		var out any
		err := n.Decode(&out)
		return out, err
	case yaml.SequenceNode:
		out := []any{}
		for _, one := range n.Content {
			v, err := e.node(one)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := e.node(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[n.Content[i].Value] = v
		}
		return out, nil
	}
	return nil, nil
}

// concurrency evaluates concurrency: a group's name, or a group with cancel-in-progress.
func (e *evaluator) concurrency(n *yaml.Node) (out workflow.Concurrency, err error) {
	v, err := e.node(n)
	if err != nil {
		return out, fmt.Errorf("concurrency: %w", err)
	}
	switch v := v.(type) {
	case string:
		out.Group = v
	case map[string]any:
		out.Group, _ = v["group"].(string)
		out.Cancel, _ = v["cancel-in-progress"].(bool)
	}
	return out, nil
}
