package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

func TestWhoAsksTooOftenWaitsAndNobodyElse(t *testing.T) {
	clock := now()
	h := fixtureWith(t, embedded(t), func(c *Config) {
		c.Now = func() time.Time { return clock }
		c.Pace = NewPace(Rate{PerSecond: 1, Burst: 3}, c.Now)
	})
	maya, other := h.as(oidc.Requester), h.as(will)
	for range 3 {
		h.does(http.MethodGet, "/api/v1/clusters", maya, nil, http.StatusOK, nil)
	}
	answer, raw := h.ask(http.MethodGet, "/api/v1/clusters", maya, nil)
	require.Equal(t, http.StatusTooManyRequests, answer.StatusCode, "%s", raw)
	wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Equal(t, 1, wait)
	require.Contains(t, string(raw), "/api/v1/watch")
	h.does(http.MethodGet, "/api/v1/clusters", other, nil, http.StatusOK, nil)
	clock = clock.Add(time.Duration(wait) * time.Second)
	h.does(http.MethodGet, "/api/v1/clusters", maya, nil, http.StatusOK, nil)
	answer, _ = h.ask(http.MethodGet, "/healthz", "", nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

func TestARequestHasANameInBothLogs(t *testing.T) {
	h := newFixture(t)
	for given, want := range map[string]string{"": `^req_[0-9A-Z]{26}$`, "trace-1:a": `^trace-1:a$`, "a b": `^req_`, strings.Repeat("x", 129): `^req_`} {
		answer, _ := h.ask(http.MethodGet, "/api/v1/me", h.as(oidc.Requester), nil, requestID, given)
		require.Regexp(t, want, answer.Header.Get(requestID))
	}
	answer, _ := h.ask(http.MethodGet, "/api/v1/me", "", nil)
	require.NotEmpty(t, answer.Header.Get(requestID), "of a refusal too")
}

func TestARequestThatTakesTooLongIsGivenUp(t *testing.T) {
	h := fixtureWith(t, embedded(t), func(c *Config) { c.Timeout = time.Nanosecond })
	p := h.refused(http.MethodGet, "/api/v1/clusters", h.as(oidc.Requester), nil, http.StatusServiceUnavailable)
	require.Contains(t, p.Detail, "Try again")
}

func TestAPanicIsAFailureOfOurs(t *testing.T) {
	s := &server{Config: newFixture(t).config(nil, app.Config{}, embedded(t), nil)}
	s.Metrics = metrics.New(metrics.Config{})
	s.Timeout = time.Minute
	answer := httptest.NewRecorder()
	s.enter(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret words") })).
		ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/x", nil))
	require.Equal(t, http.StatusInternalServerError, answer.Code)
	require.NotContains(t, answer.Body.String(), "secret words")
	require.Contains(t, answer.Body.String(), answer.Header().Get(requestID))
	require.Panics(t, func() {
		s.enter(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/v1/x", nil))
	}, "a connection that is to break breaks")
}

func TestABodyIsReadStrictly(t *testing.T) {
	h := newFixture(t)
	h.make(oidc.Requester, "shop")
	path := "/api/v1/clusters/shop/hold"
	p := h.refused(http.MethodPost, path, h.as(oidc.Requester), []byte(`{"hours": "x", "until": "tomorrow", "reason": 7, "why": 1}`), http.StatusUnprocessableEntity)
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Field)
		require.NotEmpty(t, e.Accepted, e.Field)
	}
	require.Equal(t, []string{"hours", "reason", "until", "why"}, fields)
	for _, body := range []string{"", "[]", "null", "7", `{"hours":1}{}`, `{`} {
		h.refused(http.MethodPost, path, h.as(oidc.Requester), []byte(body), http.StatusBadRequest)
	}
	h.refused(http.MethodPost, path, h.as(oidc.Requester), []byte(`{"reason":"`+strings.Repeat("x", maxBody)+`"}`), http.StatusRequestEntityTooLarge)
	h.refused(http.MethodPost, path, h.as(oidc.Requester), v1.Hold{Hours: 1, Reason: "x"}, http.StatusUnsupportedMediaType, "Content-Type", "text/plain")
	h.does(http.MethodPost, path, h.as(oidc.Requester), v1.Hold{Hours: 1, Reason: "x"}, http.StatusOK, nil, "Content-Type", "application/json; charset=utf-8")
}

func TestAStreamHasNoHeadAlone(t *testing.T) {
	h := newFixture(t)
	for _, path := range []string{"/api/v1/watch", "/api/v1/clusters/shop/logs?follow=true", "/api/v1/audit/export"} {
		answer, _ := h.ask(http.MethodHead, path, h.as(oidc.Admin), nil)
		require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode, path)
		require.Equal(t, http.MethodGet, answer.Header.Get("Allow"))
	}
}

func TestTheReferenceShowsTheWholeDocumentAndAsksNobody(t *testing.T) {
	h := newFixture(t)
	answer, raw := h.ask(http.MethodGet, "/api/docs", "", nil)
	page := string(raw)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.NotContains(t, page, "<script")
	for _, op := range listOperations(t) {
		require.Contains(t, page, `<article id="`+op.ID+`">`)
		require.Contains(t, page, `href="#`+op.ID+`"`)
	}
	ids := regexp.MustCompile(`id="([^"]+)"`).FindAllStringSubmatch(page, -1)
	known := map[string]bool{}
	for _, id := range ids {
		require.False(t, known[id[1]], "%s is there twice", id[1])
		known[id[1]] = true
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, known[link[1]], "#%s leads nowhere", link[1])
	}
	require.Contains(t, page, `-H &#34;Idempotency-Key: $(uuidgen)&#34;`)
	require.Contains(t, page, "&#34;$OCPCTL/api/v1/clusters/$ID/extend&#34;")
	require.NotContains(t, regexp.MustCompile(`(src|href)="https?:`).FindString(page), "http", "nothing is loaded from elsewhere")

	answer, raw = h.ask(http.MethodGet, "/api/docs/docs.css", "", nil)
	require.Equal(t, "text/css; charset=utf-8", answer.Header.Get("Content-Type"))
	require.NotEmpty(t, raw)
	answer, raw = h.ask(http.MethodGet, "/api/v1/openapi.yaml", "", nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, string(written), string(raw))
}

