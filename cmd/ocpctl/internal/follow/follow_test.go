package follow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
)

// notes is a view that writes down what it is shown.
type notes struct {
	shown  []string
	closed int
	then   func() // what happens once something was shown
}

func (n *notes) Show(s follow.State) {
	if n.shown = append(n.shown, string(s.Status)+"/"+s.Phase); n.then != nil {
		n.then()
	}
}

func (n *notes) Note(string)          { n.shown = append(n.shown, "lost") }
func (n *notes) Tick(time.Time)       {}
func (n *notes) Every() time.Duration { return 0 }
func (n *notes) Close()               { n.closed++ }

type fixture struct {
	*testing.T
	*standtest.Server
	follower *follow.Follower
	view     *notes
	slept    func(n int) // what happens while it waits
}

func newFixture(t *testing.T) *fixture {
	h := &fixture{T: t, Server: standtest.New(t), view: &notes{}, slept: func(int) {}}
	env := map[string]string{"OCPCTL_TOKEN": standtest.Token}
	config := connect.Config{Contexts: map[string]connect.Context{}}
	get := func(name string) string { return env[name] }
	chosen, err := connect.Choose(config, connect.Wanted{Server: h.URL}, get)
	require.NoError(t, err)
	sleeps := 0
	sleep := func(ctx context.Context, _ time.Duration) error {
		sleeps++
		h.slept(sleeps)
		return ctx.Err()
	}
	api, err := connect.Open(chosen, connect.Options{Env: get, Now: time.Now, Sleep: sleep})
	require.NoError(t, err)
	h.follower = &follow.Follower{API: api, Every: time.Second, Sleep: sleep}
	return h
}

// state is a cluster as the stand-in has it, moved on.
func (h *fixture) state(changes map[string]any) []byte {
	var all map[string]any
	require.NoError(h, json.Unmarshal(h.Body("getCluster"), &all))
	maps.Copy(all, changes)
	raw, err := json.Marshal(all)
	require.NoError(h, err)
	return raw
}

func moved(status, phase string) map[string]any {
	return map[string]any{"status": status, "phase": phase}
}

// streams answers each watch with the states of its turn, then hangs up; the last one stays open.
func (h *fixture) streams(turns ...[]map[string]any) {
	n := 0
	h.Handle("watchClusters", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\n\n")
		if n < len(turns) {
			for _, state := range turns[n] {
				fmt.Fprintf(w, "event: cluster\ndata: %s\n\n", h.state(state))
			}
		}
		n++
		if n >= len(turns) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
}

func (h *fixture) await(ctx context.Context, goal follow.Goal) (follow.State, error) {
	return follow.Await(ctx, h.follower, follow.Target{ID: "team-a-smoke-01", Name: "team-a-smoke-01"}, goal, h.view)
}

func TestAWaitGoesOnThroughABrokenStream(t *testing.T) {
	h := newFixture(t)
	h.streams(
		[]map[string]any{moved("PENDING", "queued"), moved("CREATING", "installing")},
		[]map[string]any{moved("CREATING", "installing"), moved("READY", "ready")},
	)
	last, err := h.await(context.Background(), follow.Ready)
	require.NoError(t, err)
	require.Equal(t, v1.READY, last.Status)
	require.Equal(t, []string{"PENDING/queued", "CREATING/installing", "CREATING/installing", "READY/ready"}, h.view.shown)
	require.Equal(t, 1, h.view.closed)
}

func TestAWaitAsksAgainWhereNoStreamComesThrough(t *testing.T) {
	h := newFixture(t)
	h.Refuse("watchClusters", 501, map[string]any{"title": "no", "status": 501})
	asked := 0
	h.Handle("getCluster", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if asked == 2 {
			standtest.Problem(w, 500, map[string]any{"title": "trouble", "status": 500})
			return
		}
		status := map[bool]map[string]any{true: moved("READY", "ready"), false: moved("CREATING", "installing")}[asked > 2]
		_, _ = w.Write(h.state(status))
	})
	_, err := h.await(context.Background(), follow.Ready)
	require.NoError(t, err)
	require.Equal(t, []string{"CREATING/installing", "lost", "READY/ready"}, h.view.shown)
}

func TestAWaitEndsWhereAskingAgainIsNoUse(t *testing.T) {
	h := newFixture(t)
	for status, code := range map[int]exit.Code{403: exit.Denied, 404: exit.NotFound} {
		h.Refuse("watchClusters", status, map[string]any{"title": "no", "status": status})
		h.Refuse("getCluster", status, map[string]any{"title": "no", "status": status})
		_, err := h.await(context.Background(), follow.Ready)
		require.Equal(t, code, exit.CodeOf(err))
	}
}

