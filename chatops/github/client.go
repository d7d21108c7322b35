// Package github is a client of GitHub: it asks for permissions and the state of pull requests, and keeps one comment and one check
// run for each cluster up to date. It acts as a GitHub App, one installation at a time.
//
// It must never decide anything, write text of its own, or post the same thing twice: every comment has a hidden marker and every
// check run a key, by which a retry after a crash finds what exists.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
)

// DefaultBaseURL is the URL of GitHub's API.
const DefaultBaseURL = "https://api.github.com/"

const (
	defaultTimeout  = 10 * time.Second
	defaultPace     = time.Second // GitHub asks for at least a second between writing calls
	defaultPatience = 10 * time.Second
	defaultSettling = 5 * time.Second
	firstLook       = 500 * time.Millisecond
)

// Config identifies the App and says how to reach GitHub.
type Config struct {
	AppID       int64
	PrivateKey  []byte            // the App's RSA key, PEM
	BaseURL     string            // empty: DefaultBaseURL; GitHub Enterprise Server: https://host/api/v3/
	HTTPTimeout time.Duration     // of one HTTP exchange; zero: 10 s
	Pace        time.Duration     // minimum time between two writing calls of one installation; zero: 1 s, negative: none
	Patience    time.Duration     // longest wait in the queue before RateLimited is returned; zero: 10 s
	Settling    time.Duration     // how long to retry a 404 for what may have been created just now; zero: 5 s, negative: not at all
	Probe       time.Duration     // delay before the first call to a GitHub that is unavailable; zero: 1 s, negative: it never counts as unavailable
	Transport   http.RoundTripper // nil: http.DefaultTransport
	Now         func() time.Time  // nil: time.Now

	// Leave asks whether an installation may write now, across all processes: zero is yes, otherwise ask again after the wait. Nil:
	// only this process's Pace applies.
	Leave func(ctx context.Context, installation int64) (wait time.Duration, err error)
	// Reserve is the part of each limit, in percent, that is kept for calls that decisions depend on; zero: 20, negative: nothing.
	Reserve int
	// Points is GitHub's limit for an installation per minute, one for a read and five for a write; zero: 900, negative, or zero with a
	// negative pace: unlimited.
	Points int

	// Limited is called when an installation must not write for that long: GitHub said so, or only the reserve is left. Nil: not
	// called.
	Limited func(ctx context.Context, installation int64, wait time.Duration)
	// Budget is called with what is left of an installation's primary limit, at most every 10 s for each and when the reserve is
	// reached. Nil: not called.
	Budget func(ctx context.Context, installation int64, b Budget)
	// Answers is called with whether GitHub responds to an installation's calls, once after the start and whenever that changes. Nil:
	// not called.
	Answers func(ctx context.Context, installation int64, answers bool)
}

// Client acts as the App in every installation. It is safe for concurrent use.
type Client struct {
	cfg   Config
	base  *url.URL
	app   *gh.Client // as the App itself, by its JWT
	state *health

	mu            sync.Mutex
	login         string // the App's own login, once it was queried
	installations map[int64]*installation
}

// New checks the configuration and the key. It makes no call.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("GitHub base URL %q: want http(s)://host/", cfg.BaseURL)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	transport, err := ghinstallation.NewAppsTransport(cfg.Transport, cfg.AppID, cfg.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("read the GitHub App's private key: %w", err)
	}
	transport.BaseURL = strings.TrimSuffix(base.String(), "/")
	c := &Client{cfg: cfg, base: base, installations: map[int64]*installation{}, state: &health{now: cfg.Now, first: cfg.Probe}}
	c.app = c.newClient(transport, c.newLimits(0))
	return c, nil
}

func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.HTTPTimeout == 0 {
		c.HTTPTimeout = defaultTimeout
	}
	if c.Pace == 0 {
		c.Pace = defaultPace
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	if c.Settling == 0 {
		c.Settling = defaultSettling
	}
	if c.Probe == 0 {
		c.Probe = firstProbe
	}
	if c.Reserve == 0 {
		c.Reserve = defaultReserve
	}
	c.Reserve = max(c.Reserve, 0)
	if c.Points == 0 && c.Pace > 0 {
		c.Points = defaultPoints
	}
	c.Points = max(c.Points, 0)
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func (c *Client) newClient(transport http.RoundTripper, known *limits) *gh.Client {
	client := gh.NewClient(&http.Client{Transport: gate{&conditional{next: transport}, known}, Timeout: c.cfg.HTTPTimeout, CheckRedirect: sameHost})
	base := *c.base
	client.BaseURL = &base
	client.UserAgent = "ocpctl"
	return client
}

// sameHost refuses a redirect to another host: the transport below signs every request, so a token would be sent there.
func sameHost(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return fmt.Errorf("redirect from %s to another host refused", first.Host)
	}
	if len(via) >= 5 {
		return errors.New("more than five redirects")
	}
	return nil
}

