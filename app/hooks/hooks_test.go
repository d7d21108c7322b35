package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5"

// open opens a store on the database at url.
func open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, db.Options{
		Limits: lifecycle.Limits{
			LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second, RetryBase: time.Second, RetryMax: time.Hour,
			BlockAfter: 3, VerifyGap: time.Second, WarnBefore: time.Minute,
		},
		Lease: time.Minute, Installation: "test",
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// front is the public listener over real HTTP, and the database behind it.
type front struct {
	*testing.T
	*httptest.Server
	database string
	store    *store.Store
}

func newFront(t *testing.T, change ...func(*Config)) *front {
	f := &front{T: t, database: pgtest.New(t)}
	f.store = open(t, f.database)
	c := Config{Store: f.store, GitHubSecret: secret.New(testSecret), SlackSecret: secret.New(slackSecret)}
	for _, one := range change {
		one(&c)
	}
	handler, err := New(c)
	require.NoError(t, err)
	f.Server = httptest.NewServer(handler)
	t.Cleanup(f.Server.Close)
	return f
}

func (f *front) post(path string, body []byte, headers map[string]string) (int, map[string]any) {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, f.Server.URL+path, bytes.NewReader(body))
	require.NoError(f, err)
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	answer, err := f.Server.Client().Do(r)
	require.NoError(f, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(f, err)
	var out map[string]any
	if len(raw) > 0 { // Slack's events get an empty answer
		require.NoError(f, json.Unmarshal(raw, &out), "%s", raw)
	}
	return answer.StatusCode, out
}

func signed(event, delivery string, body []byte) map[string]string {
	return map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": event, "X-GitHub-Delivery": delivery,
		"X-Hub-Signature-256": signature([]byte(testSecret), body),
	}
}

func without(headers map[string]string, name string) map[string]string {
	delete(headers, name)
	return headers
}

// stored are the ids of the deliveries in the table.
func (f *front) stored() []string {
	f.Helper()
	return f.query(`SELECT delivery_id FROM deliveries ORDER BY delivery_id`)
}

func (f *front) query(sql string) []string {
	f.Helper()
	conn, err := pgx.Connect(f.Context(), f.database)
	require.NoError(f, err)
	defer conn.Close(f.Context())
	rows, err := conn.Query(f.Context(), sql)
	require.NoError(f, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(f, err)
	return out
}

func TestASignedWebhookIsStoredAndAccepted(t *testing.T) {
	f := newFront(t)
	body := payload(t, "pull_request", "labeled", pull(0, label))
	for range 2 {
		status, answer := f.post("/webhooks/github", body, signed("pull_request", "72d3162e-cc78-11e3-81ab-4c9367dc0958", body))
		require.Equal(t, http.StatusAccepted, status, "the second time as the first")
		require.Equal(t, map[string]any{"delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958", "state": "accepted"}, answer)
	}
	require.Len(t, f.stored(), 1)
	require.Len(t, f.query(`SELECT kind FROM river_job WHERE kind = 'inbox'`), 1)
}

func TestBadWebhooksAreRefusedAndNothingIsStored(t *testing.T) {
	f := newFront(t)
	good := payload(t, "pull_request", "labeled", pull(0, label))
	with := func(body []byte) map[string]string { return signed("pull_request", "d1", body) }
	wrong := with(good)
	wrong["X-Hub-Signature-256"] = signature([]byte("another"), good)
	long := with(good)
	long["X-GitHub-Delivery"] = strings.Repeat("x", 129)
	odd := with(good)
	odd["X-GitHub-Delivery"] = "a b"
	for name, c := range map[string]struct {
		body    []byte
		headers map[string]string
		status  int
	}{
		"no signature":              {good, without(with(good), "X-Hub-Signature-256"), 401},
		"a wrong signature":         {good, wrong, 401},
		"another body":              {[]byte(`{"action":"closed"}`), with(good), 401},
		"no delivery id":            {good, without(with(good), "X-GitHub-Delivery"), 400},
		"a delivery id too long":    {good, long, 400},
		"a delivery id with spaces": {good, odd, 400},
		"no event":                  {good, without(with(good), "X-GitHub-Event"), 400},
		"malformed JSON":            {[]byte(`{"action":`), with([]byte(`{"action":`)), 400},
		"JSON that is no object":    {[]byte(`[1]`), with([]byte(`[1]`)), 400},
		"nothing":                   {nil, with(nil), 400},
		"a form":                    {[]byte("payload=%7B%7D"), with([]byte("payload=%7B%7D")), 400},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := f.post("/webhooks/github", c.body, c.headers)
			require.Equal(t, c.status, status)
			require.EqualValues(t, c.status, answer["status"])
			require.NotEmpty(t, answer["detail"])
		})
	}
	require.Empty(t, f.stored())
}

func TestABodyOfMoreThan25MBIsRefusedHoweverItIsSent(t *testing.T) {
	f := newFront(t)
	body := bytes.Repeat([]byte(" "), MaxGitHubBody+1)
	status, _ := f.post("/webhooks/github", body, signed("pull_request", "d1", body))
	require.Equal(t, http.StatusRequestEntityTooLarge, status)

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.Server.URL+"/webhooks/github", io.MultiReader(bytes.NewReader(body)))
	require.NoError(t, err) // chunked: it does not say how long it is
	for name, value := range signed("pull_request", "d1", body) {
		r.Header.Set(name, value)
	}
	answer, err := f.Server.Client().Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
	require.Empty(t, f.stored())
}

func TestEventsNobodyListensToAreAcceptedAndIgnored(t *testing.T) {
	f := newFront(t)
	body := []byte(`{"action":"created"}`)
	status, answer := f.post("/webhooks/github", body, signed("star", "d1", body))
	require.Equal(t, http.StatusAccepted, status)
	require.Equal(t, "ignored", answer["state"])
	require.Contains(t, answer["detail"], "star")
	status, answer = f.post("/webhooks/github", body, signed("ping", "d2", body))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "pong", answer["state"])
	require.Empty(t, f.stored())
}

func TestThePublicListenerHasTwoPathsAlone(t *testing.T) {
	f := newFront(t)
	for _, path := range []string{"/", "/api/v1/clusters", "/healthz", "/metrics", "/webhooks", "/webhooks/github/x", "/debug/pprof/"} {
		answer, err := f.Server.Client().Get(f.Server.URL + path)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, http.StatusNotFound, answer.StatusCode, path)
	}
	answer, err := f.Server.Client().Get(f.Server.URL + "/webhooks/github")
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
}

func TestWhatCannotBeStoredIsNotAcknowledged(t *testing.T) {
	f := newFront(t)
	f.store.Close()
	body := payload(t, "pull_request", "labeled", pull(0, label))
	status, answer := f.post("/webhooks/github", body, signed("pull_request", "d1", body))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.NotContains(t, fmt.Sprint(answer), "pool", "what went wrong inside stays inside")
}

func TestAnEmptySecretIsRefusedAtTheStart(t *testing.T) {
	_, err := New(Config{})
	require.ErrorContains(t, err, "secret is empty")
}

func TestWithoutASlackSecretThereIsNoSlackPath(t *testing.T) {
	f := newFront(t, func(c *Config) { c.SlackSecret = secret.Text{} })
	answer, err := f.Server.Client().Post(f.Server.URL+"/webhooks/slack", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
}