func TestHowAWaitEnds(t *testing.T) {
	seven := map[string]any{"workers": 7, "workersWanted": 7}
	for name, c := range map[string]struct {
		goal   follow.Goal
		states []map[string]any
		code   exit.Code
		text   string
	}{
		"ready":                            {follow.Ready, []map[string]any{moved("READY", "degraded")}, exit.OK, ""},
		"destroyed":                        {follow.Destroyed, []map[string]any{moved("DESTROYING", "verifying"), moved("DESTROYED", "released")}, exit.OK, ""},
		"scaled":                           {follow.Scaled, []map[string]any{{"workers": 3, "workersWanted": 7}, seven}, exit.OK, ""},
		"scaled, as nothing is wanted":     {follow.Scaled, []map[string]any{{"workersWanted": 7}, {}}, exit.OK, ""},
		"refreshed":                        {follow.Refreshed, []map[string]any{{"refreshing": true}, {"refreshing": false}}, exit.OK, ""},
		"a try that failed is not the end": {follow.Ready, []map[string]any{moved("CREATING", "cleaning"), moved("READY", "ready")}, exit.OK, ""},
		"a blocked install that goes down": {follow.Destroyed, []map[string]any{moved("FAILED", "create_failed"), moved("DESTROYED", "released")}, exit.OK, ""},
		"failed": {follow.Ready, []map[string]any{{"status": "FAILED", "phase": "create_failed", "failMessage": "there are 5 of 5 VPCs", "failWhose": "quota", "failNext": "raise L-F678F1CE"}},
			exit.Failed, "team-a-smoke-01 will not be ready: there are 5 of 5 VPCs\n  Who can fix it: the owner of the cloud account's limits.\n  Next: raise L-F678F1CE.\nSee: ocpctl explain clu_"},
		"somebody took it down":      {follow.Ready, []map[string]any{{"status": "DESTROYING", "phase": "stopping", "desired": "absent", "desiredWhy": "ana asked for it"}}, exit.Failed, "ana asked for it"},
		"it goes while it is scaled": {follow.Scaled, []map[string]any{{"desired": "absent", "desiredWhy": "its time is over", "workersWanted": 7}}, exit.Failed, "its time is over"},
		"blocked": {follow.Destroyed, []map[string]any{{"status": "FAILED", "phase": "destroy_blocked", "why": "one thing is left", "blockers": []string{"vpc vpc-1: delete the peering"}}},
			exit.Failed, "is blocked: one thing is left\n  vpc vpc-1: delete the peering.\nIt is retried automatically."},
		"refused by a person": {follow.Ready, []map[string]any{
			{"status": "PENDING", "phase": "awaiting_approval", "needsApproval": true, "readyAt": "0001-01-01T00:00:00Z"},
			{"status": "DESTROYED", "phase": "released", "desired": "absent", "desiredWhy": "ana refused it: not this month", "readyAt": "0001-01-01T00:00:00Z"}},
			exit.Refused, "team-a-smoke-01 was not approved: ana refused it: not this month"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.streams(c.states)
			last, err := h.await(context.Background(), c.goal)
			require.Equal(t, c.code, exit.CodeOf(err))
			require.Len(t, h.view.shown, len(c.states))
			require.NotEmpty(t, last.Raw)
			if c.text != "" {
				require.ErrorContains(t, err, c.text)
			}
		})
	}
}

func TestTimeThatRunsOutSaysWhatItWaitedFor(t *testing.T) {
	for phase, c := range map[string]struct {
		state map[string]any
		code  exit.Code
		text  string
	}{
		"installing":        {moved("CREATING", "installing"), exit.TimedOut, "is not ready yet. The operation continues; keep waiting with: ocpctl wait team-a-smoke-01 --for=ready"},
		"awaiting_approval": {map[string]any{"status": "PENDING", "needsApproval": true, "approveBy": "2025-03-02T10:00:00Z"}, exit.Approval, "is still waiting for approval, until 2025-03-02 10:00 UTC"},
	} {
		h := newFixture(t)
		h.streams([]map[string]any{c.state})
		expired := &expiring{Context: context.Background(), over: make(chan struct{})}
		h.view.then = func() { close(expired.over) }
		_, err := h.await(expired, follow.Ready)
		require.Equal(t, c.code, exit.CodeOf(err), phase)
		require.ErrorContains(t, err, c.text)
	}
}

// expiring is a context whose time is over when a test says so.
type expiring struct {
	context.Context
	over chan struct{}
}

func (e *expiring) Done() <-chan struct{} { return e.over }

func (e *expiring) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestManyAreFollowedUntilSomebodyHasEnough(t *testing.T) {
	h := newFixture(t)
	h.streams([]map[string]any{moved("CREATING", "installing")}, []map[string]any{moved("READY", "ready")})
	ctx, cancel := context.WithCancel(context.Background())
	var seen []string
	err := h.follower.Many(ctx, "", func(s follow.State) {
		if seen = append(seen, string(s.Status)); s.Status == v1.READY {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "CREATING READY", strings.Join(seen, " "))
}
