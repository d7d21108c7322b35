package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// atTerminal is a service with a person before it.
func atTerminal(t *testing.T) *service {
	d := newService(t)
	d.world.InTTY, d.world.OutTTY, d.world.ErrTTY = true, true, true
	return d
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		env      [2]string
		colour   bool
	}{
		"a terminal":                    {true, [2]string{}, true},
		"a pipe":                        {false, [2]string{}, false},
		"a terminal without colour":     {true, [2]string{"NO_COLOR", "1"}, false},
		"a terminal that knows no such": {true, [2]string{"TERM", "dumb"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newService(t)
			d.world.OutTTY, d.world.ErrTTY = c.terminal, c.terminal
			d.env[c.env[0]] = c.env[1]
			require.Equal(t, exit.OK, d.run("list"))
			require.Equal(t, c.colour, strings.Contains(d.out.String(), "\x1b[32mREADY\x1b[0m"))
			require.Equal(t, exit.Usage, d.run("nope"))
			require.Equal(t, c.colour, strings.Contains(d.err.String(), "\x1b[31mocpctl:\x1b[0m"))
			require.Equal(t, exit.OK, d.run("list", "-o", "json"))
			require.NotContains(t, d.out.String(), "\x1b")
		})
	}
}

func TestATerminalIsAskedBeforeAClusterGoes(t *testing.T) {
	for typed, goes := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "team-a-smoke-01\n": false} {
		d := atTerminal(t)
		d.in = typed
		code := d.run("destroy", "team-a-smoke-01")
		require.Contains(t, d.err.String(), "Destroy team-a-smoke-01 (READY, team team-a, owner maya, "+cluster+")? [y/N] ")
		require.Equal(t, goes, code == exit.OK, typed)
		require.Equal(t, goes, len(d.Asked()) == 2, typed)
	}
	d := atTerminal(t)
	require.Equal(t, exit.OK, d.run("destroy", "team-a-smoke-01", "--yes"))
	require.NotContains(t, d.err.String(), "[y/N]")
	d = atTerminal(t)
	require.Equal(t, exit.Other, d.run("abandon", "pr41-shop", "--reason", "INC-1"))
	require.Contains(t, d.err.String(), "The remaining resources keep costing money. [y/N] ")
	require.Empty(t, d.Asked())
	for question, where := range map[string][]string{"End all clusters everywhere? [y/N] ": nil, "End all clusters of region us-east-1 and team shop? [y/N] ": {"--region", "us-east-1", "--team", "shop"}} {
		d = atTerminal(t)
		require.Equal(t, exit.Other, d.run(append([]string{"admin", "freeze", "--drain", "--until", "4h", "--reason", "INC-1"}, where...)...))
		require.Contains(t, d.err.String(), question)
		require.Empty(t, d.Asked())
	}
}

func TestATokenDoesNotLandOnAScreen(t *testing.T) {
	d := atTerminal(t)
	require.Equal(t, exit.Usage, d.run("kubeconfig", "team-a-smoke-01", "--static"))
	require.Contains(t, d.err.String(), "-f FILE, --merge or --print, or run: ocpctl shell team-a-smoke-01")
	require.Empty(t, d.Asked(), "nothing was read, so nothing is in the audit trail")
	require.Equal(t, exit.Usage, d.run("credential", "team-a-smoke-01"))
	require.Contains(t, d.err.String(), "kubectl calls this command")
	require.Empty(t, d.Asked())
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01", "--static", "--print"))
	require.Equal(t, kubeconfig, d.out.String())
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01"), "this one holds no token")
	require.NotContains(t, d.out.String(), "not-a-token")
}

func TestNorInThePipelinesLog(t *testing.T) {
	d := newService(t)
	d.world.OutLogged, d.env["CI"] = true, "true"
	require.Equal(t, exit.Usage, d.run("kubeconfig", "team-a-smoke-01"))
	require.Contains(t, d.err.String(), "to a terminal or a log")
	require.Equal(t, exit.Usage, d.run("redeem", d.URL+"/links/abc"))
	require.Empty(t, d.Asked(), "the link is not used up")
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01", "--print"))
	require.Equal(t, exit.OK, d.run("list"))
}

