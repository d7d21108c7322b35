package slack_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

const token = "demo-slack-bot-token"

// start starts a stand-in whose events are sent again at once.
func start(t *testing.T, cfg slack.Config) *slack.Server {
	t.Helper()
	cfg.Token, cfg.SigningSecret = token, "secret"
	if cfg.Retries == nil {
		cfg.Retries = []time.Duration{0, 0, 0}
	}
	s, err := slack.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// got is one request that the app received.
type got struct {
	Header http.Header
	Form   url.Values     // of a slash command
	JSON   map[string]any // of an event or interaction
}

// at returns a field of the request's JSON by its path.
func (g got) at(path string) any {
	var v any = g.JSON
	for key := range strings.SplitSeq(path, ".") {
		switch o := v.(type) {
		case map[string]any:
			v = o[key]
		case []any:
			v = o[int(key[0]-'0')]
		default:
			return nil
		}
	}
	return v
}

// app is an app's server: it checks signatures, remembers requests and responds as it is told.
type app struct {
	*slack.Server
	t *testing.T

	mu      sync.Mutex
	got     []got
	respond func(got) (status int, body string) // nil: 200 and nothing
	hang    chan struct{}                       // it responds when this is closed; nil: at once
}

func withApp(t *testing.T, cfg slack.Config) *app {
	t.Helper()
	a := &app{t: t}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	cfg.CommandURL = server.URL
	a.Server = start(t, cfg)
	return a
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	verifier, err := api.NewSecretsVerifier(r.Header, "secret")
	if err == nil {
		_, _ = verifier.Write(raw)
		err = verifier.Ensure()
	}
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	g := got{Header: r.Header}
	if r.Header.Get("Content-Type") == "application/json" {
		_ = json.Unmarshal(raw, &g.JSON)
	} else if g.Form, _ = url.ParseQuery(string(raw)); g.Form.Has("payload") {
		_ = json.Unmarshal([]byte(g.Form.Get("payload")), &g.JSON)
	}
	a.mu.Lock()
	a.got = append(a.got, g)
	respond, hang := a.respond, a.hang
	a.mu.Unlock()
	if hang != nil {
		<-hang
	}
	status, body := http.StatusOK, ""
	if respond != nil {
		status, body = respond(g)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// answers makes the app respond to everything in the same way.
func (a *app) answers(status int, body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.respond = func(got) (int, string) { return status, body }
}

func (a *app) all() []got {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]got(nil), a.got...)
}

// last returns the newest request.
func (a *app) last() got {
	a.t.Helper()
	all := a.all()
	require.NotEmpty(a.t, all)
	return all[len(all)-1]
}

// call calls a method of the Web API with the bot's token.
func call(t *testing.T, s *slack.Server, method string, args map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(args)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.API()+method, strings.NewReader(string(body)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer map[string]any
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	return answer
}

// code is the error with which a call is answered.
func code(t *testing.T, r *http.Request) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer struct{ Error string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	return answer.Error
}

// done calls a method that must succeed.
func done(t *testing.T, s *slack.Server, method string, args map[string]any) map[string]any {
	t.Helper()
	answer := call(t, s, method, args)
	require.Equal(t, true, answer["ok"], "%s: %v", method, answer)
	return answer
}

type m = map[string]any

func button(action, text string) m {
	return m{"type": "button", "action_id": action, "text": m{"type": "plain_text", "text": text}, "value": "v-" + action}
}

func actions(block string, elements ...m) m {
	return m{"type": "actions", "block_id": block, "elements": elements}
}

func section(text string) m {
	return m{"type": "section", "text": m{"type": "mrkdwn", "text": text}}
}

func input(id, label string, element m, more m) m {
	element["action_id"] = id
	b := m{"type": "input", "block_id": id, "label": m{"type": "plain_text", "text": label}, "element": element}
	maps.Copy(b, more)
	return b
}

func menu(values ...string) m {
	var options []m
	for _, v := range values {
		options = append(options, m{"text": m{"type": "plain_text", "text": strings.ToUpper(v)}, "value": v})
	}
	return m{"type": "static_select", "options": options}
}

func modal(callback string, blocks ...m) m {
	return m{
		"type": "modal", "callback_id": callback, "title": m{"type": "plain_text", "text": "Create"}, "submit": m{"type": "plain_text", "text": "Go"},
		"private_metadata": "meta", "blocks": blocks,
	}
}
