// Package clients_test runs Slack's own clients for Node.js against the stand-in for Slack: what they send must be understood, and they
// must understand what they get. So the stand-in can be trusted where it stands against the product: its Socket Mode, which those clients
// speak, is what the product's receiver is tested with. The product's endpoint for HTTP is tested with Slack's own check of signatures.
// They are pinned in npm/package-lock.json and need Node.js 18 or later with npm.
package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/devstack/npm"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/devstack/slack"
	product "github.com/ocpctl/ocpctl/internal/secret"
)

//go:embed npm
var embedded embed.FS

// programs are the files in npm.
var programs, _ = fs.Sub(embedded, "npm") // a name that is valid cannot be refused

// installed returns a folder with the clients.
var installed = sync.OnceValues(func() (string, error) { return npm.Install("slack-clients", programs) })

const (
	token  = "demo-slack-bot-token"
	secret = "demo-slack-signing-secret"
)

// script returns the command that runs one of the programs in npm against a stand-in.
func script(t *testing.T, s *slack.Server, name string, env ...string) *exec.Cmd {
	t.Helper()
	modules, err := installed()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, programs))
	require.NoError(t, os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")))
	cmd := exec.CommandContext(t.Context(), "node", name)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SLACK_API="+s.API(), "SLACK_TOKEN="+token, "SLACK_APP_TOKEN="+slack.DefaultAppToken, "SLACK_SECRET="+secret)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func start(t *testing.T, cfg slack.Config) *slack.Server {
	t.Helper()
	cfg.Token, cfg.SigningSecret = token, secret
	cfg.Retries = []time.Duration{0, time.Second, time.Second}
	s, err := slack.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// line is what a program prints.
type line map[string]any

// program is a running program that prints lines.
type program struct {
	t     *testing.T
	lines chan line
	errs  *bytes.Buffer
}

// run starts a program, which ends with the test.
func run(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, lines: make(chan line, 100), errs: &bytes.Buffer{}}
	cmd.Stderr = p.errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			var l line
			if json.Unmarshal(scan.Bytes(), &l) == nil {
				p.lines <- l
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-read
		_ = cmd.Wait() // it was killed
	})
	return p
}

// next returns the next line that a program prints, which must be about one thing.
func (p *program) next(got string) line {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	select {
	case l, ok := <-p.lines:
		require.True(p.t, ok, "the program ended: %s", p.errs)
		require.Equal(p.t, got, l["got"], "%v", l)
		return l
	case <-ctx.Done():
		require.Fail(p.t, "the program printed nothing", "waited for %s: %s", got, p.errs)
		return nil
	}
}

func TestSlacksWebAPIClientWorksWithTheStandIn(t *testing.T) {
	t.Parallel()
	s := start(t, slack.Config{CommandURL: "http://127.0.0.1:1"})
	cmd := script(t, s, "web_api.mjs")
	s.Break("chat.postMessage", slack.Fault{Times: 5}) // nothing is wrong with the first five calls
	s.Break("chat.postMessage", slack.Fault{RetryAfter: 1})
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, s.Seen("maya"), "for you")
}

func TestTheEndpointTakesExactlyWhatSlacksFrameworkTakes(t *testing.T) {
	t.Parallel()
	s := start(t, slack.Config{CommandURL: "http://127.0.0.1:1"})
	kept := servicetest.Store(t, pgtest.New(t))
	var passed atomic.Int64
	handler, err := hooks.New(hooks.Config{Store: kept, GitHubSecret: product.New("not used here"), SlackSecret: product.New(secret), Now: func() time.Time { // a minute passes with each request: many that are not signed would be limited
		return time.Now().Add(time.Duration(passed.Add(1)) * time.Minute)
	}})
	require.NoError(t, err)
	endpoint := httptest.NewServer(handler)
	t.Cleanup(endpoint.Close)
	out, err := script(t, s, "endpoint.mjs", "ENDPOINT="+endpoint.URL+"/webhooks/slack").CombinedOutput()
	require.NoError(t, err, string(out))
	require.JSONEq(t, `{"got": "agreed", "sent": 48}`, string(out))
	var stored []string
	require.NoError(t, kept.Pool().QueryRow(t.Context(), `SELECT array_agg(event ORDER BY id) FROM deliveries`).Scan(&stored))
	require.Equal(t, []string{"slash_command", "press", "shortcut", "home_opened"}, stored, "each that Slack signed, once")
}

// bolt starts an app on Bolt behind a stand-in.
func bolt(t *testing.T, socket bool) (*slack.Server, *program) {
	t.Helper()
	var app http.Handler // set when the app listens
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { app.ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	s := start(t, slack.Config{CommandURL: front.URL + "/slack/events", Socket: socket})
	mode := map[bool]string{false: "http", true: "socket"}[socket]
	p := run(t, script(t, s, "bolt.mjs", "MODE="+mode))
	port := p.next("started")["port"]
	app = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%v", port)})
	return s, p
}

func TestAnAppOnBoltUnderstandsTheStandIn(t *testing.T) {
	t.Parallel()
	for mode, socket := range map[string]bool{"over signed requests": false, "over Socket Mode": true} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, p := bolt(t, socket)
			commandsAndMessages(t, s, p)
			formsAndShortcuts(t, s, p)
			changes(t, s, p)
		})
	}
}

