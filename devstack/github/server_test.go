package github

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

const secret = "demo-github-webhook-secret"

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// asInstallation is go-github with ghinstallation's transport, as any App uses them.
func asInstallation(t *testing.T, s *Server) *gh.Client {
	t.Helper()
	transport, err := ghinstallation.New(http.DefaultTransport, AppID, Installation, s.KeyPEM())
	require.NoError(t, err)
	transport.BaseURL = s.URL()
	return at(t, s, transport)
}

func asApp(t *testing.T, s *Server) *gh.Client {
	t.Helper()
	transport, err := ghinstallation.NewAppsTransport(http.DefaultTransport, AppID, s.KeyPEM())
	require.NoError(t, err)
	return at(t, s, transport)
}

func at(t *testing.T, s *Server, transport http.RoundTripper) *gh.Client {
	t.Helper()
	client, err := gh.NewClient(&http.Client{Transport: transport}).WithEnterpriseURLs(s.URL(), s.URL())
	require.NoError(t, err)
	client.BaseURL.Path = "/"
	return client
}

// inbox receives webhooks as go-github's own helpers read them.
type inbox struct {
	*httptest.Server
	t      *testing.T
	got    chan received
	mu     sync.Mutex
	status int
}

type received struct {
	guid, event, agent string
	payload            any
}

func newInbox(t *testing.T) *inbox {
	in := &inbox{t: t, got: make(chan received, 100), status: http.StatusAccepted}
	in.Server = httptest.NewServer(in)
	t.Cleanup(in.Close)
	return in
}

func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the test is over, and its server closes under what is still on its way
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	body, err := gh.ValidatePayload(r, []byte(secret))
	if err != nil {
		in.t.Errorf("the signature does not hold: %v", err)
	}
	payload, err := gh.ParseWebHook(gh.WebHookType(r), body)
	if err != nil {
		in.t.Errorf("go-github cannot read it: %v", err)
	}
	in.mu.Lock()
	w.WriteHeader(in.status)
	in.mu.Unlock()
	_, _ = io.WriteString(w, "taken")
	in.got <- received{gh.DeliveryID(r), gh.WebHookType(r), r.UserAgent(), payload}
}

func (in *inbox) answer(status int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status = status
}

func (in *inbox) next() received {
	in.t.Helper()
	select {
	case got := <-in.got:
		return got
	case <-time.After(10 * time.Second):
		in.t.Fatal("no webhook came")
		return received{}
	}
}

func withInbox(t *testing.T) (*Server, *inbox) {
	t.Helper()
	in := newInbox(t)
	return start(t, Config{WebhookURL: in.URL, WebhookSecret: secret}), in
}

// settled waits until no delivery is on its way.
func settled(t *testing.T, s *Server) []Delivery {
	t.Helper()
	var all []Delivery
	require.Eventually(t, func() bool {
		all = s.Deliveries()
		for _, d := range all {
			if d.State == Waiting {
				return false
			}
		}
		return true
	}, 10*time.Second, 5*time.Millisecond)
	return all
}

func TestTheWorldSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	in := newInbox(t)
	cfg := Config{StatePath: filepath.Join(dir, "github.json"), KeyPath: filepath.Join(dir, "app.pem"), WebhookURL: in.URL, WebhookSecret: secret}
	first, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	old := asInstallation(t, first)
	_, _, err = old.Issues.CreateComment(t.Context(), "acme", "shop", 41, &gh.IssueComment{Body: new("hello")})
	require.NoError(t, err)
	require.NoError(t, first.Label(41, "ocp/aws-standard", "maya"))
	require.NoError(t, first.Close(42, "maya"))
	require.NoError(t, first.SetPermission("rita", "write"))
	require.NoError(t, first.In(SecondRepo).Rename("orders", "maya"))
	for range 4 {
		in.next()
	}
	settled(t, first)
	require.NoError(t, first.Stop())

	cfg.Addr = strings.TrimPrefix(first.URL(), "http://")
	second := start(t, cfg)
	require.Equal(t, first.KeyPEM(), second.KeyPEM())
	require.Equal(t, first.Comments(41), second.Comments(41))
	require.Equal(t, first.Deliveries(), second.Deliveries(), "bodies too")
	pr, _ := second.PullRequest(41)
	require.Equal(t, []string{"ocp/aws-standard"}, pr.Labels)
	pr, _ = second.PullRequest(42)
	require.False(t, pr.Open)
	_, ok := second.In(SecondRepo).PullRequest(7)
	require.True(t, ok, "the old name leads there yet")
	level, _, err := old.Repositories.GetPermissionLevel(t.Context(), "acme", "shop", "rita")
	require.NoError(t, err, "a token from before the restart is good")
	require.Equal(t, "write", level.GetPermission())
}

func TestTheStateOfAnotherVersionIsRefusedWithAWord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "github.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"lastId": 1900000000, "pulls": []}`), 0o600))
	_, err := Start(t.Context(), Config{StatePath: path})
	require.ErrorContains(t, err, "make clean forgets it")
}

func TestAWebhookNotSentBeforeAStopIsSentAfterTheNextStart(t *testing.T) {
	hang := make(chan struct{})
	arrived := make(chan struct{}, 1)
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer stuck.Close()
	defer close(hang)
	cfg := Config{StatePath: filepath.Join(t.TempDir(), "github.json"), WebhookURL: stuck.URL, WebhookSecret: secret}
	first, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, first.Label(41, "bug", "maya"))
	<-arrived
	guid := first.Deliveries()[0].GUID
	require.NoError(t, first.Stop())

	in := newInbox(t)
	cfg.WebhookURL = in.URL
	start(t, cfg)
	require.Equal(t, guid, in.next().guid)
}

func TestTheEndOfTheContextStopsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, Config{})
	require.NoError(t, err)
	cancel()
	require.NoError(t, s.Stop())
	_, err = http.Get(s.URL() + "/playground")
	require.Error(t, err)
}
