package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// patience is how long a test waits for what is under way.
const patience = 20 * time.Second

type event struct{ name, data string }

// listener reads a stream of events until the test is over.
type listener struct {
	*fixture
	events <-chan event // closed when the stream ended
}

func (h *fixture) listen(path, bearer string) *listener {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), time.Minute)
	h.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.Server.URL+path, nil)
	require.NoError(h, err)
	r.Header.Set("Authorization", "Bearer "+bearer)
	answer, err := (&http.Client{Transport: contractual{h.T}}).Do(r)
	require.NoError(h, err)
	require.Equal(h, http.StatusOK, answer.StatusCode)
	require.Equal(h, "text/event-stream", answer.Header.Get("Content-Type"))
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer answer.Body.Close()
		var e event
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "event: "):
				e.name = line[len("event: "):]
			case strings.HasPrefix(line, "data: "):
				e.data = line[len("data: "):]
			case line == "" && e.name != "":
				events <- e
				e = event{}
			}
		}
	}()
	return &listener{h, events}
}

// next is the next event, read as what it says it is.
func (l *listener) next(name string, into any) {
	l.Helper()
	select {
	case e, open := <-l.events:
		require.True(l, open, "the stream ended")
		require.Equal(l, name, e.name, e.data)
		require.NoError(l, json.Unmarshal([]byte(e.data), into))
	case <-time.After(patience):
		require.Fail(l, "no event came")
	}
}

// until reads clusters until one looks as wanted.
func (l *listener) until(want func(v1.Cluster) bool) (c v1.Cluster) {
	l.Helper()
	for c = (v1.Cluster{}); !want(c); {
		c = v1.Cluster{}
		l.next("cluster", &c)
		raw, err := json.Marshal(c)
		require.NoError(l, err)
		var value any
		require.NoError(l, json.Unmarshal(raw, &value))
		require.NoError(l, schemaOf(l.T, "Cluster").VisitJSON(value))
	}
	return c
}

func schemaOf(t *testing.T, name string) *openapi3.Schema {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(written)
	require.NoError(t, err)
	return doc.Components.Schemas[name].Value
}

// ends waits for the stream's end.
func (l *listener) ends() {
	l.Helper()
	for over := time.After(patience); ; {
		select {
		case _, open := <-l.events:
			if !open {
				return
			}
		case <-over:
			require.Fail(l, "the stream goes on")
		}
	}
}

func TestWhoWatchesSeesWhatIsThereAndThenEachChange(t *testing.T) {
	h := newFixture(t)
	made, other := h.make(oidc.Requester, "shop"), h.make(oidc.Requester, "other")
	h.make(will, "vault")
	all := h.listen("/api/v1/watch", h.as(oidc.Requester))
	first := all.until(func(c v1.Cluster) bool { return c.Name != "" })
	second := all.until(func(c v1.Cluster) bool { return c.Name != "" })
	require.ElementsMatch(t, []string{"shop", "other"}, []string{first.Name, second.Name})
	one := h.listen("/api/v1/watch?cluster=shop", h.as(oidc.Requester))
	require.Equal(t, made.ClusterID, one.until(func(c v1.Cluster) bool { return c.Name != "" }).ClusterID)

	h.does(http.MethodPost, "/api/v1/clusters/vault/extend", h.as(will), v1.Extend{Hours: 1}, http.StatusOK, nil)
	h.does(http.MethodPost, "/api/v1/clusters/other/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, nil)
	require.Equal(t, other.ClusterID, all.until(func(c v1.Cluster) bool { return c.TTLSeconds > 0 }).ClusterID)
	h.does(http.MethodPost, "/api/v1/clusters/shop/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, nil)
	one.until(func(c v1.Cluster) bool { return c.Desired == "absent" })
	h.step(made.ClusterID)
	one.until(func(c v1.Cluster) bool { return c.Status == "DESTROYED" })
	all.until(func(c v1.Cluster) bool { return c.Status == "DESTROYED" })

	h.refused(http.MethodGet, "/api/v1/watch?cluster=vault", h.as(oidc.Requester), nil, http.StatusNotFound)
	h.refused(http.MethodGet, "/api/v1/watch", h.as(toni), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/watch?clusters=x", h.as(oidc.Requester), nil, http.StatusBadRequest)
}

func TestAShareThatIsTakenBackIsWatchedNoMore(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	path := "/api/v1/clusters/" + made.ClusterID
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "team", With: "security"}, http.StatusOK, nil)
	l := h.listen("/api/v1/watch?cluster=shop", h.as(will))
	l.until(func(c v1.Cluster) bool { return c.Name == "shop" })
	h.does(http.MethodDelete, path+"/shares?kind=team&with=security", h.as(oidc.Requester), nil, http.StatusOK, nil)
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, nil)
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "team", With: "security"}, http.StatusOK, nil)
	var seen v1.Cluster
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 2}, http.StatusOK, nil)
	h.does(http.MethodGet, path, h.as(will), nil, http.StatusOK, &seen)
	require.Equal(t, seen.DestroyAt, l.until(func(c v1.Cluster) bool { return c.DestroyAt.Equal(seen.DestroyAt) }).DestroyAt)
}

