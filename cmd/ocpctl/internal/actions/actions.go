// Package actions are the steps of ocpctl's GitHub actions (workflows/…). Each reads its inputs, runs ocpctl's own commands, and hands
// the results to the runner: outputs, variables, annotations, a summary. It decides nothing about clusters, and shows no secret: each is
// masked before it is written to a file, and none becomes an output.
package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/pipeline"
)

// World is what a step needs from the outside.
type World struct {
	Env     func(string) string
	Out     io.Writer // the step's log, which the runner reads
	Now     func() time.Time
	Exec    func(*exec.Cmd) error // starts a program and waits for it
	Version string                // of this program
	// Open returns ocpctl's commands at a server; empty: the environment's. What they tell people goes to the log.
	Open func(server string, log io.Writer) Commands
}

// Commands are ocpctl's, over one connection.
type Commands struct {
	// Run runs a command as if it was typed, and returns what it wrote to its standard output, also if it failed.
	Run func(ctx context.Context, in io.Reader, args ...string) ([]byte, error)
	API func() (*connect.API, error)
}

// Action is one action, with the names that its action.yml must have.
type Action struct {
	Name            string
	Inputs, Outputs []string
	run             func(*step, context.Context) error
}

// All lists the actions in the order of a cluster's life.
func All() []Action {
	cluster := []string{"cluster-id", "name", "status", "page-url", "console-url", "api-url", "kubeconfig", "price", "expires-at"}
	return []Action{
		{"setup-ocpctl", []string{"server", "version", "download-url", "cache"}, []string{"version", "path"}, (*step).setUpProgram},
		{"create-cluster", []string{"server", "profile", "name", "version", "region", "ttl", "team", "add-ons", "params", "wait", "wait-timeout", "reuse", "slot",
			"lifetime", "on-ready", "dry-run", "export-kubeconfig", "env-prefix"}, cluster, (*step).createCluster},
		{"wait-cluster", []string{"server", "cluster", "wait-timeout", "take-turn", "export-kubeconfig", "env-prefix"}, cluster, (*step).waitForCluster},
		{"extend-cluster", []string{"server", "cluster", "duration", "until"}, []string{"expires-at", "limited"}, (*step).extendCluster},
		{"collect-logs", []string{"server", "cluster", "path", "bundle", "must-gather", "upload", "retention-days"}, []string{"path", "artifact"}, (*step).collectLogs},
		{"report-tests", []string{"server", "cluster", "files", "name", "url", "if-no-files", "fail-on-failure"},
			[]string{"conclusion", "total", "passed", "failed", "skipped", "flaky", "crashed"}, (*step).reportTests},
		{"destroy-cluster", []string{"server", "cluster", "reason", "wait", "wait-timeout"}, nil, (*step).destroyCluster},
	}
}

// Names lists the names of the actions.
func Names() (names []string) {
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return names
}

// step is one run of an action.
type step struct {
	World
	Commands
	*pipeline.Runner
	*pipeline.Inputs
	action   Action
	log      io.Writer
	deadline time.Time // of all that the step waits for; zero: nothing was waited for
}

// Run runs an action. It has told the runner everything; the error has only the exit code.
func Run(ctx context.Context, w World, name string) error {
	for _, a := range All() {
		if a.Name == name {
			return runAction(ctx, w, a)
		}
	}
	return exit.With(exit.Usage, &exit.Problem{Title: "Unknown action.", Fields: []exit.Field{
		{Name: "NAME", Detail: fmt.Sprintf("%q does not exist.", name), Accepted: Names()},
	}})
}

func runAction(ctx context.Context, w World, a Action) (err error) {
	runner := pipeline.New(w.Env, w.Out)
	log := runner.Log()
	s := &step{World: w, Runner: runner, action: a, log: log}
	defer func() { err = errors.Join(s.endStep(ctx, err), log.Close()) }()
	if s.Inputs, err = runner.Inputs(a.Inputs); err != nil {
		return err
	}
	s.Commands = w.Open(s.Text("server"), log)
	return a.run(s, ctx)
}

