package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Machine is where steps run.
type Machine struct {
	Catalog
	Dir  string // for the files of its pods
	Path string // PATH of the steps: what their images have
	// Token returns the token of the pods' service account for an audience.
	Token func(audience string) (string, error)
	CA    []byte   // ca.crt in the volume with the token; nil: none
	Env   []string // more variables of the steps, as their images have
}

// TaskRun is a Task to run.
type TaskRun struct {
	Name, UID  string
	Labels     map[string]string
	Params     []Param
	Workspaces map[string]string // the directory of each that is bound
}

// Outcome is what a Task left behind.
type Outcome struct {
	Log     string            // of all its steps
	Results map[string]string // of the Task
	Steps   map[string]string // all results of its steps, by step and name: "create.clusterName"
	Volumes string            // the directory with its volumes
}

// Run runs the steps of a Task one after the other, until one fails. An error says which.
func (m Machine) Run(ctx context.Context, task Task, r TaskRun) (Outcome, error) {
	pod := filepath.Join(m.Dir, r.UID)
	out := Outcome{Results: map[string]string{}, Steps: map[string]string{}, Volumes: filepath.Join(pod, "volumes")}
	variables := map[string]string{"context.taskRun.name": r.Name, "context.taskRun.uid": r.UID, "context.taskRun.namespace": "ci"}
	for name, dir := range r.Workspaces {
		variables["workspaces."+name+".path"], variables["workspaces."+name+".bound"] = dir, "true"
	}
	all, err := m.Resolve(task, r.Params, variables)
	if err == nil {
		err = m.volumes(task, r, out.Volumes)
	}
	var log bytes.Buffer
	for _, step := range all {
		if err == nil {
			err = m.step(ctx, step, pod, r.Labels, &out, &log)
		}
	}
	out.Log = log.String()
	for _, result := range task.Results {
		if value := replace(result.Value, ofSteps(out.Steps)); !strings.Contains(value, "$(") {
			out.Results[result.Name] = value
		}
	}
	return out, err
}

// ofSteps are the variables of steps' results.
func ofSteps(results map[string]string) map[string]string {
	values := map[string]string{}
	for name, value := range results {
		step, result, _ := strings.Cut(name, ".")
		values["steps."+step+".results."+result] = value
	}
	return values
}

// volumes makes a directory for each volume, with the service account's token in projected ones.
func (m Machine) volumes(task Task, r TaskRun, dir string) (err error) {
	defer must.Catch(&err)
	values := must.Get(bound(task.Params, r.Params))
	for _, v := range task.Volumes {
		at := filepath.Join(dir, v.Name)
		must.Do(os.MkdirAll(at, 0o755))
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			account := source.ServiceAccountToken
			if account.Path == "" { // a ConfigMap
				continue
			}
			token, err := m.Token(replace(account.Audience, values))
			if err == nil {
				err = os.WriteFile(filepath.Join(at, account.Path), []byte(token), 0o600)
			}
			must.Do(err)
		}
		if m.CA != nil {
			must.Do(os.WriteFile(filepath.Join(at, "ca.crt"), m.CA, 0o600))
		}
	}
	return nil
}

// step runs one step and reads its results.
func (m Machine) step(ctx context.Context, step Step, pod string, labels map[string]string, out *Outcome, log *bytes.Buffer) (err error) {
	defer must.Catch(&err)
	step = step.replaced(ofSteps(out.Steps))
	dirs, err := m.mounted(step, pod, out.Volumes)
	must.Wrap(err, "step %s", step.Name)
	script := step.Script
	if !strings.HasPrefix(script, "#!") { // https://tekton.dev/docs/pipelines/tasks/#running-scripts-within-steps
		script = "#!/bin/sh\nset -e\n" + script
	}
	file := filepath.Join(pod, step.Name+".sh")
	must.Do(os.WriteFile(file, []byte(inside(script, dirs)), 0o700))
	cmd := exec.CommandContext(ctx, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Tekton's entrypoint signals the whole group
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second // a pod's grace
	cmd.Dir, cmd.Stdout, cmd.Stderr = pod, log, log
	cmd.Env = append([]string{"PATH=" + m.Path, "HOME=" + filepath.Join(pod, "home")}, m.Env...)
	for _, e := range step.Env {
		value := inside(e.Value, dirs)
		if path := e.ValueFrom.FieldRef.FieldPath; path != "" {
			value = labels[strings.TrimSuffix(strings.TrimPrefix(path, "metadata.labels['"), "']")]
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	failed := cmd.Run()
	for _, r := range step.Results {
		raw, err := os.ReadFile(inside(ResultPath(step.Name, r.Name), dirs))
		switch {
		case err == nil:
			out.Steps[step.Name+"."+r.Name] = string(raw)
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	must.Wrap(failed, "step %s", step.Name)
	return nil
}

// mounted returns the directory of this machine for each path in the step: of its volumes and of its results.
func (m Machine) mounted(step Step, pod, volumes string) (map[string]string, error) {
	dirs := map[string]string{"/tekton/": filepath.Join(pod, "tekton") + "/"}
	for _, mount := range step.VolumeMounts {
		at := filepath.Join(volumes, mount.Name)
		if _, err := os.Stat(at); err != nil {
			return nil, fmt.Errorf("there is no volume %s", mount.Name)
		}
		dirs[mount.MountPath] = at
	}
	return dirs, errors.Join(
		os.MkdirAll(inside(filepath.Dir(ResultPath(step.Name, "x")), dirs), 0o755),
		os.MkdirAll(filepath.Join(pod, "home"), 0o755),
	)
}

// inside replaces paths of a pod by those of this machine.
func inside(text string, dirs map[string]string) string {
	paths := make([]string, 0, len(dirs))
	for path := range dirs {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	slices.Reverse(paths) // a longer path before one that it begins with
	for _, path := range paths {
		text = strings.ReplaceAll(text, path, dirs[path])
	}
	return text
}

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
