package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nektos/act/pkg/model"
	"gopkg.in/yaml.v3"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// file is a workflow file: act's model of it, and what act does not read.
type file struct {
	*model.Workflow
	name  string // owner/name/path@ref of one from elsewhere, otherwise its path
	extra extra
}

type extra struct {
	RunName     string    `yaml:"run-name"`
	Permissions yaml.Node `yaml:"permissions"`
	Concurrency yaml.Node `yaml:"concurrency"`
	Jobs        yaml.Node `yaml:"jobs"`
}

// extraJob is what act does not read of a job.
type extraJob struct {
	Environment yaml.Node `yaml:"environment"`
	Permissions yaml.Node `yaml:"permissions"`
	Concurrency yaml.Node `yaml:"concurrency"`
	Services    yaml.Node `yaml:"services"`
	Container   yaml.Node `yaml:"container"`
}

func parse(name, content string) (*file, error) {
	w, err := read(content)
	if err != nil {
		return nil, err
	}
	f := &file{Workflow: w, name: name}
	if err := yaml.Unmarshal([]byte(content), &f.extra); err != nil {
		return nil, err
	}
	return f, nil
}

// keys are the jobs in the order of the file.
func (f *file) keys() []string {
	var out []string
	for i := 0; i+1 < len(f.extra.Jobs.Content); i += 2 {
		out = append(out, f.extra.Jobs.Content[i].Value)
	}
	return out
}

func (f *file) job(key string) (job extraJob, err error) {
	for i := 0; i+1 < len(f.extra.Jobs.Content); i += 2 {
		if f.extra.Jobs.Content[i].Value == key {
			return job, f.extra.Jobs.Content[i+1].Decode(&job)
		}
	}
	return job, fmt.Errorf("the workflow has no job %q", key)
}

// jobs are the jobs as they are written.
func (f *file) jobs() []workflow.PlanJob {
	out := []workflow.PlanJob{}
	for _, key := range f.keys() {
		job := f.GetJob(key)
		needs := job.Needs()
		if needs == nil {
			needs = []string{}
		}
		out = append(out, workflow.PlanJob{Key: key, Name: job.Name, Needs: needs})
	}
	return out
}

// check finds needs without a job.
func (f *file) check() error {
	var errs []error
	for _, job := range f.jobs() {
		for _, need := range job.Needs {
			if f.Jobs[need] == nil {
				errs = append(errs, fmt.Errorf("job %q needs job %q, which the workflow does not have", job.Key, need))
			}
		}
	}
	return errors.Join(errs...)
}

// own reads the run's own workflow file.
func own(scope workflow.Scope) (*file, error) {
	content, ok := scope.Files[scope.Path]
	if !ok {
		return nil, fmt.Errorf("the commit has no file %s", scope.Path)
	}
	return parse(scope.Path, content)
}

// called reads the reusable workflow that a job uses: a file of the same commit, or of a repository that is known here.
func called(scope workflow.Scope, uses string) (*file, error) {
	if path, local := strings.CutPrefix(uses, "./"); local {
		content, ok := scope.Files[path]
		if !ok {
			return nil, fmt.Errorf("the commit has no reusable workflow %s", path)
		}
		return parse(path, content)
	}
	where, _, _ := strings.Cut(uses, "@")
	parts := strings.SplitN(where, "/", 3)
	if len(parts) < 3 {
		return nil, fmt.Errorf("uses: %s names no reusable workflow", uses)
	}
	folder, ok := scope.Repositories[parts[0]+"/"+parts[1]]
	if !ok {
		return nil, fmt.Errorf("the stand-in GitHub has no network and no repository %s/%s", parts[0], parts[1])
	}
	content, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(filepath.Clean("/"+parts[2]))))
	if err != nil {
		return nil, fmt.Errorf("read the reusable workflow %s: %w", uses, err)
	}
	return parse(uses, string(content))
}

// found is a job with all that its expressions refer to.
type found struct {
	*file
	run    *model.Run
	job    *model.Job
	extra  extraJob
	eval   *evaluator
	caller *found // of a job of a reusable workflow
}

// find reads the job's workflow file and prepares its expressions.
func find(scope workflow.Scope, place workflow.Place, cancelled bool) (*found, error) {
	out := &found{}
	var err error
	inputs := map[string]any{}
	if place.Caller == nil {
		if out.file, err = own(scope); err != nil {
			return nil, err
		}
		inputs, err = dispatched(scope, out.Workflow)
	} else {
		if out.caller, err = find(scope, *place.Caller, cancelled); err != nil {
			return nil, err
		}
		if out.file, err = called(scope, out.caller.job.Uses); err != nil {
			return nil, err
		}
		inputs, err = out.caller.inputs(out.WorkflowCallConfig())
	}
	if err != nil {
		return nil, err
	}
	if out.job = out.GetJob(place.Key); out.job == nil {
		return nil, fmt.Errorf("%s has no job %q", out.name, place.Key)
	}
	if out.extra, err = out.file.job(place.Key); err != nil {
		return nil, err
	}
	out.run = &model.Run{Workflow: out.Workflow, JobID: place.Key}
	out.eval, err = newEvaluator(scope, out.run, place, inputs, cancelled)
	return out, err
}

// dispatched returns the inputs of a workflow_dispatch.
func dispatched(scope workflow.Scope, w *model.Workflow) (map[string]any, error) {
	out := map[string]any{}
	config := w.WorkflowDispatchConfig()
	if scope.Event != "workflow_dispatch" || config == nil {
		return out, nil
	}
	var event struct {
		Inputs map[string]any `json:"inputs"`
	}
	if err := unmarshal(scope.Payload, &event); err != nil {
		return nil, err
	}
	for name, input := range config.Inputs {
		given, ok := event.Inputs[name]
		switch {
		case !ok && input.Required && input.Default == "":
			return nil, fmt.Errorf("the input %q is required", name)
		case !ok:
			given = input.Default
		}
		if input.Type == "boolean" {
			given = fmt.Sprint(given) == "true"
		}
		out[name] = given
	}
	return out, nil
}

// inputs are what the job gives to the reusable workflow that it uses.
func (f *found) inputs(config *model.WorkflowCall) (map[string]any, error) {
	out := map[string]any{}
	for name, input := range config.Inputs {
		var value any
		given, ok := f.job.With[name]
		switch {
		case ok:
			value = given
			if text, is := given.(string); is {
				v, err := f.eval.value(text)
				if err != nil {
					return nil, err
				}
				value = v
			}
		case input.Required:
			return nil, fmt.Errorf("%s requires the input %q", f.job.Uses, name)
		default:
			if err := input.Default.Decode(&value); err != nil && input.Default.Kind != 0 {
				return nil, err
			}
		}
		out[name] = value
	}
	return out, nil
}