// checkInputs returns what is wrong with the inputs, and whether action, program and server work together. Every step calls it when it has
// read its inputs.
func (s *step) checkInputs(ctx context.Context) error {
	if !s.hasServer() {
		s.Wrong("server", "Required, because the variable OCPCTL_SERVER is not set.", "https://ocpctl.example.com")
	}
	if err := s.Err(); err != nil {
		return err
	}
	if err := s.checkVersion(); err != nil {
		return err
	}
	api, err := s.API()
	if err != nil {
		return err
	}
	release, err := api.Release(ctx)
	if err != nil {
		return err
	}
	if err := release.WorksWith(s.Version); err != nil {
		return fmt.Errorf("%w, or use the actions of another release", err)
	}
	if server := s.Text("server"); server != "" {
		return s.Export("OCPCTL_SERVER", server) // for the job's next steps
	}
	return nil
}

func (s *step) hasServer() bool { return s.Text("server") != "" || s.Env("OCPCTL_SERVER") != "" }

// runForAnswer runs a command and reads its answer.
func runForAnswer[T any](ctx context.Context, s *step, in io.Reader, args ...string) (answer T, err error) {
	raw, err := s.Commands.Run(ctx, in, slices.Concat(args[:1], []string{"--output=json"}, args[1:])...)
	if len(raw) > 0 {
		err = errors.Join(err, json.Unmarshal(raw, &answer))
	}
	return answer, err
}

// clusterInput returns the cluster that the input names, or the one that the job's last create-cluster got.
func (s *step) clusterInput() string {
	given := s.Text("cluster")
	if given == "" {
		return s.Env(clusterVariable)
	}
	return given[strings.LastIndex(given, "/")+1:] // a deployment's environment is called ocp/NAME
}

// clusterVariable is where create-cluster leaves the cluster's id for the job's next steps.
const clusterVariable = "OCPCTL_CLUSTER_ID"

// pageURL returns the address of a cluster's page.
func (s *step) pageURL(id string) string {
	api, err := s.API()
	if err != nil {
		return "" // the commands say why
	}
	return api.Context.Server + "/clusters/" + id
}

// needCluster notes that a cluster is missing.
func (s *step) needCluster() string {
	cluster := s.clusterInput()
	if cluster == "" {
		s.Wrong("cluster", "Required, because no create-cluster step of this job got a cluster.", "a cluster's id or name, e.g. ${{ needs.create.outputs.cluster-id }}")
	}
	return cluster
}

// setOutputs sets several outputs, name and value by turns.
func (s *step) setOutputs(pairs ...string) (err error) {
	for i := 0; i+1 < len(pairs); i += 2 {
		err = errors.Join(err, s.Output(pairs[i], pairs[i+1]))
	}
	return err
}

// endStep tells the runner how the step ended.
func (s *step) endStep(ctx context.Context, err error) error {
	code := exit.CodeOf(err)
	switch text := strings.TrimSpace(textOf(err)); {
	case err == nil:
		return nil
	case ctx.Err() != nil || code == exit.Interrupted:
		s.Notice("ocpctl "+s.action.Name, "Cancelled. What was asked for continues on the server; a cluster that belongs to this run ends with the run.")
		return exit.Silent(exit.Interrupted)
	case text != "":
		_, _ = fmt.Fprintln(s.log, "ocpctl: "+text) // the log is all there is to tell it to
		s.Error("ocpctl "+s.action.Name, oneLine(text))
	}
	return exit.Silent(code)
}

// textOf returns an error's text with the names of inputs instead of those of flags and of the API's fields.
func textOf(err error) string {
	var p *exit.Problem
	if !errors.As(err, &p) {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	said := *p
	said.Fields = nil
	for _, f := range p.Fields {
		f.Name = inputOf(f.Name)
		said.Fields = append(said.Fields, f)
	}
	return said.Error()
}

// inputOf returns the input for a flag or for a field of a request.
func inputOf(field string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(field, "--"), "run.")
	renamed, known := map[string]string{"addon": "add-ons", "addons": "add-ons", "from-file": "params", "timeout": "wait-timeout", "cluster-id": "cluster"}[name]
	if known {
		return renamed
	}
	return name
}

// oneLine makes one sentence after the other of a text with lines.
func oneLine(text string) string {
	var sentences []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if !strings.ContainsAny(line[len(line)-1:], ".:!?") {
				line += "."
			}
			sentences = append(sentences, line)
		}
	}
	return strings.Join(sentences, " ")
}