func TestATerminalHasABarWhileItWaits(t *testing.T) {
	d := atTerminal(t)
	require.Equal(t, exit.OK, d.run("wait", "team-a-smoke-01"))
	require.Contains(t, d.err.String(), "██████████  team-a-smoke-01  READY")
	require.True(t, strings.HasSuffix(d.err.String(), "\r\x1b[K"), "it is gone at the end")
	require.NotContains(t, d.out.String(), "█")
}

func TestAnAddressIsOpenedWhereAPersonSeesIt(t *testing.T) {
	d := atTerminal(t)
	require.Equal(t, exit.OK, d.run("open", "team-a-smoke-01"))
	require.Len(t, d.opened, 1)
	require.Contains(t, d.opened[0], "/links/", "an account of the console, with a link that works once")
	require.Equal(t, exit.OK, d.run("open", "team-a-smoke-01", "--print"))
	require.Len(t, d.opened, 1)
	d.world.Browse = func(context.Context, string) error { return errors.New("no xdg-open") }
	require.Equal(t, exit.OK, d.run("open", "team-a-smoke-01"))
	require.Contains(t, d.err.String(), "Open the address yourself")

	d.change("linkConsole", map[string]any{"url": "file:///etc/passwd"})
	require.Equal(t, exit.Other, d.run("open", "team-a-smoke-01"))
	require.Contains(t, d.err.String(), "is not opened")
	d = newService(t)
	require.Equal(t, exit.OK, d.run("open", "team-a-smoke-01"))
	require.Empty(t, d.opened, "a pipe wants the address")
}

func TestWordsOfOthersStayWords(t *testing.T) {
	d := atTerminal(t)
	d.change("getCluster", map[string]any{"why": "\x1b]0;owned\x07 fine", "owner": "ma\u202eya"})
	require.Equal(t, exit.OK, d.run("status", "team-a-smoke-01"))
	require.NotContains(t, d.out.String(), "\x1b]")
	require.NotContains(t, d.out.String(), "\u202e")
	d.change("getCluster", map[string]any{"why": "\u009b2Jfine", "owner": "ma\u202eya"})
	require.Equal(t, exit.OK, d.run("status", "team-a-smoke-01", "-o", "json"))
	require.NotContains(t, d.out.String(), "\u009b")
	require.Contains(t, d.out.String(), `ma\u202eya`, "the same to whoever reads it as JSON")
	d.Handle("getLogs", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "level=info \x1b[2Jmsg=x\n") })
	require.Equal(t, exit.OK, d.run("logs", "team-a-smoke-01"))
	require.Equal(t, "level=info msg=x\n", d.out.String())
}

func TestAListIsFollowed(t *testing.T) {
	d := newService(t)
	ctx, cancel := context.WithCancel(context.Background())
	turn := 0
	d.Handle("watchClusters", func(w http.ResponseWriter, r *http.Request) {
		send := func(name string, changes map[string]any) {
			var all map[string]any
			require.NoError(t, json.Unmarshal(d.Body("getCluster"), &all))
			all["name"], all["clusterId"] = name, "clu_"+name
			maps.Copy(all, changes)
			raw, err := json.Marshal(all)
			require.NoError(t, err)
			fmt.Fprintf(w, "event: cluster\ndata: %s\n\n", raw)
		}
		send("one", nil)
		send("other", map[string]any{"team": "payments"})
		if turn++; turn == 1 {
			return // the stream breaks: the present state comes again
		}
		send("one", map[string]any{"status": "DESTROYED", "phase": "released", "releasedAt": "2025-03-01T11:00:00Z"})
		send("two", nil)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	done := make(chan exit.Code)
	go func() { done <- d.runIn(ctx, "list", "--watch", "--team", "team-a") }()
	require.Eventually(t, func() bool { return strings.Contains(d.out.String(), "two ") }, 10*time.Second, time.Millisecond)
	cancel()
	require.Equal(t, exit.Interrupted, <-done)
	rows := strings.Split(strings.TrimSpace(d.out.String()), "\n")
	require.Len(t, rows, 4, d.out.String())
	for i, begins := range []string{"NAME STATUS", "one READY", "one DESTROYED", "two READY"} {
		require.True(t, strings.HasPrefix(strings.Join(strings.Fields(rows[i]), " "), begins), rows[i])
		require.Equal(t, 23, strings.Index(rows[i], strings.Fields(begins)[1]), "rows that come later line up")
	}
}

func TestManyPagesAreOneAnswer(t *testing.T) {
	d := newService(t)
	var one bytes.Buffer
	require.NoError(t, json.Compact(&one, d.Body("getCluster")))
	d.Handle("listClusters", func(w http.ResponseWriter, r *http.Request) {
		next := map[string]string{"": `,"nextCursor":"b"`, "b": `,"nextCursor":"c"`, "c": ""}[r.URL.Query().Get("cursor")]
		fmt.Fprintf(w, `{"items":[%s,%s]%s}`, one.String(), one.String(), next)
	})
	require.Equal(t, exit.OK, d.run("list", "-o", "name"))
	require.Equal(t, strings.Repeat("team-a-smoke-01\n", 6), d.out.String())
	require.Equal(t, exit.OK, d.run("list", "--limit", "3", "-o", "json"))
	var page struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(d.out.String()), &page))
	require.GreaterOrEqual(t, len(page.Items), 3)
	require.NotContains(t, d.out.String(), "nextCursor")
}