func commandsAndMessages(t *testing.T, s *slack.Server, p *program) {
	ctx := t.Context()
	got, err := s.Command(ctx, "maya", slack.Clusters, "share @rob")
	require.NoError(t, err)
	require.Equal(t, "Got it: share <@U0DEMOROBB|rob>", got)
	require.Equal(t, "U0DEMOMAYA", p.next("command")["user"])
	require.Contains(t, s.Seen("maya"), "Later: share <@U0DEMOROBB|rob>", "by the response_url")

	asked, err := s.Mention(ctx, "rob", slack.Clusters, "help")
	require.NoError(t, err)
	mention := p.next("mention")
	require.Equal(t, "<@"+slack.Bot+"> help", mention["text"])
	reply := s.Messages()[len(s.Messages())-1]
	require.Equal(t, []any{asked, mention["posted"]}, []any{reply.Thread, reply.TS})

	_, err = s.DirectMessage(ctx, "gwen", "list")
	require.NoError(t, err)
	require.Equal(t, line{"got": "message", "text": "list", "type": "im"}, p.next("message"))
	require.Equal(t, []string{"You wrote to me"}, s.Seen("gwen"))
	require.NoError(t, s.OpenHome(ctx, "gwen"))
	p.next("home")
	require.Contains(t, string(s.Home("gwen").Blocks), "Welcome")
}

func formsAndShortcuts(t *testing.T, s *slack.Server, p *program) {
	ctx := t.Context()
	var posted string
	for _, m := range s.Messages() {
		if m.Text == "You asked me" {
			posted = m.TS
		}
	}
	require.NoError(t, s.Click(ctx, "rob", posted, "Open"))
	opened := p.next("action")
	require.Equal(t, []any{"7", posted}, []any{opened["value"], opened["message"]})
	id := opened["view"].(string)
	require.NoError(t, s.ChangeField(ctx, "rob", id, "Profile", "large"))
	require.Equal(t, "large", p.next("change")["value"])
	require.Contains(t, string(s.Modal("rob").Blocks), "large costs 3 $")

	require.NoError(t, s.ChangeField(ctx, "rob", id, "Name", "taken"))
	view, err := s.SubmitView(ctx, "rob")
	require.NoError(t, err)
	require.Equal(t, line{"got": "submission", "name": "taken", "profile": "large", "metadata": "7"}, p.next("submission"))
	require.Equal(t, map[string]string{"name": "This name is taken."}, view.Errors)
	require.NoError(t, s.ChangeField(ctx, "rob", id, "Name", "slow"))
	view, err = s.SubmitView(ctx, "rob")
	require.NoError(t, err)
	p.next("submission")
	require.Equal(t, "Working", view.Title)
	require.NoError(t, s.CloseView(ctx, "rob"))

	require.NoError(t, s.UseShortcut(ctx, "rob", "create", ""))
	require.Equal(t, "shortcut", p.next("shortcut")["type"])
	require.NoError(t, s.ChangeField(ctx, "rob", s.Modal("rob").ID, "profile", "small"))
	p.next("change")
	require.NoError(t, s.ChangeField(ctx, "rob", s.Modal("rob").ID, "name", "free"))
	view, err = s.SubmitView(ctx, "rob")
	require.NoError(t, err)
	p.next("submission")
	require.Nil(t, view)
	require.NoError(t, s.UseShortcut(ctx, "rob", "create", ""))
	p.next("shortcut")
	require.NoError(t, s.CloseView(ctx, "rob"))
	require.Equal(t, false, p.next("closed")["cleared"])
	require.NoError(t, s.UseShortcut(ctx, "maya", "create_message", posted))
	require.Equal(t, line{"got": "shortcut", "type": "message_action", "text": "You asked me"}, p.next("shortcut"))
}

func changes(t *testing.T, s *slack.Server, p *program) {
	ctx := t.Context()
	require.NoError(t, s.Archive(ctx, slack.Payments))
	require.Equal(t, slack.Payments, p.next("channel_archive")["channel"])
	require.NoError(t, s.Kick(ctx, slack.Clusters))
	require.Equal(t, slack.Clusters, p.next("channel_left")["channel"])
	require.NoError(t, s.Deactivate(ctx, "will"))
	require.Equal(t, "U0DEMOWILL", p.next("user_change")["user"])
	for _, sent := range s.Sent() {
		require.Empty(t, sent.Code, "%+v", sent)
		require.Zero(t, sent.Attempt, "%+v", sent)
	}
}

func TestSlacksSocketModeClientReceivesAndAcknowledges(t *testing.T) {
	t.Parallel()
	s := start(t, slack.Config{Socket: true, Patience: time.Second})
	p := run(t, script(t, s, "socket_mode.mjs"))
	p.next("connected")
	got, err := s.Command(t.Context(), "maya", slack.Clusters, "help")
	require.NoError(t, err)
	require.Equal(t, "Got it: help", got)
	require.Equal(t, "/ocp", p.next("slash_commands")["body"].(map[string]any)["command"])
	require.NoError(t, s.UseShortcut(t.Context(), "maya", "create", ""))
	require.Equal(t, "shortcut", p.next("interactive")["body"].(map[string]any)["type"])

	_, err = s.Mention(t.Context(), "maya", slack.Clusters, "ignore me at first")
	require.NoError(t, err)
	first, again := p.next("events_api"), p.next("events_api")
	require.Equal(t, first["body"], again["body"])
	require.Equal(t, []any{1.0, "timeout"}, []any{again["retry"], again["reason"]})

	s.Disconnect("refresh_requested")
	p.next("connected")
	require.NoError(t, s.OpenHome(t.Context(), "maya"))
	require.Equal(t, "app_home_opened", p.next("events_api")["body"].(map[string]any)["event"].(map[string]any)["type"])
}
