// Command ocpctl asks an ocpctl server for clusters, for people and for pipelines. It knows the server's API and nothing
// else: it runs no installer, holds no cloud credentials and keeps no secret.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends at once
	}()
	os.Exit(int(command.Run(ctx, world(), os.Args[1:])))
}

// world is this machine.
func world() command.World {
	w := command.World{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: tty(os.Stdin), OutTTY: tty(os.Stdout), ErrTTY: tty(os.Stderr), Width: width,
		Env: os.Getenv, Environ: os.Environ(), Now: time.Now, Sleep: sleep, Browse: browse, Run: run, UUID: uuid,
	}
	if out, err := os.Stdout.Stat(); err == nil {
		w.OutLogged = os.Getenv("CI") != "" && !out.Mode().IsRegular()
	}
	build := buildinfo.Read()
	w.Version, w.Commit, w.Built = build.Version, build.Commit, build.Time
	return w
}

func tty(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// width is the terminal's that progress is drawn on.
func width() int {
	if columns, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// browse opens an address with what this machine opens addresses with, and does not wait for it.
func browse(_ context.Context, address string) error {
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

// run starts a program and waits for it. Ctrl-C is the program's own: a terminal gives it to both. To be asked to end is
// passed on, to a shell as the hang-up that it listens to.
func run(cmd *exec.Cmd) error {
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

// uuid is a random one (RFC 9562, version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