func TestAStreamEndsWithTheServerAndWithItsToken(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	h := fixtureWith(t, embedded(t), func(c *Config) { c.Stopping = stopping })
	h.make(oidc.Requester, "shop")
	l, log := h.listen("/api/v1/watch", h.as(oidc.Requester)), h.listen("/api/v1/clusters/shop/logs?follow=true", h.as(oidc.Requester))
	short := oidc.Requester
	short.Expiry = jwtTime(now().Add(2 * time.Second))
	h.listen("/api/v1/watch", h.as(short)).ends()
	stop()
	l.ends()
	log.ends()
}

func TestALogIsReadAndFollowedToItsEnd(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.step(made.ClusterID)
	open, bearer := h.attempt(made.ClusterID)
	r := &runner{h, open.Attempt, bearer}
	r.say("claim", contract.Claim{Pod: "pod-1"})
	r.say("report", contract.Report{Seq: 1, Phase: "rendering", Log: "one\ntwo\nthree\n"})
	path := "/api/v1/clusters/shop/logs"
	for query, want := range map[string]string{"": "one\ntwo\nthree\n", "?lines=1": "three\n", "?lines=0": "", "?job=" + made.JobID: "one\ntwo\nthree\n"} {
		answer, raw := h.ask(http.MethodGet, path+query, h.as(oidc.Requester), nil)
		require.Equal(t, []any{http.StatusOK, want}, []any{answer.StatusCode, string(raw)}, query)
	}
	l := h.listen(path+"?follow=true&lines=2", h.as(oidc.Requester))
	var line string
	for _, want := range []string{"two", "three"} {
		l.next("log", &line)
		require.Equal(t, want, line)
	}
	r.say("report", contract.Report{Seq: 2, Phase: "rendering", Log: "four \"quoted\"\n"})
	l.next("log", &line)
	require.Equal(t, `four "quoted"`, line)
	h.does(http.MethodPost, "/api/v1/clusters/shop/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, nil)
	r.say("report", contract.Report{Seq: 3, Phase: "rendering", Log: "the last\n"})
	r.say("result", contract.Result{Outcome: "stopped", Reason: "Stopped", Message: "it is no longer wanted", Whose: "user", Next: "nothing"})
	h.step(made.ClusterID)
	l.next("log", &line)
	require.Equal(t, "the last", line)
	var ended v1.Job
	l.next("end", &ended)
	require.Equal(t, made.JobID, ended.JobID)
	require.NotZero(t, ended.EndedAt)
	l.ends()

	h.refused(http.MethodGet, path+"?lines=5001", h.as(oidc.Requester), nil, http.StatusBadRequest)
	h.refused(http.MethodGet, path+"?job=job_none", h.as(oidc.Requester), nil, http.StatusNotFound)
	another := h.make(oidc.Requester, "another")
	h.refused(http.MethodGet, "/api/v1/clusters/"+made.ClusterID+"/logs?job="+another.JobID, h.as(oidc.Requester), nil, http.StatusNotFound)
	h.refused(http.MethodGet, "/api/v1/clusters/"+made.ClusterID+"/logs?follow=true", h.as(will), nil, http.StatusNotFound)
}
