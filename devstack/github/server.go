// Package github is a stand-in for GitHub: one organisation, three repositories, a few pull requests, and the App of ocpctl. It
// implements GitHub's REST and GraphQL APIs as far as ocpctl needs them, sends signed webhooks in GitHub's own format, and shows the
// pull requests and workflow runs on pages for experiments. Runs follow the rules of package runs; an Engine, package actions, executes
// their jobs, and without one nobody does.
//
// It must never be more lenient than GitHub: App JWTs are verified, every call needs a token that it issued and the permission that
// GitHub's documentation names for it, ids and responses look like GitHub's (described_test.go compares them with its OpenAPI
// description), webhooks are tried once. Its pages say that it is a stand-in.
package github

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/rsakey"
)

// Config says where the stand-in listens, where it sends webhooks and where it stores its state.
type Config struct {
	Addr          string           // empty: a free port on the loopback
	URL           string           // a URL that leads here, without a final slash; empty: the address itself
	WebhookURL    string           // empty: no webhooks until SetWebhook
	WebhookSecret string           // signs them
	ClientSecret  string           // of the App, for the user authorization; empty: a new one that nobody knows
	CallbackURL   string           // the only page to which people are sent back from it
	SlackURL      string           // of the stand-in for Slack, which may show the pages beside its own; empty: there is none
	StatePath     string           // JSON file; empty: no state is stored
	KeyPath       string           // the App's private key, PEM, created if missing; empty: a new one each time
	IssuerDir     string           // holds the key of the issuer of jobs' tokens; empty: a new one each time
	Engine        Engine           // executes workflows; nil: events start none
	Now           func() time.Time // nil: time.Now
}

// Server is a running stand-in. It is also the Place acme/shop.
type Server struct {
	Place
	base   string
	slack  string // URL; empty: there is no stand-in for Slack
	now    func() time.Time
	disk   disk
	key    rsakey.Key
	issuer *oidc.Issuer // of jobs' tokens
	stop   func() error

	engine     Engine
	work       chan struct{} // signals the foreman
	executions executions
	logs       logs
	idTokens   sync.Map // job → hash of the token with which it asks for others
	oauth      oauth

	mu          sync.Mutex // guards everything below
	hook        Hook
	app         Manifest
	world       *world
	faults      faults
	meter       meter
	outbox      []*Delivery   // to be sent
	lastTrouble string        // of the engine
	mail        chan struct{} // signals that the outbox is not empty
}

// Start listens and serves until Stop is called or ctx ends. It continues with the state in StatePath, including undelivered
// webhooks.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	s := &Server{
		slack: cfg.SlackURL, now: cfg.Now, disk: disk{cfg.StatePath}, mail: make(chan struct{}, 1),
		hook: Hook{URL: cfg.WebhookURL, Secret: cfg.WebhookSecret}, app: Registered(), meter: newMeter(),
		engine: cfg.Engine, work: make(chan struct{}, 1),
		oauth: oauth{secret: cmp.Or(cfg.ClientSecret, rand.Text()), callback: cfg.CallbackURL, codes: map[string]*code{}, tokens: map[string]userToken{}, known: map[int64]bool{}},
	}
	if cfg.StatePath != "" {
		s.logs.dir = cfg.StatePath + ".logs"
	}
	s.Place = Place{s, Repo}
	if s.now == nil {
		s.now = time.Now
	}
	s.key = must.Get(rsakey.Load(cfg.KeyPath))
	s.world = must.Get(s.disk.load())
	if s.world == nil {
		s.world = newWorld(s.now())
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	must.Wrap(err, "listen for the stand-in GitHub")
	if s.base = cfg.URL; s.base == "" {
		s.base = "http://" + listener.Addr().String()
	}
	if s.issuer, err = oidc.New(s.base+issuerPath, oidc.Config{Dir: cfg.IssuerDir, Now: s.now}); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.serve(ctx, listener)
	return s, nil
}

// serve runs the HTTP server and the postman, and prepares their stop.
func (s *Server) serve(ctx context.Context, listener net.Listener) {
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	var group errgroup.Group
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve the stand-in GitHub: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		s.postman(ctx)
		return server.Close()
	})
	if s.engine != nil {
		group.Go(func() error {
			s.foreman(ctx)
			return nil
		})
	}
	s.stop = sync.OnceValue(func() error {
		cancel()
		defer s.key.Release()
		return errors.Join(group.Wait(), s.issuer.Stop())
	})
	s.resume()
}

// Stop stops the server. Webhooks not delivered by now are sent after the next start.
func (s *Server) Stop() error { return s.stop() }

// URL is the stand-in's URL, without a final slash: the API's base and the pages' start.
func (s *Server) URL() string { return s.base }

// KeyPEM is the App's private key.
func (s *Server) KeyPEM() []byte { return s.key.PEM() }

// SetWebhook sets the target of webhooks and their secret from now on.
func (s *Server) SetWebhook(url, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = Hook{URL: url, Secret: secret}
}

// change runs fn on the world and stores the result; it sends the returned events as webhooks. fn must check before it changes
// anything: an error does not undo changes.
func (s *Server) change(fn func(w *world) ([]Event, error)) (err error) {
	defer must.Catch(&err)
	s.mu.Lock()
	defer s.mu.Unlock()
	events := must.Get(fn(s.world))
	must.Do(errors.Join(s.queueDeliveries(events), s.happened(events)))
	return s.disk.save(s.world)
}

// look runs fn on the world, which it must not change.
func (s *Server) look(fn func(w *world)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s.world)
}

// firstRepo is a repository's initial state.
type firstRepo struct {
	*repository
	first  int // number of the first pull request
	titles []firstPull
}

