// Package slackstory_test lives random lives of a workspace in Slack, with everything that the product has for it: the endpoint, the
// inbox, the application, the controller's messages and the notifier, on PostgreSQL and the stand-in for Slack. A clock that the test
// dictates is that of Slack and of the database.
package slackstory_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops"
	wire "github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/controller/notifier"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const (
	botToken      = "story-bot-token-0123456789"
	signingSecret = "story-signing-secret-0123456789"
	longLease     = 1000 * time.Hour // no runner is ever lost
)

var limits = lifecycle.Limits{
	LaunchPatience: longLease, LeaseGrace: time.Minute, LookAgain: time.Hour, RetryBase: time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3,
	VerifyGap: time.Nanosecond, WarnBefore: time.Hour,
}

// people has the roles, and a policy by which some clusters wait for an approval.
var people = map[string]string{
	"quotas/quotas.yaml":  "quotas: [{name: team, scope: team, live: 1000, creating: 1000}]\n",
	"teams/platform.yaml": "name: platform\nowner: will\ncostCenters: [sandbox]\nenvironments: [test]\n",
	"identities/story.yaml": `
identities:
  - {name: story-maya, source: slack, match: {workspace: [T0DEMOACME], user: [U0DEMOMAYA]}, role: requester, teams: [platform]}
  - {name: story-rob, source: slack, match: {workspace: [T0DEMOACME], user: [U0DEMOROBB]}, role: requester, teams: [platform]}
  - {name: story-will, source: slack, match: {workspace: [T0DEMOACME], user: [U0DEMOWILL]}, role: platform_admin, teams: [platform]}
  - {name: story-gwen, source: saml, match: {groups: [story]}, role: requester, teams: [platform]}
  - {name: story-ada, source: slack, match: {workspace: [T0DEMOACME], user: [U0DEMOADAA]}, role: auditor, teams: ["*"]}
`,
	"policies/story.yaml": `
name: story
rules:
  - name: careful
    when: "request.name.startsWith('careful')"
    effect: requireApproval
    message: This one takes a platform admin's word.
    approval: {count: 1, by: platform_admin, for: 24h}
`,
}

// world is one life of the workspace.
type world struct {
	*rapid.T
	store    *store.Store
	slack    *slack.Server
	process  atomic.Pointer[process]
	clock    atomic.Pointer[time.Time]
	yard     yard
	terms    catalogue.Catalogue
	front    *httptest.Server // Slack's requests arrive here
	endpoint *httptest.Server // the product's

	mu       sync.Mutex
	due      map[int64]time.Time // of jobs that wait
	failed   map[int64]error     // how they failed last
	fates    []string            // what becomes of the next requests that Slack sends
	deaths   int                 // this call of Slack's API from now on is the last one of its process; 0: none
	calls    map[string]int      // of Slack's API
	unsure   int                 // calls whose answer was lost, or after which the process died
	accepted map[string]inbound.Request
	deleted  map[int64]bool // timestamps of messages that people deleted
	named    int            // clusters so far
}

// process is everything that a restart begins anew.
type process struct {
	handler http.Handler
	workers *river.Workers
	homes   *hooks.Homes
}

func newWorld(outer *testing.T, t *rapid.T) *world {
	w := &world{
		T: t, due: map[int64]time.Time{}, failed: map[int64]error{}, calls: map[string]int{}, accepted: map[string]inbound.Request{}, deleted: map[int64]bool{},
	}
	start := time.Now().Truncate(time.Second)
	w.clock.Store(&start)
	ctx := context.WithoutCancel(t.Context())
	var err error
	w.store, err = store.Open(ctx, pgtest.New(outer), db.Options{Limits: limits, Lease: longLease, Installation: "test", Now: w.now})
	require.NoError(t, err)
	t.Cleanup(w.store.Close)
	w.front = httptest.NewServer(http.HandlerFunc(w.arrive))
	t.Cleanup(w.front.Close)
	w.endpoint = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { w.current().handler.ServeHTTP(out, r) }))
	t.Cleanup(w.endpoint.Close)
	w.slack, err = slack.Start(ctx, slack.Config{
		Token: botToken, SigningSecret: signingSecret, CommandURL: w.front.URL + "/webhooks/slack", Patience: time.Minute, Now: w.now,
		Retries: []time.Duration{0, 0, 0},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.slack.Stop()) })
	w.terms = servicetest.Catalogue(outer, people)
	w.restart()
	w.links()
	return w
}

