// Package command implements ocpctl's commands: each reads its flags, calls the server, and shows the answer. The server decides
// everything; the commands refuse only what the server could not parse. No command runs an installer or calls a cloud.
package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/progress"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// World is everything outside: output streams, the time, what the person's machine can do.
type World struct {
	In                     io.Reader
	Out, Err               io.Writer
	InTTY, OutTTY, ErrTTY  bool
	OutLogged              bool       // Out is kept where others can read it: the log of a pipeline
	Width                  func() int // of the terminal
	Env                    func(string) string
	Environ                []string // for programs that are started
	Now                    func() time.Time
	Sleep                  func(ctx context.Context, d time.Duration) error
	Browse                 func(ctx context.Context, address string) error // opens a URL in the person's browser
	Run                    func(cmd *exec.Cmd) error                       // starts a program and waits for it
	UUID                   func() string
	Program                func() (string, error) // the path of this program
	Version, Commit, Built string
}

// app is one run.
type app struct {
	World
	want     connect.Wanted
	format   string
	verbose  bool
	started  bool        // a command began, so errors from now on are not usage errors
	opened   *connection // what several commands of one process share; nil: each opens its own
	inAction bool        // a GitHub action runs the command: nobody can type another one
}

// Run executes the arguments and returns the exit code. It has printed everything.
func Run(ctx context.Context, w World, args []string) exit.Code {
	a := &app{World: w}
	err := a.runArguments(ctx, args)
	if err == nil {
		return exit.OK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exit.Interrupted
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		fmt.Fprintln(w.Err, a.paintError("ocpctl:", table.Bad)+" "+text)
	}
	return exit.CodeOf(err)
}

// paintError colours a word for the terminal that shows errors.
func (a *app) paintError(text string, p table.Paint) string {
	s := table.Screen{Color: a.ErrTTY && a.hasColours()}
	return s.Painted(text, p)
}

func (a *app) hasColours() bool { return a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb" }

func (a *app) newScreen() *table.Screen {
	return &table.Screen{Out: a.Out, Color: a.OutTTY && a.hasColours(), Wide: a.outputFormat() == table.Wide, Now: a.Now()}
}

func (a *app) outputFormat() table.Format { return table.Format(a.format) }

// printAnswer shows an answer in the requested form: unchanged or only a field for programs, only the names, or formatted for people.
func (a *app) printAnswer(raw []byte, names []string, people func(s *table.Screen)) error {
	if path, ok := a.outputFormat().Field(); ok {
		lines, err := table.Lines(raw, path)
		for _, line := range lines {
			fmt.Fprintln(a.Out, line)
		}
		return err
	}
	switch a.outputFormat() {
	case table.JSON, table.YAML:
		return table.Encode(a.Out, a.outputFormat(), raw)
	case table.Name:
		for _, name := range names {
			fmt.Fprintln(a.Out, name)
		}
	default:
		people(a.newScreen())
	}
	return nil
}

// printOne is print for one of many answers in a row: JSON is one line each, YAML one document each.
func (a *app) printOne(raw []byte, names []string, people func(s *table.Screen)) error {
	switch a.outputFormat() {
	case table.JSON:
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return fmt.Errorf("parse the response as JSON: %w", err)
		}
		_, err := fmt.Fprintf(a.Out, "%s\n", table.Escaped(line.Bytes()))
		return err
	case table.YAML:
		fmt.Fprintln(a.Out, "---")
	}
	return a.printAnswer(raw, names, people)
}

// printNotef tells a person something besides the answer; control characters are removed.
func (a *app) printNotef(format string, args ...any) {
	fmt.Fprintln(a.Err, humanize.Clean(fmt.Sprintf(format, args...)))
}

// runArguments runs a command. Errors before it began are about the command line.
func (a *app) runArguments(ctx context.Context, args []string) error {
	root := a.newRootCommand()
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started && exit.CodeOf(err) == exit.Other {
		return exit.With(exit.Usage, err)
	}
	return err
}

// connection is one that several commands share.
type connection struct{ api *connect.API }

// connectAPI opens a connection to the chosen server.
func (a *app) connectAPI() (*connect.API, error) {
	if a.opened == nil {
		return a.dialServer()
	}
	if a.opened.api == nil {
		api, err := a.dialServer()
		if err != nil {
			return nil, err
		}
		a.opened.api = api
	}
	return a.opened.api, nil
}

func (a *app) dialServer() (*connect.API, error) {
	config, err := connect.Load(connect.Path(a.Env))
	if err != nil {
		return nil, err
	}
	chosen, err := connect.Choose(config, a.want, a.Env)
	if err != nil {
		return nil, err
	}
	return a.openContext(chosen)
}

func (a *app) openContext(c connect.Context) (*connect.API, error) {
	return connect.Open(c, a.connectOptions())
}

func (a *app) connectOptions() connect.Options {
	o := connect.Options{Env: a.Env, Now: a.Now, Sleep: a.Sleep, Stderr: a.Err, Version: a.Version}
	if a.verbose {
		o.Trace = func(format string, args ...any) { a.printNotef(format, args...) }
	}
	return o
}

func (a *app) newFollower(api *connect.API, view follow.View) *follow.Follower {
	return &follow.Follower{API: api, Every: pollEvery, Sleep: a.Sleep, Lost: func(err error) { view.Note(follow.Unreachable(err)) }}
}

// pollEvery is the polling interval if the server's stream does not get through.
const pollEvery = 5 * time.Second

// newView returns where a wait is shown: separate from the answer, so that a pipe gets only the answer.
func (a *app) newView() follow.View {
	if a.ErrTTY && a.Env("TERM") != "dumb" {
		return &progress.Bar{Out: a.Err, Now: a.Now, Width: a.Width, Since: a.Now()}
	}
	return &progress.Lines{Out: a.Err, Now: a.Now}
}

// runCommand converts one of our functions for cobra.
func (a *app) runCommand(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return do(cmd.Context(), args)
	}
}

// runWithAPI converts one of our functions that call the server.
func (a *app) runWithAPI(do func(ctx context.Context, api *connect.API, args []string) error) func(*cobra.Command, []string) error {
	return a.runCommand(func(ctx context.Context, args []string) error {
		api, err := a.connectAPI()
		if err != nil {
			return err
		}
		return do(ctx, api, args)
	})
}