func TestALogGoesOnThroughABrokenConnection(t *testing.T) {
	d := newService(t)
	var all []string
	for i := range 60 {
		all = append(all, fmt.Sprintf("time=%d msg=line", i))
	}
	turn := 0
	d.Handle("getLogs", func(w http.ResponseWriter, r *http.Request) {
		turn++
		from, to := 0, 0
		switch turn {
		case 1:
			from, to = 20, 45
		case 2:
			require.Equal(t, "5000", r.URL.Query().Get("lines"))
			from, to = 0, 50
		default:
			from, to = 0, 60
		}
		for _, line := range all[from:to] {
			fmt.Fprintf(w, "event: log\ndata: %q\n\n", line)
		}
		if turn == 3 {
			fmt.Fprint(w, "event: end\ndata: {}\n\n")
		}
	})
	require.Equal(t, exit.OK, d.run("logs", "team-a-smoke-01", "-f", "--lines", "25"))
	require.Equal(t, strings.Join(all[20:], "\n")+"\n", d.out.String(), "every line once")
	require.Equal(t, 3, turn)
}

func TestAShellTalksToTheClusterAndLeavesNothing(t *testing.T) {
	for shell, want := range map[string]string{"/bin/bash": "--rcfile", "/usr/bin/zsh": "-i", "/usr/bin/fish": "-C", "/bin/ksh": "-i"} {
		d := newService(t)
		d.env["SHELL"] = shell
		var folder string
		d.world.Run = func(cmd *exec.Cmd) error {
			require.Equal(t, shell, cmd.Args[0])
			require.Contains(t, cmd.Args, want)
			folder = d.inside(cmd)
			return nil
		}
		require.Equal(t, exit.OK, d.run("shell", "team-a-smoke-01"), d.err.String())
		require.NoDirExists(t, folder)
		require.Contains(t, d.err.String(), "team-a-smoke-01, in 22 h: KUBECONFIG is set.")
	}
}

func TestACommandsExitCodeIsOurs(t *testing.T) {
	d := newService(t)
	var folder string
	d.world.Run = func(cmd *exec.Cmd) error {
		require.Equal(t, []string{"kubectl", "get", "nodes"}, cmd.Args)
		folder = d.inside(cmd)
		return exec.Command("sh", "-c", "exit 42").Run()
	}
	require.Equal(t, exit.Code(42), d.run("shell", "team-a-smoke-01", "--", "kubectl", "get", "nodes"))
	require.NoDirExists(t, folder)
	require.Empty(t, d.err.String())
	d.world.Run = func(*exec.Cmd) error { return errors.New("not found") }
	require.Equal(t, exit.Other, d.run("shell", "--cluster-id", cluster, "--", "nope"))
	require.Contains(t, d.err.String(), "run nope: not found")
	d.world.Run = func(*exec.Cmd) error { return &exec.Error{Name: "nope", Err: exec.ErrNotFound} }
	require.Equal(t, exit.Code(127), d.run("shell", "team-a-smoke-01", "--", "nope"))
	require.Contains(t, d.err.String(), "the program nope is not on your PATH")
}