// links has gwen link her account.
func (w *world) links() {
	core := app.New(w.config())
	links := credentials.New(core, w.config())
	account := "slack:" + slack.Workspace + "/" + gwen
	link, err := links.AccountLink(w.Context(), account, gwen, clusters.Origin{Actor: account, Source: "slack", Why: "/ocp link"})
	require.NoError(w, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	who := policy.Principal{ID: linked, Name: "Gwen", Proof: &policy.Claims{Source: profiles.SourceSAML, Subject: "gwen", Values: map[string][]string{"groups": {"story"}}}}
	got, err := links.Redeem(w.Context(), who, handle, app.Origin{Source: policy.SourceWeb})
	require.NoError(w, err)
	require.NoError(w, links.CompleteLink(w.Context(), account, got.Code.Reveal(), clusters.Origin{Actor: account, Source: "slack", Why: "/ocp link"}))
}

// config is that of the application.
func (w *world) config() app.Config {
	return app.Config{
		Store: w.store, Catalogue: func() catalogue.Catalogue { return w.terms }, Policy: policy.Settings{Grace: time.Minute, Installation: "test"},
		Installs: app.Installs{PullSecretRef: "file:/run/pull-secret", Clouds: map[string]app.Cloud{"aws": {Account: "123456789012"}}}, UI: "https://ocpctl.example.com",
	}
}

func (w *world) now() time.Time { return *w.clock.Load() }

func (w *world) pass(d time.Duration) {
	next := w.now().Add(d)
	w.clock.Store(&next)
}

func (w *world) current() *process { return w.process.Load() }

// restart begins a new process: nothing is remembered but what is stored.
func (w *world) restart() {
	log := slog.New(slog.DiscardHandler)
	client, err := wire.New(wire.Config{Token: secret.New(botToken), BaseURL: w.slack.API(), Transport: mortal{w}})
	require.NoError(w, err)
	cfg := w.config()
	core := app.New(cfg)
	links := credentials.New(core, cfg)
	inSlack := slackapp.New(core, links, admin.New(core, cfg), client, cfg)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(w, err)
	engine := controller.New(controller.Config{
		Store: w.store, Dispatcher: &w.yard, Teller: client, Spool: noSpool{}, Signer: token.NewSigner(key, time.Hour), Limits: limits,
		FindingLimits: lifecycle.FindingLimits{MinAge: time.Hour, MinSights: 2}, Links: chatops.Links{UI: cfg.UI}, Log: log,
		Wake: time.Second, FindEvery: time.Second, Now: w.now, Settling: -1,
	})
	p := &process{workers: river.NewWorkers(), homes: hooks.NewHomes(w.store)}
	engine.Register(p.workers)
	notifier.New(notifier.Config{Store: w.store, Slack: client, AdminChannel: slack.Admins, Links: chatops.Links{UI: cfg.UI}, Log: log}).Register(p.workers)
	river.AddWorker(p.workers, hooks.NewInboxWorker(w.store, pulls.New(core, links, cfg), runs.New(runs.Config{Store: w.store}), inSlack, 1, log))
	river.AddWorker(p.workers, hooks.NewHomeWorker(inSlack, log))
	p.handler, err = hooks.New(hooks.Config{
		Store: w.store, GitHubSecret: secret.New("not used in these lives"), SlackSecret: secret.New(signingSecret), Workspaces: []string{slack.Workspace},
	})
	require.NoError(w, err)
	w.process.Store(p)
}

// arrive lets something become of a request that Slack sends, and hands it to the endpoint, which verifies signatures by the real
// clock.
func (w *world) arrive(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fate := ""
	w.mu.Lock()
	if len(w.fates) > 0 {
		fate, w.fates = w.fates[0], w.fates[1:]
	}
	w.mu.Unlock()
	if fate == "is lost" {
		http.Error(out, fate, http.StatusBadGateway)
		return
	}
	a := w.take(r, body)
	if fate == "comes twice" {
		a = w.take(r, body)
	}
	if fate == "answer is lost" {
		http.Error(out, fate, http.StatusBadGateway)
		return
	}
	out.Header().Set("Content-Type", a.kind)
	out.WriteHeader(a.status)
	_, _ = out.Write(a.body) // Slack hung up
}

// answer is that of the endpoint.
type answer struct {
	status int
	kind   string
	body   []byte
}

func (w *world) take(r *http.Request, body []byte) answer {
	again, err := http.NewRequest(r.Method, w.endpoint.URL+r.URL.Path, bytes.NewReader(body))
	require.NoError(w, err)
	again.Header = r.Header.Clone()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	again.Header.Set("X-Slack-Request-Timestamp", stamp)
	again.Header.Set("X-Slack-Signature", slack.Sign(signingSecret, stamp, string(body)))
	resp, err := w.endpoint.Client().Do(again)
	require.NoError(w, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(w, err)
	a := answer{resp.StatusCode, resp.Header.Get("Content-Type"), raw}
	said, err := inbound.Decode(r.Header.Get("Content-Type"), body)
	rejected := bytes.Contains(raw, []byte(`"response_action":"errors"`))
	if err == nil && a.status == http.StatusOK && said.ID != "" && said.Kind != inbound.Ignored && !rejected {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.accepted[said.ID] = said
	}
	return a
}

// mortal is a transport whose process may die behind any call.
type mortal struct{ *world }

func (m mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	m.calls[r.URL.Path]++
	m.deaths--
	dies := m.deaths == 0
	m.mu.Unlock()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || dies {
		m.mu.Lock()
		m.unsure++
		m.mu.Unlock()
	}
	if dies {
		if err == nil {
			_ = answer.Body.Close() // nobody reads it
		}
		panic(errDied)
	}
	return answer, err
}

// yard is where runners run: each that was started runs for ever.
type yard struct {
	mu      sync.Mutex
	started map[string]bool
}

func (y *yard) Start(_ context.Context, job dispatch.Job) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.started == nil {
		y.started = map[string]bool{}
	}
	y.started[job.Attempt] = true
	return nil
}

func (y *yard) Observe(_ context.Context, attempt string) (dispatch.Observation, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.started[attempt] {
		return dispatch.Observation{Sighting: dispatch.Running}, nil
	}
	return dispatch.Observation{Sighting: dispatch.NotStarted}, nil
}

func (y *yard) Living(context.Context, string) ([]int, error) { return nil, nil }
func (y *yard) Stop(context.Context, string) error            { return nil }
func (y *yard) Kill(context.Context, string) error            { return nil }
func (y *yard) Kept(context.Context) ([]string, error)        { return nil, nil }
func (y *yard) Forget(context.Context, string) error          { return nil }

// noSpool is the spool of runners that reach the Status API.
type noSpool struct{}

func (noSpool) Spooled(context.Context, string) ([]artifacts.Document, error) { return nil, nil }
