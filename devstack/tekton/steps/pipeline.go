package steps

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// PipelineRun is a Pipeline to run.
type PipelineRun struct {
	Name, UID string
	Params    []Param
}

// RunPipeline runs the tasks of a Pipeline in their order until one fails, and then those in finally, whatever came before. The first
// error is returned, with what every task that ran left behind.
func (m Machine) RunPipeline(ctx context.Context, p Pipeline, r PipelineRun) (map[string]Outcome, error) {
	values, err := bound(p.Params, r.Params)
	if err != nil {
		return nil, err
	}
	values["context.pipelineRun.name"], values["context.pipelineRun.uid"] = r.Name, r.UID
	out := map[string]Outcome{}
	run := func(t PipelineTask) (err error) {
		defer must.Catch(&err)
		task, known := m.Tasks[t.TaskRef.Name]
		if t.TaskSpec != nil {
			// What a Task in a Pipeline does not declare are the Pipeline's parameters.
			// https://tekton.dev/docs/pipelines/pipelineruns/#propagated-parameters
			task, known = t.TaskSpec.propagated(p.Params, values), true
		}
		must.FailIf(!known, "there is no Task %s", t.TaskRef.Name)
		one := TaskRun{Name: r.Name + "-" + t.Name, UID: r.UID + "-" + t.Name, Labels: map[string]string{
			"tekton.dev/pipelineRun": r.Name, "tekton.dev/pipelineRunUID": r.UID, "tekton.dev/pipelineTask": t.Name,
		}}
		for _, given := range t.Params {
			given.Value = replace(given.Value, values)
			must.FailIf(strings.Contains(given.Value, "$("), "the parameter %s has no value: %s", given.Name, given.Value)
			one.Params = append(one.Params, given)
		}
		outcome, err := m.Run(ctx, task, one)
		out[t.Name] = outcome
		for name, value := range outcome.Results {
			values["tasks."+t.Name+".results."+name] = value
		}
		if err != nil {
			return fmt.Errorf("task %s: %w\n%s", t.Name, err, outcome.Log)
		}
		return nil
	}
	var failed error
	for _, t := range p.Tasks {
		if failed == nil {
			failed = run(t)
		}
	}
	for _, t := range p.Finally {
		if err := run(t); failed == nil {
			failed = err
		}
	}
	return out, failed
}

// propagated returns the Task with the values of the Pipeline's parameters that it does not declare itself.
func (t Task) propagated(params []Param, values map[string]string) Task {
	for _, p := range params {
		value := values["params."+p.Name]
		declared := false
		for _, own := range t.Params {
			declared = declared || own.Name == p.Name
		}
		if !declared {
			t.Params = append(append([]Param(nil), t.Params...), Param{Name: p.Name, Default: &value})
		}
	}
	return t
}
