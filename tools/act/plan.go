package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nektos/act/pkg/exprparser"
	"github.com/nektos/act/pkg/model"
	"gopkg.in/yaml.v3"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

func unmarshal(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

func plan(order workflow.PlanOrder) (out workflow.Plan) {
	err := caught(func() error {
		f, err := own(order.Scope)
		if err != nil {
			return err
		}
		if err := f.check(); err != nil {
			return err
		}
		inputs, err := dispatched(order.Scope, f.Workflow)
		if err != nil {
			return err
		}
		eval, err := newEvaluator(order.Scope, &model.Run{Workflow: f.Workflow}, workflow.Place{}, inputs, false)
		if err != nil {
			return err
		}
		if out.Title, err = eval.text(f.extra.RunName); err != nil {
			return fmt.Errorf("run-name: %w", err)
		}
		if out.Concurrency, err = eval.concurrency(&f.extra.Concurrency); err != nil {
			return err
		}
		out.Jobs = f.jobs()
		return nil
	})
	if err != nil {
		out.Error = err.Error()
	}
	return out
}

func ready(order workflow.ReadyOrder) (out workflow.Ready) {
	err := caught(func() error {
		f, err := find(order.Scope, order.Place, order.Cancelled)
		if err != nil {
			return err
		}
		if out.Run, err = f.runs(order.Cancelled); err != nil || !out.Run {
			return err
		}
		if f.extra.Container.Kind != 0 || f.extra.Services.Kind != 0 {
			return fmt.Errorf("the job %q asks for a container; the stand-in GitHub runs jobs without any", order.Key)
		}
		if f.job.Uses != "" {
			if f.caller != nil {
				return fmt.Errorf("the reusable workflow %s uses another one, which the stand-in GitHub does not do", f.name)
			}
			target, err := called(order.Scope, f.job.Uses)
			if err != nil {
				return err
			}
			if err := target.check(); err != nil {
				return err
			}
			out.Calls = target.jobs()
		}
		return f.instances(order, &out)
	})
	if err != nil {
		out = workflow.Ready{Run: true, Error: err.Error()}
	}
	return out
}

// runs evaluates the job's condition. Without a function for the state, all jobs that it needs must have succeeded.
func (f *found) runs(cancelled bool) (bool, error) {
	condition := strings.ToLower(f.job.If.Value)
	if cancelled && !strings.Contains(condition, "always(") && !strings.Contains(condition, "cancelled(") && !strings.Contains(condition, "failure(") {
		return false, nil
	}
	text := strings.TrimSpace(f.job.If.Value)
	if inside, ok := strings.CutPrefix(text, "${{"); ok {
		if end := closing(inside); end >= 0 && inside[end+2:] == "" {
			text = inside[:end]
		}
	}
	v, err := f.eval.expression(text, exprparser.DefaultStatusCheckSuccess)
	if err != nil {
		return false, fmt.Errorf("if: %s: %w", text, err)
	}
	return exprparser.IsTruthy(v), nil
}

// instances fills in what the job becomes: one instance for each combination of its matrix.
func (f *found) instances(order workflow.ReadyOrder, out *workflow.Ready) error {
	combinations, names, err := f.matrix()
	if err != nil {
		return fmt.Errorf("strategy.matrix: %w", err)
	}
	out.FailFast = true
	if f.job.Strategy != nil {
		out.FailFast, out.MaxParallel = f.job.Strategy.GetFailFast(), 0
		if f.job.Strategy.MaxParallelString != "" {
			out.MaxParallel = f.job.Strategy.GetMaxParallel()
		}
	}
	for i, matrix := range combinations {
		f.eval.env.Matrix = matrix
		one, err := f.instance(names[i])
		if err != nil {
			return err
		}
		one.Matrix = matrix
		out.Instances = append(out.Instances, one)
	}
	return nil
}

func (f *found) instance(suffix string) (out workflow.Instance, err error) {
	if out.Name, err = f.eval.text(f.job.Name); err != nil {
		return out, fmt.Errorf("name: %w", err)
	}
	if suffix != "" && !strings.Contains(f.job.Name, "matrix.") {
		out.Name += " (" + suffix + ")"
	}
	environment, err := f.eval.node(&f.extra.Environment)
	if err != nil {
		return out, fmt.Errorf("environment: %w", err)
	}
	switch e := environment.(type) {
	case string:
		out.Environment = e
	case map[string]any:
		out.Environment, _ = e["name"].(string)
	}
	if out.Concurrency, err = f.eval.concurrency(&f.extra.Concurrency); err != nil {
		return out, err
	}
	if out.Labels, err = f.labels(); err != nil {
		return out, err
	}
	minutes, err := f.eval.text(f.job.TimeoutMinutes)
	if err != nil {
		return out, fmt.Errorf("timeout-minutes: %w", err)
	}
	out.Timeout = 6 * time.Hour
	if minutes != "" {
		n, err := strconv.ParseFloat(minutes, 64)
		if err != nil {
			return out, fmt.Errorf("timeout-minutes: %q is no number", minutes)
		}
		out.Timeout = time.Duration(n * float64(time.Minute))
	}
	out.IDToken = f.mayIdentify()
	out.Steps = []string{}
	for _, s := range f.job.Steps {
		out.Steps = append(out.Steps, f.stepName(s))
	}
	if f.caller != nil {
		out.Workflow = f.name
	}
	return out, nil
}

// labels are those of runs-on.
func (f *found) labels() ([]string, error) {
	v, err := f.eval.node(&f.job.RawRunsOn)
	if err != nil {
		return nil, fmt.Errorf("runs-on: %w", err)
	}
	out := []string{}
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, one := range v {
			out = append(out, fmt.Sprint(one))
		}
	case map[string]any:
		if labels, ok := v["labels"]; ok {
			out = append(out, fmt.Sprint(labels))
		}
	}
	return out, nil
}

