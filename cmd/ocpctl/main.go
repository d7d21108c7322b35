// Command ocpctl requests and manages clusters on an ocpctl server, for people and for pipelines. It only uses the server's API: it
// runs no installer, holds no cloud credentials, and stores no secret but the tokens of clusters that kubectl uses and of a person's sign-in.
package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/internal/names"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the program at once
	}()
	os.Exit(int(command.Run(ctx, newWorld(), os.Args[1:])))
}

// newWorld is the machine's environment.
func newWorld() command.World {
	w := command.World{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTerminal(os.Stdin), OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr), Width: terminalWidth,
		Env: os.Getenv, Environ: os.Environ(), Now: time.Now, Sleep: connect.Sleep, Browse: openBrowser, Run: runProgram, UUID: names.NewUUID,
		Program: os.Executable,
	}
	if out, err := os.Stdout.Stat(); err == nil {
		w.OutLogged = os.Getenv("CI") != "" && !out.Mode().IsRegular()
	}
	build := buildinfo.Read()
	w.Version, w.Commit, w.Built = build.Version, build.Commit, build.Time
	return w
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// terminalWidth returns the width of the terminal on which progress is drawn.
func terminalWidth() int {
	if columns, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}

// openBrowser opens a URL in the machine's browser, without waiting.
func openBrowser(_ context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch own := os.Getenv("BROWSER"); {
	case own != "":
		name = own
	case runtime.GOOS == "darwin":
		name = "open"
	case runtime.GOOS == "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// runProgram starts a program and waits for it. A terminal sends Ctrl-C to both, so it is left to the program. A request to end is passed
// on; shells get it as a hang-up, which they obey.
func runProgram(cmd *exec.Cmd) error {
	signals, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				if s != os.Interrupt {
					_ = errors.Join(cmd.Process.Signal(s), cmd.Process.Signal(syscall.SIGHUP))
				}
			}
		}
	}()
	defer close(done)
	return cmd.Wait()
}