type firstPull struct{ author, title, body string }

var shopPulls = []firstPull{
	{"will", "Checkout: retry the payment call once on a timeout", "The gateway answers late about twice a day. One retry with the same idempotency key is enough."},
	{"maya", "Cart service: move sessions to Redis", "Needs a real cluster to see how it behaves when a Redis pod is drained."},
	{"will", "Add an OpenShift route for the storefront", "Edge-terminated TLS, redirect from HTTP."},
	{"maya", "Upgrade the operator SDK to 1.38", "Regenerated bundle, no change in behaviour expected."},
	{ForkOwner, "Fix a typo in the product page and bump the build image", "Found while reading the code. Comes from a fork."},
	{"rita", "Docs: how to run the storefront locally", "Screenshots follow."},
	{"will", "Inventory: read replicas for the catalogue", "Measured on the staging cluster: p95 from 180 ms to 40 ms."},
	{"maya", "Network policies for every namespace", "Default deny, then what each service needs."},
	{"will", "Drop support for the v1 order API", "Nobody has called it since August."},
}

var apiPulls = []firstPull{
	{"will", "Orders: page through the list by cursor", "Offsets get slow after a million rows."},
	{ForkOwner, "Answer 404 rather than 500 for an unknown order", "My first change here. Comes from a fork."},
	{"maya", "Move the API to the new ingress class", "To be tried on a cluster first."},
}

// startPermissions are the roles of the demo's people. All other accounts may read a public repository.
func startPermissions() map[string]string {
	return map[string]string{"maya": "maintain", "will": "write", "rita": "read", "ada": "admin", "rob": "triage", ForkOwner: "read"}
}

const firstNumber = 41

func startRepos() []firstRepo {
	shop := newRepository(RepoID, Repo)
	shop.Contributors = []string{ForkOwner}
	api := newRepository(1002, SecondRepo)
	ledger := newRepository(1003, PrivateRepo)
	shop.Access, api.Access, ledger.Private = true, true, true
	delete(ledger.Permissions, ForkOwner)
	return []firstRepo{
		{shop, firstNumber, shopPulls}, {api, 7, apiPulls},
		{ledger, 1, []firstPull{{"maya", "Book refunds on the day they are made", "For the year's end."}}},
	}
}

// pulls returns the repository's initial pull requests, all open, seven hours apart.
func (f firstRepo) pulls(now time.Time) []PullRequest {
	var out []PullRequest
	for i, t := range f.titles {
		n := f.first + i
		opened := now.UTC().Truncate(time.Second).Add(-time.Duration(len(f.titles)-i) * 7 * time.Hour)
		pr := PullRequest{
			Number: n, Title: t.title, Body: t.body, Author: t.author, HeadOwner: Org, Open: true, Labels: []string{},
			HeadRef: branchName(t.title), HeadSHA: commitID(f.Name, n, 1), BaseSHA: commitID(f.Name, 0, 1),
			Pushes: 1, CreatedAt: opened, UpdatedAt: opened,
		}
		if t.author == ForkOwner {
			pr.HeadOwner = ForkOwner
		}
		out = append(out, pr)
	}
	return out
}

// Pulls returns the initial pull requests of Repo, all open: #41 to #49, #45 from a fork.
func Pulls(now time.Time) []PullRequest { return startRepos()[0].pulls(now) }

func startFiles(repo string) map[string]string {
	out := map[string]string{"README.md": "# " + repo + "\n\nA repository of the stand-in GitHub.\n"}
	if repo == Repo {
		maps.Copy(out, shopFiles())
	}
	return out
}

// shop are the files of Repo besides its README: workflows, and what they use.
//
//go:embed shop
var shop embed.FS

func shopFiles() map[string]string {
	out := map[string]string{}
	_ = fs.WalkDir(shop, "shop", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			raw, err := shop.ReadFile(path)
			if err != nil {
				return err
			}
			// A folder whose name begins with a dot is not embedded.
			out[strings.Replace(strings.TrimPrefix(path, "shop/"), "github/", ".github/", 1)] = string(raw)
		}
		return err
	})
	return out
}

// disk stores the world in one JSON file and every webhook's body in a file beside it. An empty path stores nothing.
type disk struct{ path string }

// load reads the world; nil when there is none yet.
func (d disk) load() (_ *world, err error) {
	defer must.Catch(&err)
	if d.path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	must.Wrap(err, "read the stand-in GitHub's state")
	w := &world{}
	must.Wrap(json.Unmarshal(raw, w), "read the stand-in GitHub's state %s", d.path)
	must.FailIf(w.Layout != layout, "the stand-in GitHub's state %s was kept by another version: make clean forgets it", d.path)
	for _, one := range w.Deliveries {
		// A missing body only makes the delivery unsendable.
		one.Payload, _ = os.ReadFile(d.body(one.ID))
	}
	return w, nil
}

// save replaces the file atomically, so that a kill leaves the old world or the new one.
func (d disk) save(w *world) error {
	if d.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return fmt.Errorf("keep the stand-in GitHub's state: %w", err)
	}
	return file.Replace(d.path, raw)
}

func (d disk) body(id int64) string {
	return filepath.Join(d.path+".deliveries", itoa(id)+".json")
}

// keepBody writes a webhook's body, which never changes.
func (d disk) keepBody(one *Delivery) error {
	if d.path == "" {
		return nil
	}
	return file.Replace(d.body(one.ID), one.Payload)
}

// dropBody deletes the body of a delivery that left the log.
func (d disk) dropBody(one *Delivery) {
	if d.path != "" {
		_ = os.Remove(d.body(one.ID))
	}
}