// stepName is a step's name as GitHub shows it before the job runs: it may refer to everything but what steps do.
func (f *found) stepName(s *model.Step) string {
	name := writtenName(s)
	if strings.Contains(name, "steps.") || strings.Contains(name, "env.") {
		return name
	}
	text, err := f.eval.text(name)
	if err != nil {
		return name
	}
	return text
}

func writtenName(s *model.Step) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Uses != "":
		return "Run " + s.Uses
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.Run), "\n")
	return "Run " + line
}

// mayIdentify reports whether the job has permissions: id-token: write. A reusable workflow never has more than the job that uses it.
func (f *found) mayIdentify() bool {
	has := func(n *yaml.Node, otherwise bool) bool {
		var all string
		var each map[string]string
		switch {
		case n.Kind == 0:
			return otherwise
		case n.Kind == yaml.ScalarNode && n.Decode(&all) == nil:
			return all == "write-all"
		}
		return n.Decode(&each) == nil && each["id-token"] == "write"
	}
	limit := true
	otherwise := false
	if f.caller != nil {
		limit = f.caller.mayIdentify()
		otherwise = limit
	}
	return limit && has(&f.extra.Permissions, has(&f.file.extra.Permissions, otherwise))
}

// matrix returns the combinations in the order of the file, and the values of each as GitHub puts them behind a job's name.
func (f *found) matrix() (combinations []map[string]any, names []string, err error) {
	if f.job.Strategy == nil || f.job.Strategy.RawMatrix.Kind == 0 {
		return []map[string]any{{}}, []string{""}, nil
	}
	raw := &f.job.Strategy.RawMatrix
	v, err := f.eval.node(raw)
	if err != nil {
		return nil, nil, err
	}
	values, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("%v is no mapping", v)
	}
	keys := order(raw, values)
	var plain yaml.Node
	if err := plain.Encode(values); err != nil {
		return nil, nil, err
	}
	f.job.Strategy.RawMatrix = plain
	if combinations, err = f.job.GetMatrixes(); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(combinations, func(a, b map[string]any) int {
		for _, key := range keys {
			list, _ := values[key].([]any)
			if d := position(list, a[key]) - position(list, b[key]); d != 0 {
				return d
			}
		}
		return 0
	})
	for _, one := range combinations {
		names = append(names, shown(one, keys))
	}
	return combinations, names, nil
}

// order are the keys of the matrix as they are written; of one that an expression makes, in alphabetical order.
func order(raw *yaml.Node, values map[string]any) []string {
	var out []string
	if raw.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(raw.Content); i += 2 {
			out = append(out, raw.Content[i].Value)
		}
	} else {
		out = slices.Sorted(maps.Keys(values))
	}
	return slices.DeleteFunc(out, func(key string) bool { return key == "include" || key == "exclude" })
}

func position(list []any, v any) int {
	for i, one := range list {
		if fmt.Sprint(one) == fmt.Sprint(v) {
			return i
		}
	}
	return len(list)
}

func shown(one map[string]any, keys []string) string {
	all := slices.Clone(keys)
	for _, key := range slices.Sorted(maps.Keys(one)) {
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	var out []string
	for _, key := range all {
		if v, ok := one[key]; ok {
			out = append(out, fmt.Sprint(v))
		}
	}
	return strings.Join(out, ", ")
}

func outputs(order workflow.OutputsOrder) (out workflow.Outputs) {
	out.Outputs = map[string]string{}
	err := caught(func() error {
		f, err := find(order.Scope, order.Place, false)
		if err != nil {
			return err
		}
		target, err := called(order.Scope, f.job.Uses)
		if err != nil {
			return err
		}
		results := map[string]*model.WorkflowCallResult{}
		for key, need := range order.Jobs {
			results[key] = &model.WorkflowCallResult{Outputs: need.Outputs}
		}
		eval, err := newEvaluator(order.Scope, &model.Run{Workflow: target.Workflow}, workflow.Place{}, nil, false)
		if err != nil {
			return err
		}
		eval.env.Jobs = &results
		for name, output := range target.WorkflowCallConfig().Outputs {
			if out.Outputs[name], err = eval.text(output.Value); err != nil {
				return fmt.Errorf("the output %q: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		out.Error = err.Error()
	}
	return out
}
