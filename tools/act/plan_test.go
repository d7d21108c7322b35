package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

func TestWhichEventsStartAWorkflow(t *testing.T) {
	const jobs = "\njobs: {e2e: {runs-on: x, steps: [{run: echo}]}}\n"
	for name, c := range map[string]struct {
		on    string
		event workflow.Event
		want  bool
	}{
		"a name":                {"on: push", workflow.Event{Name: "push", Branch: "main"}, true},
		"a list":                {"on: [push, pull_request]", workflow.Event{Name: "push", Branch: "main"}, true},
		"another event":         {"on: push", workflow.Event{Name: "pull_request", Action: "opened"}, false},
		"a branch":              {"on: {push: {branches: [main, 'release/**']}}", workflow.Event{Name: "push", Branch: "release/a/b"}, true},
		"another branch":        {"on: {push: {branches: [main]}}", workflow.Event{Name: "push", Branch: "topic"}, false},
		"an ignored branch":     {"on: {push: {branches-ignore: [topic]}}", workflow.Event{Name: "push", Branch: "topic"}, false},
		"tags only":             {"on: {push: {tags: ['v*']}}", workflow.Event{Name: "push", Branch: "main"}, false},
		"a path":                {"on: {push: {paths: ['docs/**', '!docs/a.md']}}", workflow.Event{Name: "push", Paths: []string{"docs/b.md"}}, true},
		"an excluded path":      {"on: {push: {paths: ['docs/**', '!docs/a.md']}}", workflow.Event{Name: "push", Paths: []string{"docs/a.md"}}, false},
		"the usual activities":  {"on: pull_request", workflow.Event{Name: "pull_request", Action: "synchronize"}, true},
		"an unusual activity":   {"on: pull_request", workflow.Event{Name: "pull_request", Action: "labeled"}, false},
		"a named activity":      {"on: {pull_request: {types: [labeled]}}", workflow.Event{Name: "pull_request", Action: "labeled"}, true},
		"the base of a pull":    {"on: {pull_request: {branches: [main]}}", workflow.Event{Name: "pull_request", Action: "opened", Branch: "main"}, true},
		"a dispatch's type":     {"on: {repository_dispatch: {types: [ready]}}", workflow.Event{Name: "repository_dispatch", Action: "ready"}, true},
		"another type":          {"on: {repository_dispatch: {types: [ready]}}", workflow.Event{Name: "repository_dispatch", Action: "failed"}, false},
		"a dispatch of any":     {"on: repository_dispatch", workflow.Event{Name: "repository_dispatch", Action: "failed"}, true},
		"a deployment's status": {"on: deployment_status", workflow.Event{Name: "deployment_status", Action: "created"}, true},
	} {
		out := triggers(workflow.TriggersOrder{Files: map[string]string{"w.yml": c.on + jobs}, Event: c.event})
		require.Equal(t, c.want, len(out) == 1, name)
		if c.want {
			require.Empty(t, out[0].Error, name)
		}
	}
}

func TestAFileThatCannotBeReadIsStartedByItsPush(t *testing.T) {
	order := workflow.TriggersOrder{Files: map[string]string{"w.yml": "on: push\njobs: {e2e: {step: []}}"}, Event: workflow.Event{Name: "push", Paths: []string{"w.yml"}}}
	require.NotEmpty(t, triggers(order)[0].Error)
	order.Event.Paths = []string{"README.md"}
	require.Empty(t, triggers(order))
}

// scope is a push by maya with one workflow file.
func scope(content string) workflow.Scope {
	return workflow.Scope{
		Path: "w.yml", Files: map[string]string{"w.yml": content}, Actor: "maya", Event: "push", Payload: json.RawMessage(`{"forced":true}`),
		Env: map[string]string{"GITHUB_REF": "refs/heads/main", "GITHUB_REPOSITORY": "acme/shop"},
	}
}

func TestThePlanKeepsTheOrderOfTheFile(t *testing.T) {
	out := plan(workflow.PlanOrder{Scope: scope(`
run-name: "for ${{ github.actor }}: ${{ github.event.forced }} }}"
on: push
concurrency: {group: "e2e-${{ github.ref }}", cancel-in-progress: "${{ github.ref == 'refs/heads/main' }}"}
jobs:
  zebra: {runs-on: x, steps: [{run: echo}]}
  ant: {name: The ant, needs: [zebra], runs-on: x, steps: [{run: echo}]}
`)})
	require.Equal(t, workflow.Plan{
		Title: "for maya: true }}", Concurrency: workflow.Concurrency{Group: "e2e-refs/heads/main", Cancel: true},
		Jobs: []workflow.PlanJob{{Key: "zebra", Name: "zebra", Needs: []string{}}, {Key: "ant", Name: "The ant", Needs: []string{"zebra"}}},
	}, out)
	for text, want := range map[string]string{
		"on: push\njobs: {e2e: {needs: x, runs-on: x, steps: [{run: echo}]}}":                      `needs job "x"`,
		"on: push\njobs: {e2e: {runs-on: x, steps: []}}\nrun-name: ${{ github.nothing( }}":         "Line: 3",
		"on: push\njobs: {e2e: {runs-on: x, timeout-minutes: [], steps: [{run: echo}]}}\nenv: [1]": "timeout-minutes",
		"on: workflow_dispatch\njobs: {e2e: {runs-on: x, steps: [{run: echo}]}}\nconcurrency: ${{": "Line: 3",
	} {
		require.Contains(t, plan(workflow.PlanOrder{Scope: scope(text)}).Error, want)
	}
}

func readyOf(t *testing.T, content string, place workflow.Place, cancelled bool) workflow.Ready {
	t.Helper()
	return ready(workflow.ReadyOrder{Scope: scope(content), Place: place, Cancelled: cancelled})
}

