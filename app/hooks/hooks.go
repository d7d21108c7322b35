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
	"strconv"

	"golang.org/x/time/rate"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store"
)

// The bounds of the public listener.
const (
	MaxGitHubBody = 25 << 20 // GitHub caps payloads at 25 MB: docs.github.com, "Webhook events and payloads"
	MaxSlackBody  = 1 << 20

	// Nobody is known before a whole body was read, so what bodies may take together is bounded, and the large ones, which
	// are rare, cannot take the places of the small: 512 × 128 KiB and 8 × 25 MB at most.
	smallBody       = 128 << 10
	defaultInFlight = 512
	largeInFlight   = 8

	defaultRate = 1000
)

// Config wires the door. An empty Slack secret closes the Slack path; GitHub's is required.
type Config struct {
	Store        *store.Store
	GitHubSecret secret.Text
	GitHubNext   secret.Text // holds beside it while one takes the other's place; empty: none does
	SlackSecret  secret.Text

	App           int64            // the App's own number: checks of others mean nothing; 0: the worker tells them apart
	Installations []int64          // of the App that are listened to; none: all
	Repositories  []app.Repository // that are looked after; none: the desk says so of each
	Workspaces    []string         // of Slack that are listened to, by id; none: all

	Rate     int // requests per second of this process, with bursts of twice as many; zero: 1000
	InFlight int // requests read at once; zero: 512
	Log      *slog.Logger
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

	rate     *rate.Limiter
	inFlight chan struct{}
	large    chan struct{} // those of them whose body is no small one
	log      *slog.Logger
}

// New returns the public listener's handler. It serves POST /webhooks/github and POST /webhooks/slack and nothing else.
func New(c Config) (http.Handler, error) {
	if c.GitHubSecret.Empty() {
		return nil, errors.New("the GitHub webhook secret is empty: anybody could sign with it")
	}
	if c.Rate == 0 {
		c.Rate = defaultRate
	}
	if c.InFlight == 0 {
		c.InFlight = defaultInFlight
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	d := &door{
		store: c.Store, github: []byte(c.GitHubSecret.Reveal()), next: []byte(c.GitHubNext.Reveal()), slack: c.SlackSecret.Reveal(),
		app: c.App, events: Events(), installations: c.Installations, repositories: c.Repositories, workspaces: c.Workspaces,
		rate: rate.NewLimiter(rate.Limit(c.Rate), 2*c.Rate), inFlight: make(chan struct{}, c.InFlight),
		large: make(chan struct{}, largeInFlight), log: c.Log,
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/github", d.bounded(MaxGitHubBody, d.gitHub))
	if d.slack != "" {
		mux.Handle("POST /webhooks/slack", d.bounded(MaxSlackBody, d.slackRequest))
	}
	return mux, nil
}

// bounded refuses what is too much or too large before the handler sees the body.
func (d *door) bounded(size int64, next func(http.ResponseWriter, *http.Request, []byte)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.rate.Allow() {
			tooMany(w)
			return
		}
		select {
		case d.inFlight <- struct{}{}:
			defer func() { <-d.inFlight }()
		default:
			tooMany(w)
			return
		}
		body, done, err := d.read(w, r, size)
		defer done()
		var large *http.MaxBytesError
		switch {
		case errors.Is(err, errFull):
			tooMany(w)
		case errors.As(err, &large):
			problem(w, http.StatusRequestEntityTooLarge, "A body may have at most "+strconv.FormatInt(size, 10)+" bytes.")
		case err != nil:
			problem(w, http.StatusBadRequest, "The body ended early. Send it again.")
		default:
			next(w, r, body)
		}
	})
}

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	problem(w, http.StatusTooManyRequests, "Too many requests at once. Send this one again in a second.")
}

// failed answers a request that could not be stored: the sender must know that it is not safe with us.
func (d *door) failed(w http.ResponseWriter, delivery string, err error) {
	d.log.Error("delivery not stored", "delivery", delivery, "err", err)
	w.Header().Set("Retry-After", "10")
	problem(w, http.StatusServiceUnavailable, "It could not be stored. Send it again.")
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
