package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nektos/act/pkg/common"
	"github.com/nektos/act/pkg/model"
	"github.com/nektos/act/pkg/runner"
	"gopkg.in/yaml.v3"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// job executes one job. SIGINT cancels it as GitHub does; SIGTERM ends it at once.
func job() error {
	var order workflow.JobOrder
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	order.Files = valuesOf(order).inAll(order.Files)
	adopt()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := workflow.Line{Kind: workflow.Done, Step: windUp, Result: "failure"}
	var out *lines
	err := caught(func() error {
		f, err := find(order.Scope, order.Place, false)
		if err != nil {
			return err
		}
		stop := newCancellation(f)
		out = newLines(os.Stdout, f.job.Steps, stop.stepBegins)
		ctx, force := context.WithCancel(runner.WithJobLoggerFactory(context.Background(), out))
		defer force()
		go stop.listen(signals, force)
		if err = execute(common.WithJobCancelContext(ctx, stop), order, f); err == nil && f.job.Result == "success" {
			done.Result = "success"
		}
		done.Outputs = f.job.Outputs
		return err
	})
	if done.Result != "success" {
		time.Sleep(drain)
	}
	if out == nil {
		out = newLines(os.Stdout, nil, func(int) {})
	}
	if err != nil && !strings.HasPrefix(err.Error(), "Job '") { // act's own way to say that the job failed
		out.write(workflow.Line{Kind: workflow.Problem, Step: windUp, Text: err.Error()})
	}
	for _, name := range endOrphans() {
		out.write(workflow.Line{Kind: workflow.Remark, Step: windUp, Text: "Terminate orphan process: " + name})
	}
	out.write(done)
	out.release()
	return nil
}

// execute lets act run the one job, with the results of those that it needs.
func execute(ctx context.Context, order workflow.JobOrder, f *found) error {
	event := filepath.Join(order.Cache, "event-"+order.Env["OCPCTL_JOB"]+".json")
	if err := os.MkdirAll(order.Cache, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(event, order.Payload, 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(event) }()
	env := maps.Clone(order.Env)
	maps.Copy(env, order.Private)
	labels, err := f.labels()
	if err != nil {
		return err
	}
	platforms := map[string]string{}
	for _, label := range labels {
		platforms[strings.ToLower(label)] = "-self-hosted"
	}
	config := &runner.Config{
		Actor: order.Actor, EventName: order.Event, EventPath: event, Workdir: order.Source, ActionCacheDir: order.Cache,
		Env: env, Platforms: platforms, LogOutput: true, GitHubInstance: "github.com", DefaultBranch: "main",
		ActionCache: newActions(order.Repositories, valuesOf(order)), AutoRemove: true,
	}
	f.only(order.Matrix)
	plan := &model.Plan{Stages: []*model.Stage{{Runs: []*model.Run{f.run}}}}
	if f.caller == nil {
		run, err := runner.New(config)
		if err != nil {
			return err
		}
		return run.NewPlanExecutor(plan)(ctx)
	}
	f.caller.only(order.Caller.Matrix)
	calling := &runner.RunContext{
		Config: config, Run: f.caller.run, EventJSON: string(order.Payload), Matrix: order.Caller.Matrix, StepResults: map[string]*model.StepResult{},
	}
	calling.ExprEval = calling.NewExpressionEvaluator(ctx)
	run, err := runner.NewReusableWorkflowRunner(calling)
	if err != nil {
		return err
	}
	return run.NewPlanExecutor(plan)(ctx)
}

// only reduces the job to one combination of its matrix, and to one that runs: that was decided before.
func (f *found) only(matrix map[string]any) {
	f.job.If = yaml.Node{Kind: yaml.ScalarNode, Value: "always()"}
	f.job.Result = ""
	if len(matrix) == 0 {
		f.job.Strategy = nil
		return
	}
	var raw yaml.Node
	_ = raw.Encode(map[string]any{"include": []any{matrix}}) // came as JSON
	f.job.Strategy = &model.Strategy{RawMatrix: raw}
}
