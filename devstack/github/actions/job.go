package actions

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// job is a job that runs. It implements github.Execution.
type job struct {
	process *os.Process
	exited  <-chan struct{}
	done    chan struct{}
}

// afterTerm is how long the program may take to kill its steps.
const afterTerm = 10 * time.Second

// Start starts a job with a commit's files in a folder of its own, which is deleted in the end.
func (e *Engine) Start(ctx context.Context, id string, order workflow.JobOrder, files map[string]string, hear func(workflow.Line)) (_ github.Execution, err error) {
	defer must.Catch(&err)
	folder := filepath.Join(e.Dir, "jobs", id)
	order.Source, order.Cache = filepath.Join(folder, "source"), filepath.Join(e.Dir, "cache")
	home := filepath.Join(folder, "home")
	must.Wrap(errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(order.Source, 0o755), os.MkdirAll(order.Cache, 0o755), write(order.Source, files)), "prepare the folder of job %s", id)
	env := e.jobEnvironment(id)
	maps.Copy(env, order.Env)
	order.Env = env
	raw, err := json.Marshal(order)
	must.Wrap(err, "write the order of job %s", id)
	cmd := exec.Command(must.Get(act.Path(ctx)), "job")
	cmd.Env, cmd.Dir, cmd.Stdin = e.environment(home), folder, bytes.NewReader(raw)
	reader, writer := must.Get2(os.Pipe())
	var trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = writer, &trouble
	exited, err := child.Start(cmd, syscall.SIGTERM)
	if err := errors.Join(err, writer.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start job %s: %w", id, err), reader.Close())
	}
	one := &job{process: cmd.Process, exited: exited, done: make(chan struct{})}
	go func() {
		defer close(one.done)
		ended := listen(reader, hear)
		<-exited
		if !ended {
			hear(workflow.Line{At: time.Now().UTC(), Kind: workflow.Problem, Step: -2, Text: "The runner ended unexpectedly. " + trouble.String()})
			hear(workflow.Line{At: time.Now().UTC(), Kind: workflow.Done, Step: -2, Result: "failure"})
		}
		_ = os.RemoveAll(folder) // what stays is deleted at the next start
	}()
	return one, nil
}

// listen passes the lines on and reports whether the last one was there.
func listen(from io.ReadCloser, hear func(workflow.Line)) (ended bool) {
	defer func() { _ = from.Close() }()
	lines := bufio.NewReader(from)
	for {
		raw, err := lines.ReadBytes('\n')
		var one workflow.Line
		if json.Unmarshal(raw, &one) == nil {
			ended = ended || one.Kind == workflow.Done
			hear(one)
		}
		if err != nil {
			return ended
		}
	}
}

// Cancel sends SIGINT: the program ends the current step and lets those run that run even then.
func (j *job) Cancel() { _ = j.process.Signal(syscall.SIGINT) }

// Kill sends SIGTERM, with which the program kills its steps, and later SIGKILL to its whole process group.
func (j *job) Kill() {
	_ = j.process.Signal(syscall.SIGTERM)
	go func() {
		select {
		case <-j.exited:
		case <-time.After(afterTerm):
			_ = syscall.Kill(-j.process.Pid, syscall.SIGKILL)
		}
	}()
}

func (j *job) Done() <-chan struct{} { return j.done }

// standIns are GitHub's own actions that workflows use. act itself replaces actions/checkout only where a step gives it no ref and no
// other repository.
var standIns = []string{"actions/cache", "actions/checkout", "actions/upload-artifact"}

//go:embed standins
var files embed.FS

// layOut writes the stand-ins of GitHub's own actions into the folder of the jobs.
func (e *Engine) layOut() error {
	return fs.WalkDir(files, "standins", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(e.Dir, filepath.FromSlash(strings.TrimPrefix(path, "standins")))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		raw, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, raw, 0o644)
	})
}