func TestAMatrixIsNamedAndOrderedAsItIsWritten(t *testing.T) {
	out := readyOf(t, `
on: push
permissions: {id-token: write}
jobs:
  e2e:
    strategy: {fail-fast: false, max-parallel: 2, matrix: {zone: [b, a], n: [10, 9], exclude: [{zone: a, n: 9}], include: [{zone: b, n: 10, big: true}, {zone: c}]}}
    environment: {name: "ocp/${{ matrix.zone }}", url: https://example.com}
    runs-on: [self-hosted, "${{ matrix.zone }}"]
    timeout-minutes: 5
    steps: [{run: "echo one\necho two"}, {uses: actions/checkout@v4}, {name: "In ${{ matrix.zone }} ${{ steps.x.outputs.y }}", run: echo}, {run: "echo ${{ matrix.n }}"}]
`, workflow.Place{Key: "e2e"}, false)
	require.Empty(t, out.Error)
	require.True(t, out.Run)
	require.Equal(t, []any{false, 2}, []any{out.FailFast, out.MaxParallel})
	var names []string
	for _, one := range out.Instances {
		names = append(names, one.Name)
	}
	require.Equal(t, []string{"e2e (b, 10, true)", "e2e (b, 9)", "e2e (a, 10)", "e2e (c)"}, names)
	first := out.Instances[0]
	require.Equal(t, "ocp/b", first.Environment)
	require.Equal(t, []string{"self-hosted", "b"}, first.Labels)
	require.Equal(t, []string{"Run echo one", "Run actions/checkout@v4", "In ${{ matrix.zone }} ${{ steps.x.outputs.y }}", "Run echo 10"}, first.Steps)
	require.True(t, first.IDToken)
}

func TestTheConditionOfAJob(t *testing.T) {
	const file = "on: push\njobs:\n  a: {runs-on: x, steps: [{run: echo}]}\n  b: {needs: a%, runs-on: x, steps: [{run: echo}]}\n"
	for name, c := range map[string]struct {
		condition, result string
		cancelled, want   bool
	}{
		"none":                          {"", "success", false, true},
		"none, after a failure":         {"", "failure", false, false},
		"an expression":                 {"needs.a.outputs.go == 'yes'", "success", false, true},
		"an expression in braces":       {`"${{ needs.a.outputs.go == 'no' }}"`, "success", false, false},
		"it implies success":            {"needs.a.outputs.go == 'yes'", "failure", false, false},
		"failure()":                     {"failure()", "failure", false, true},
		"always(), cancelled":           {"always()", "cancelled", true, true},
		"cancelled(), cancelled":        {"cancelled()", "cancelled", true, true},
		"success(), cancelled":          {"success()", "success", true, false},
		"none, cancelled":               {"", "success", true, false},
		"!cancelled(), after a failure": {`"!cancelled()"`, "failure", false, true},
	} {
		text := ""
		for _, r := range file {
			switch {
			case r != '%':
				text += string(r)
			case c.condition != "":
				text += ", if: " + c.condition
			}
		}
		place := workflow.Place{Key: "b", Needs: map[string]workflow.Need{"a": {Result: c.result, Outputs: map[string]string{"go": "yes"}}}}
		out := readyOf(t, text, place, c.cancelled)
		require.Empty(t, out.Error, name)
		require.Equal(t, c.want, out.Run, name)
	}
}

func TestAJobOfAReusableWorkflowHasItsInputsAndNoMoreRights(t *testing.T) {
	s := scope(`
on: push
permissions: {contents: read}
jobs: {call: {uses: ./.github/workflows/shared.yml, with: {name: "${{ github.actor }}"}}}
`)
	s.Files[".github/workflows/shared.yml"] = `
on: {workflow_call: {inputs: {name: {type: string, required: true}, n: {type: number, default: 3}}}}
permissions: {id-token: write}
jobs: {one: {name: "one ${{ inputs.name }} ${{ inputs.n }}", runs-on: x, steps: [{run: echo}]}}
`
	out := ready(workflow.ReadyOrder{Scope: s, Place: workflow.Place{Key: "call"}})
	require.Equal(t, []workflow.PlanJob{{Key: "one", Name: "one ${{ inputs.name }} ${{ inputs.n }}", Needs: []string{}}}, out.Calls)
	out = ready(workflow.ReadyOrder{Scope: s, Place: workflow.Place{Key: "one", Caller: &workflow.Place{Key: "call"}}})
	require.Empty(t, out.Error)
	require.Equal(t, "one maya 3", out.Instances[0].Name)
	require.Equal(t, ".github/workflows/shared.yml", out.Instances[0].Workflow)
	require.False(t, out.Instances[0].IDToken, "the caller has not got it")
	delete(s.Files, ".github/workflows/shared.yml")
	out = ready(workflow.ReadyOrder{Scope: s, Place: workflow.Place{Key: "call"}})
	require.Contains(t, out.Error, "no reusable workflow")
}

func TestWorkflowCommandsAreRead(t *testing.T) {
	for raw, want := range map[string]map[string]string{
		"::error file=a.go,line=3,title=Bad: thing%2C too::it%0Abroke: x": {"command": "error", "file": "a.go", "line": "3", "title": "Bad: thing, too"},
		"::group::A group":     {"command": "group"},
		"::notice title=a=b::": {"command": "notice", "title": "a=b"},
	} {
		params, _ := parameters(raw)
		require.Equal(t, want, params, raw)
	}
	_, text := parameters("::error file=a.go,line=3,title=Bad: thing%2C too::it%0Abroke: x")
	require.Equal(t, "it\nbroke: x", text)
}