func TestEveryExampleOfTheReferenceIsOneTheDocumentTakes(t *testing.T) {
	d := readDocument()
	for _, c := range d.listCalls() {
		if c.Body == nil || strings.HasPrefix(c.Path, statusPath) {
			continue
		}
		ref := c.Body.Content[0].Value.Schema
		raw, err := json.Marshal(d.exampleOf(ref))
		require.NoError(t, err)
		var value any
		require.NoError(t, json.Unmarshal(raw, &value))
		require.NoError(t, schemaOf(t, lastName(ref.Ref)).VisitJSON(value), "%s: %s", c.ID, raw)
	}
}

func TestTheServerSaysForWhomTokensAreBeforeAnybodySignsIn(t *testing.T) {
	h := newFixture(t)
	res, err := http.Get(h.URL + auth.DiscoveryPath)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	var said auth.Discovery
	require.NoError(t, json.NewDecoder(res.Body).Decode(&said))
	require.NotEmpty(t, said.Version)
	require.Equal(t, auth.Discovery{Server: "http://ocpctl.test", Version: said.Version, OldestClient: buildinfo.OldestClient, Issuers: said.Issuers}, said)
	require.ElementsMatch(t, []auth.TrustedIssuer{{Issuer: h.issuer.URL(), Audiences: []string{oidc.Audience}}, {Issuer: h.jobs.URL(), Audiences: []string{oidc.Audience}}}, said.Issuers)
}
