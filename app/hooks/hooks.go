// Package hooks is the public entry point: the webhooks of GitHub and Slack, and the worker that processes the inbox behind them.
//
// The listener verifies a request over its raw bytes, stores it and answers; it decides nothing, calls nobody and needs only
// PostgreSQL. The InboxWorker interprets a delivery later, with as many retries as necessary. Nothing unsigned is ever stored, and
// nothing stored is ever dropped.
package hooks

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/hooks/guard"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/store"
)

// Config configures the listener. An empty Slack secret switches the Slack path off; GitHub's is required.
type Config struct {
	Store        *store.Store
	GitHubSecret secret.Text
	GitHubNext   secret.Text // valid too while the secret is being replaced; empty: none
	SlackSecret  secret.Text
	SlackSocket  bool // Slack's requests come over a socket: the path of webhooks answers 404 with words

	SlackAPI string // address of Slack's API; empty: Slack's own

	App           int64            // the App's id: check events of other Apps are ignored; 0: the worker distinguishes them
	Installations []int64          // installations of the App that this server handles; none: all
	Repositories  []app.Repository // repositories that this server handles; none: the service says so for each
	Workspaces    []string         // Slack workspaces that this server handles, by id; none: all

	Proxies         source.Networks  // proxies whose information about the client is trusted; none: a request comes from its peer
	GitHubAddresses source.Networks  // addresses from which GitHub's webhooks are accepted; none: every address
	Now             func() time.Time // for the limits of addresses; nil: time.Now
	Log             *slog.Logger
	Counts          Counts // nil: nothing is counted
}

// Counts counts what is odd about GitHub's webhooks: metrics.Metrics.
type Counts interface {
	CountRefused(reason string)    // a signed body did not match its event
	CountUndescribed(event string) // a body had fields that are not known of its event
}

type uncounted struct{}

func (uncounted) CountRefused(string)     {}
func (uncounted) CountUndescribed(string) {}

// The largest bodies.
const (
	MaxGitHubBody = 25 << 20 // GitHub caps payloads at 25 MB: docs.github.com, "Webhook events and payloads"
	MaxSlackBody  = 1 << 20
)

type handler struct {
	store  *store.Store
	github []byte
	next   []byte
	slack  string

	app           int64
	events        map[string][]string
	installations []int64
	repositories  []app.Repository
	intake        *SlackIntake

	log    *slog.Logger
	counts Counts
}

// New returns the public listener's handler. It serves POST /webhooks/github and POST /webhooks/slack and nothing else.
func New(c Config) (http.Handler, error) {
	if c.GitHubSecret.Empty() {
		return nil, errors.New("the GitHub webhook secret is empty, so anybody could sign webhooks")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Counts == nil {
		c.Counts = uncounted{}
	}
	h := &handler{
		counts: c.Counts,
		store:  c.Store, github: []byte(c.GitHubSecret.Reveal()), next: []byte(c.GitHubNext.Reveal()), slack: c.SlackSecret.Reveal(),
		app: c.App, events: Events(), installations: c.Installations, repositories: c.Repositories, intake: NewSlackIntake(c.Store, c.Workspaces, c.SlackAPI, c.Log), log: c.Log,
	}
	g := guard.New(c.Proxies, c.Now, c.Log)
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/github", traceRequests("POST /webhooks/github", g.Handler(h.gitHubEntrance(c.GitHubAddresses))))
	switch {
	case c.SlackSocket:
		mux.HandleFunc("POST /webhooks/slack", noSlack)
	case h.slack != "":
		mux.Handle("POST /webhooks/slack", traceRequests("POST /webhooks/slack", g.Handler(h.slackEntrance())))
	}
	return mux, nil
}

// traceRequests begins a trace with each request. A trace that the request names is not continued: anybody can send one.
func traceRequests(route string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := tracing.Start(r.Context(), tracing.Server, route)
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// answerFailure answers a request that could not be stored, so that the sender knows.
func (h *handler) answerFailure(w http.ResponseWriter, r *http.Request, delivery string, err error) {
	h.log.ErrorContext(r.Context(), "delivery not stored", "delivery", delivery, "correlation", delivery, "err", err)
	guard.NotStored(w)
}

func writeAnswer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // the sender disconnected and will retry
}
