// Package actions executes the stand-in GitHub's workflows on this machine with the program tools/act, which is nektos/act.
//
// Each job is a process of its own, not each run: only so can the stand-in give every job its own token and environment, hold one back
// until it is approved, cancel one of a matrix, and run the failed ones again with the outputs of the others.
//
// Jobs run as processes of whoever starts the demo, in a folder of the demo and with an environment that has nothing of the demo's own:
// no secrets, another home. It is no sandbox; it must never run the workflow of somebody else than the person who started it.
package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/tool"
)

// act is the program that reads workflow files and executes jobs.
var act = tool.Tool{Name: "act", Module: "tools/act", Make: "build-act", Long: "nektos/act, which runs workflows, is being built; this takes a minute the first time"}

// Config says what the jobs find on this machine.
type Config struct {
	Dir          string            // of their files; what is in it is deleted at the start
	Repositories map[string]string // owner/name → folder, for the actions of other repositories
	Env          map[string]string // more variables for every step
	Path         string            // of their programs; empty: this process's own
}

// Engine executes jobs. It implements github.Engine.
type Engine struct{ Config }

// FindProgram finds the program that executes jobs, or builds it. The engine does it before its first order, which then waits for a build.
func FindProgram(ctx context.Context) error {
	_, err := act.Path(ctx)
	return err
}

// New makes an engine. It does not need the program yet.
func New(cfg Config) (_ *Engine, err error) {
	defer must.Catch(&err)
	e := &Engine{Config: cfg}
	if e.Path == "" {
		e.Path = os.Getenv("PATH")
	}
	e.Dir = must.Get(filepath.Abs(cfg.Dir))
	must.Wrap(errors.Join(os.RemoveAll(filepath.Join(e.Dir, "jobs")), os.RemoveAll(filepath.Join(e.Dir, "actions"))), "clear the folder of the jobs")
	return e, e.layOut()
}

// Repositories returns the folders of the actions of other repositories.
func (e *Engine) Repositories() map[string]string {
	out := map[string]string{}
	for _, name := range standIns {
		out[name] = filepath.Join(e.Dir, "actions", name)
	}
	maps.Copy(out, e.Config.Repositories)
	return out
}

// Triggers returns the workflow files that an event starts.
func (e *Engine) Triggers(ctx context.Context, order workflow.TriggersOrder) (out []workflow.Trigger, err error) {
	err = e.ask(ctx, "triggers", order, &out)
	return out, err
}

// Plan returns the jobs of a workflow.
func (e *Engine) Plan(ctx context.Context, order workflow.PlanOrder) (out workflow.Plan, err error) {
	err = e.ask(ctx, "plan", order, &out)
	return out, err
}

// Ready returns what becomes of a job.
func (e *Engine) Ready(ctx context.Context, order workflow.ReadyOrder) (out workflow.Ready, err error) {
	err = e.ask(ctx, "ready", order, &out)
	return out, err
}

// Outputs returns the outputs of a reusable workflow.
func (e *Engine) Outputs(ctx context.Context, order workflow.OutputsOrder) (out workflow.Outputs, err error) {
	err = e.ask(ctx, "outputs", order, &out)
	return out, err
}

// ask lets the program answer one order.
func (e *Engine) ask(ctx context.Context, command string, order, answer any) (err error) {
	defer must.Catch(&err)
	raw, err := json.Marshal(order)
	must.Wrap(err, "write the order for act %s", command)
	program := must.Get(act.Path(ctx))
	cmd := exec.CommandContext(ctx, program, command)
	cmd.Env, cmd.Dir, cmd.Stdin = e.environment(e.Dir), e.Dir, bytes.NewReader(raw)
	out, err := cmd.Output()
	if err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(ended.Stderr)))
		}
		return fmt.Errorf("ask act %s: %w", command, err)
	}
	must.Wrap(json.Unmarshal(out, answer), "read the answer of act %s", command)
	return nil
}

// environment is all that the program, and so each step, gets from this machine.
func (e *Engine) environment(home string) []string {
	return []string{"PATH=" + e.Path, "HOME=" + home, "LANG=C.UTF-8", "TMPDIR=" + os.TempDir()}
}

// jobEnvironment are the variables of a runner and the configured ones.
func (e *Engine) jobEnvironment(id string) map[string]string {
	out := map[string]string{"OCPCTL_JOB": id, "RUNNER_NAME": "GitHub Actions 1", "RUNNER_ENVIRONMENT": "github-hosted", "TERM": "dumb"}
	maps.Copy(out, e.Env)
	return out
}

// write writes a commit's files into a folder.
func write(folder string, files map[string]string) (err error) {
	defer must.Catch(&err)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(folder, filepath.FromSlash(filepath.Clean("/"+path)))
		must.Do(os.MkdirAll(filepath.Dir(to), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(files[path], "#!") {
			mode = 0o755
		}
		must.Do(os.WriteFile(to, []byte(files[path]), mode))
	}
	return nil
}
