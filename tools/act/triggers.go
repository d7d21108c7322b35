package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nektos/act/pkg/model"
	"github.com/nektos/act/pkg/workflowpattern"
	"gopkg.in/yaml.v3"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// usual are the activities that start a workflow which names none.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
var usual = map[string][]string{
	"pull_request": {"opened", "synchronize", "reopened"}, "pull_request_target": {"opened", "synchronize", "reopened"},
}

// typed are the events whose activities a workflow can name.
var typed = []string{"pull_request", "pull_request_target", "issue_comment", "check_run", "check_suite", "repository_dispatch", "merge_group"}

// filters are what a workflow says about an event that starts it.
type filters struct {
	Types          []string `yaml:"types"`
	Branches       []string `yaml:"branches"`
	BranchesIgnore []string `yaml:"branches-ignore"`
	Paths          []string `yaml:"paths"`
	PathsIgnore    []string `yaml:"paths-ignore"`
	Tags           []string `yaml:"tags"`
}

func triggers(order workflow.TriggersOrder) []workflow.Trigger {
	out := []workflow.Trigger{}
	for _, path := range slices.Sorted(maps.Keys(order.Files)) {
		one := workflow.Trigger{Path: path, Name: path}
		w, err := read(order.Files[path])
		if err != nil {
			// GitHub starts a run that fails at once for a file that it cannot read, at each push of it.
			if order.Event.Name == "push" && slices.Contains(order.Event.Paths, path) {
				one.Error = err.Error()
				out = append(out, one)
			}
			continue
		}
		if w.Name != "" {
			one.Name = w.Name
		}
		starts, err := starts(w, order.Event)
		if err != nil {
			one.Error = err.Error()
		}
		if starts || err != nil {
			out = append(out, one)
		}
	}
	return out
}

// read reads a workflow file as strictly as GitHub does.
func read(content string) (w *model.Workflow, err error) {
	err = caught(func() (err error) {
		w, err = model.ReadWorkflow(strings.NewReader(content), true)
		if err != nil && strings.Contains(content, "repository_dispatch") {
			// act's strict schema takes this event only with types, GitHub also without.
			w, err = model.ReadWorkflow(strings.NewReader(content), false)
		}
		return err
	})
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		err = errors.New(strings.Join(lines[:min(len(lines), 6)], "\n"))
	}
	return w, err
}

func starts(w *model.Workflow, e workflow.Event) (bool, error) {
	if !slices.Contains(w.On(), e.Name) {
		return false, nil
	}
	var f filters
	if w.RawOn.Kind == yaml.MappingNode {
		var all map[string]yaml.Node
		if err := w.RawOn.Decode(&all); err != nil {
			return false, fmt.Errorf("read on: %w", err)
		}
		node := all[e.Name]
		if node.Kind == yaml.MappingNode {
			if err := node.Decode(&f); err != nil {
				return false, fmt.Errorf("read on.%s: %w", e.Name, err)
			}
		}
	}
	return f.allow(e)
}

func (f filters) allow(e workflow.Event) (bool, error) {
	types := f.Types
	if len(types) == 0 {
		types = usual[e.Name]
	}
	if slices.Contains(typed, e.Name) && len(types) > 0 && !slices.Contains(types, e.Action) {
		return false, nil
	}
	if e.Name == "push" && len(f.Tags) > 0 && len(f.Branches)+len(f.BranchesIgnore) == 0 {
		return false, nil // the stand-in has no tags
	}
	for _, one := range []struct {
		patterns, values []string
		out              func([]*workflowpattern.WorkflowPattern, []string, workflowpattern.TraceWriter) bool
	}{
		{f.Branches, []string{e.Branch}, workflowpattern.Skip}, {f.BranchesIgnore, []string{e.Branch}, workflowpattern.Filter},
		{f.Paths, e.Paths, workflowpattern.Skip}, {f.PathsIgnore, e.Paths, workflowpattern.Filter},
	} {
		patterns, err := workflowpattern.CompilePatterns(one.patterns...)
		if err != nil {
			return false, err
		}
		if one.out(patterns, one.values, &workflowpattern.EmptyTraceWriter{}) {
			return false, nil
		}
	}
	return true, nil
}