// installationState returns the state of an installation, created at the first call.
func (c *Client) installationState(id int64) (*installation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if in, ok := c.installations[id]; ok {
		return in, nil
	}
	known := c.newLimits(id)
	client, err := c.forInstallation(id, known)
	if err != nil {
		return nil, err
	}
	in := &installation{client: client, limits: known, turn: make(chan struct{}, 1)}
	c.installations[id] = in
	return in, nil
}

func (c *Client) newLimits(id int64) *limits {
	return &limits{
		installation: id, now: c.cfg.Now, reserve: c.cfg.Reserve, perMinute: c.cfg.Points, health: c.state, notify: c.cfg,
		until: map[string]time.Time{}, budgets: map[string]Budget{}, reported: map[string]time.Time{},
	}
}

// forInstallation makes a client whose transport fetches and renews the installation's token.
func (c *Client) forInstallation(id int64, known *limits) (*gh.Client, error) {
	transport, err := ghinstallation.New(c.cfg.Transport, c.cfg.AppID, id, c.cfg.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("prepare installation %d: %w", id, err)
	}
	transport.BaseURL = strings.TrimSuffix(c.base.String(), "/")
	return c.newClient(transport, known), nil
}

// callAsInstallation runs fn as an installation. GitHub may revoke a token before it expires; it then answers 401 without doing anything, so fn
// runs once more with a fresh token.
func (c *Client) callAsInstallation(ctx context.Context, id int64, fn func(*gh.Client) error) error {
	in, err := c.installationState(id)
	if err != nil {
		return err
	}
	used := in.currentClient()
	if err = fn(used); !hasStatus(err, http.StatusUnauthorized) || ctx.Err() != nil {
		return err
	}
	fresh, err := c.forInstallation(id, in.limits)
	if err != nil {
		return err
	}
	return fn(in.replaceClient(used, fresh))
}

// retryNotFound repeats ask while the answer is 404, for up to Config.Settling: a webhook may arrive before all of GitHub's servers know
// what it reports.
func (c *Client) retryNotFound(ctx context.Context, ask func() error) error {
	return c.retryWhile(ctx, ask, func(err error) bool { return hasStatus(err, http.StatusNotFound) })
}

// retryUnknownCommit does the same while GitHub does not know a commit, which may just have been pushed.
func (c *Client) retryUnknownCommit(ctx context.Context, ask func() error) error {
	return c.retryWhile(ctx, ask, noCommit)
}

// noCommit reports that GitHub does not know a ref or commit, or not yet.
func noCommit(err error) bool {
	return (hasStatus(err, http.StatusNotFound) || hasStatus(err, http.StatusUnprocessableEntity)) && strings.Contains(err.Error(), "No commit found")
}

func (c *Client) retryWhile(ctx context.Context, ask func() error, unsettled func(error) bool) error {
	left, wait := c.cfg.Settling, firstLook
	for {
		err := ask()
		if !unsettled(err) || left <= 0 {
			return err
		}
		wait = min(wait, left)
		if err := sleepContext(ctx, wait); err != nil {
			return err // unknown does not mean absent
		}
		left, wait = left-wait, 3*wait
	}
}

// OwnLogin returns the login under which the App acts, "slug[bot]". GitHub is asked only once.
func (c *Client) OwnLogin(ctx context.Context) (string, error) {
	c.mu.Lock()
	login := c.login
	c.mu.Unlock()
	if login != "" {
		return login, nil
	}
	app, _, err := c.app.Apps.Get(toDecide(ctx), "")
	if err != nil {
		return "", convertError("ask GitHub who we are", err)
	}
	login = app.GetSlug() + "[bot]"
	c.mu.Lock()
	c.login = login
	c.mu.Unlock()
	return login, nil
}
