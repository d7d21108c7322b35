// Package hooks is the public door: GitHub's and Slack's webhooks, and the worker that empties the inbox behind them.
//
// The door verifies a request over its raw bytes, stores it and answers; it decides nothing, asks nobody and needs
// PostgreSQL alone. What a delivery means is found out later by the InboxWorker, as often as it takes. Nothing that
// was not signed is ever stored, and nothing that was stored is ever dropped.
package hooks

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/store"
)

// Config wires the door. An empty Slack secret closes the Slack path; GitHub's is required.
type Config struct {
	Store        *store.Store
	GitHubSecret secret.Text
	GitHubNext   secret.Text // holds beside it while one takes the other's place; empty: none does
	SlackSecret  secret.Text

	App           int64            // the App's own number: checks of others mean nothing; 0: the worker tells them apart
	Installations []int64          // of the App that are listened to; none: all
	Repositories  []app.Repository // that are looked after; none: the service says so of each
	Workspaces    []string         // of Slack that are listened to, by id; none: all

	Proxies         source.Networks  // that are believed who called them; none: a request comes from its peer
	GitHubAddresses source.Networks  // that GitHub's webhooks are taken from; none: every address
	Now             func() time.Time // of what is charged to addresses; nil: time.Now
	Log             *slog.Logger
}

type door struct {
	store  *store.Store
	github []byte
	next   []byte
	slack  string

	app           int64
	events        map[string][]string
	installations []int64
	repositories  []app.Repository
	workspaces    []string

	log *slog.Logger
}

// New returns the public listener's handler. It serves POST /webhooks/github and POST /webhooks/slack and nothing else.
func New(c Config) (http.Handler, error) {
	if c.GitHubSecret.Empty() {
		return nil, errors.New("the GitHub webhook secret is empty, so anybody could sign webhooks")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	d := &door{
		store: c.Store, github: []byte(c.GitHubSecret.Reveal()), next: []byte(c.GitHubNext.Reveal()), slack: c.SlackSecret.Reveal(),
		app: c.App, events: Events(), installations: c.Installations, repositories: c.Repositories, workspaces: c.Workspaces, log: c.Log,
	}
	g := newGuard(c.Proxies, c.Now, c.Log)
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/github", g.handler(d.gitHubEntrance(c.GitHubAddresses)))
	if d.slack != "" {
		mux.Handle("POST /webhooks/slack", g.handler(d.slackEntrance()))
	}
	return mux, nil
}

// failed answers a request that could not be stored: the sender must know that it is not safe with us.
func (d *door) failed(w http.ResponseWriter, delivery string, err error) {
	d.log.Error("delivery not stored", "delivery", delivery, "err", err)
	notStored(w)
}

func notStored(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "10")
	problem(w, http.StatusServiceUnavailable, "The delivery could not be stored. Send it again.")
}

func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // a sender that went away will ask again
}

// problem answers with RFC 9457's document; detail says the next step.
func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // as above
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail,
	})
}
