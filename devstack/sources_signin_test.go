package devstack_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peoplesCommandLines signs in command lines of people who have no credentials but the pages' sign-in: with a browser, with a typed code.
func (l *life) peoplesCommandLines(*testing.T) {
	anybody := l.cli("")
	home := l.homeOf(anybody)
	opened := filepath.Join(home, "opened")
	program := filepath.Join(home, "browser")
	require.NoError(l.t, os.WriteFile(program, []byte("#!/bin/sh\nprintf %s \"$1\" > "+opened+".new && mv "+opened+".new "+opened+"\n"), 0o700))
	maya := l.signIn("maya")

	said := meanwhile(func() ended {
		return anybody.with("BROWSER="+program).run("login", "--name", "mine", "--auth", "browser")
	}, func() {
		l.askUntil("the browser is opened", time.Minute, polite, func() bool { _, err := os.Stat(opened); return err == nil })
		raw, err := os.ReadFile(opened)
		require.NoError(l.t, err)
		at := strings.TrimPrefix(string(raw), l.PrivateURL())
		status, _, page := maya.visit(at, nil)
		require.Equal(l.t, http.StatusOK, status)
		require.Contains(l.t, page, "Sign in ocpctl on ")
		status, _, page = maya.visit(at, url.Values{"answer": {"yes"}})
		require.Equal(l.t, http.StatusOK, status, "the browser is back at the program")
		require.Contains(l.t, page, "ocpctl is signed in.")
	})
	require.Contains(l.t, said.ends(0), "saml:maya@acme.example")
	kept, err := filepath.Glob(filepath.Join(home, ".local", "state", "ocpctl", "signin", "*"))
	require.NoError(l.t, err)
	require.Len(l.t, kept, 1)
	info, err := os.Stat(kept[0])
	require.NoError(l.t, err)
	require.Equal(l.t, os.FileMode(0o600), info.Mode().Perm())

	mine := anybody.with("OCPCTL_CONTEXT=mine")
	mine.run("list").ends(0)
	_, err = l.pool.Exec(l.ctx, `UPDATE command_lines SET renewed_at = renewed_at - interval '2 minutes'`) // no response was lost
	require.NoError(l.t, err)
	raw, err := os.ReadFile(kept[0])
	require.NoError(l.t, err)
	expired := regexp.MustCompile(`"expiry":"[^"]*"`).ReplaceAllString(string(raw), `"expiry":"2020-01-01T00:00:00Z"`)
	require.NotEqual(l.t, string(raw), expired)
	require.NoError(l.t, os.WriteFile(kept[0], []byte(expired), 0o600))
	var several sync.WaitGroup
	codes := make([]int, 4)
	for i := range codes {
		several.Go(func() { codes[i] = mine.run("whoami").code })
	}
	several.Wait()
	require.Equal(l.t, []int{0, 0, 0, 0}, codes, "commands at the same time renew the session once")
	l.typesCode(anybody, maya)
	_, _, page := maya.visit("/me", nil)
	require.Equal(l.t, 1, strings.Count(page, `action="/me/command-lines/end"`), "the new sign-in ended the one before it")
	mine.run("logout", "mine").ends(0)
	require.NoFileExists(l.t, kept[0])
	_, _, page = maya.visit("/me", nil)
	require.NotContains(l.t, page, "Command lines")

	l.typesCode(anybody, maya)
	_, _, page = maya.visit("/me", nil)
	id := regexp.MustCompile(`name="id" value="([0-9a-f]{32})"`).FindStringSubmatch(page)[1]
	_, _, page = maya.visit("/me/command-lines/end", url.Values{"id": {id}})
	require.Contains(l.t, page, "The command line is signed out.")
	require.Contains(l.t, anybody.run("whoami", "--context", "typed").ends(3), "your sign-in has ended at ")
}

// typesCode has a person sign in a command line with a typed code.
func (l *life) typesCode(program terminal, person browser) {
	l.t.Helper()
	typed := make(chan string, 1)
	said := meanwhile(func() ended { return program.streams(typed, "login", "--name", "typed", "--device") }, func() {
		status, _, page := person.visit("/device?code="+<-typed, nil)
		require.Equal(l.t, http.StatusOK, status)
		require.Contains(l.t, page, "If somebody sent you the code")
		_, _, page = person.visit("/device", url.Values{"code": {regexp.MustCompile(`name="code" value="([^"]+)"`).FindStringSubmatch(page)[1]}, "answer": {"yes"}})
		require.Contains(l.t, page, "The command line is signed in.")
	})
	require.Contains(l.t, said.ends(0), "saml:maya@acme.example")
}

// meanwhile runs both at the same time.
func meanwhile(program func() ended, person func()) (said ended) {
	var both sync.WaitGroup
	both.Go(func() { said = program() })
	person()
	both.Wait()
	return said
}

var typedCode = regexp.MustCompile(`[B-Z]{4}-[B-Z]{4}`)

// streams runs a program to its end and passes on the code that it shows in the meantime.
func (s terminal) streams(typed chan<- string, args ...string) ended {
	cmd := s.command(args...)
	shows := &codeFinder{typed: typed}
	cmd.Stdout, cmd.Stderr = shows, shows
	err := cmd.Run()
	code := cmd.ProcessState.ExitCode()
	if err != nil && code == 0 {
		code = -1
	}
	return ended{s.life, code, shows.all.String(), "", args}
}

// codeFinder passes on the first code in a program's output.
type codeFinder struct {
	typed chan<- string
	all   strings.Builder
	told  bool
}

func (f *codeFinder) Write(part []byte) (int, error) {
	f.all.Write(part)
	if code := typedCode.FindString(f.all.String()); code != "" && !f.told {
		f.told = true
		f.typed <- code
	}
	return len(part), nil
}
