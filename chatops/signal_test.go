package chatops

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// signalled is a cluster for which no runner waited.
func signalled() lifecycle.Card {
	c := ready()
	c.FreeSince, c.Signal = c.ReadyAt.Add(-34*time.Minute), lifecycle.Signal{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalReady}
	return c
}

func TestADispatchHasIdsAndAddressesAndNoSecret(t *testing.T) {
	said := Signalled{ID: "sig_1", SHA: "6dcb09b5b57875f334f61aebed695e2e4193db5e", Page: "https://github.com/acme/shop/actions/runs/7001"}
	var b strings.Builder
	for name, state := range map[string]lifecycle.SignalState{"ready": lifecycle.SignalReady, "create-failed": lifecycle.SignalFailed} {
		payload := SignalPayload(lives()[name], state, said, ui)
		require.Len(t, payload, 10, "as many as GitHub takes")
		raw, err := json.MarshalIndent(payload, "", "  ")
		require.NoError(t, err)
		golden(t, "dispatch-"+name+".json", string(raw)+"\n")
	}
	for name, c := range lives() {
		for _, state := range []lifecycle.SignalState{lifecycle.SignalBegun, lifecycle.SignalReady, lifecycle.SignalFailed, lifecycle.SignalEnded} {
			d := SignalDeployment(c, state, ui)
			require.LessOrEqual(t, len(d.Description), maxDescription, name)
			require.NotContains(t, d.Description, "\n", name)
		}
	}
	for _, c := range []struct {
		name  string
		state lifecycle.SignalState
	}{{"installing", lifecycle.SignalBegun}, {"ready", lifecycle.SignalReady}, {"create-failed", lifecycle.SignalFailed}, {"destroyed", lifecycle.SignalEnded}} {
		d := SignalDeployment(lives()[c.name], c.state, ui)
		b.WriteString(strings.Join([]string{d.Environment, d.State, d.Description, d.EnvironmentURL, d.LogURL}, " | ") + "\n")
	}
	golden(t, "signal-deployments.txt", b.String())
}

func TestASignalIsShown(t *testing.T) {
	require.Empty(t, SignalText(lifecycle.Signal{}))
	var b strings.Builder
	for _, g := range []lifecycle.Signal{
		{Kind: lifecycle.SignalDeployment},
		{Kind: lifecycle.SignalDispatch, Told: lifecycle.SignalBegun},
		{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalReady},
		{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalFailed},
		{Kind: lifecycle.SignalDispatch, Told: lifecycle.SignalEnded},
		{Kind: lifecycle.SignalDispatch, Problem: "GitHub refuses the App's dispatch: 403. It needs the permission to write contents."},
	} {
		b.WriteString(SignalText(g) + "\n")
	}
	golden(t, "signals.txt", b.String())
}

func TestACommentAndACheckShowTheTimeThatNoRunnerWaited(t *testing.T) {
	c := signalled()
	require.Equal(t, "No runner waited for it: 34 min saved.", Saved(c))
	require.Contains(t, Comment(c, Detail{}, ui), Saved(c))
	require.Contains(t, Check(c, ui).Summary, Saved(c))
	quick := c
	quick.FreeSince = c.ReadyAt.Add(-90 * time.Second)
	require.Equal(t, "No runner waited for it: 1 min 30 s saved.", Saved(quick))
	c.Signal.Problem = "GitHub refuses the App's *dispatch*: <403> @maya."
	require.Contains(t, Comment(c, Detail{}, ui), "Its pipeline cannot be told when it is ready. GitHub refuses the App's")
	require.NotContains(t, Comment(c, Detail{}, ui), "<403>")
	c.FreeSince = time.Time{}
	require.Empty(t, Saved(c))
	gone := signalled()
	gone.Status = lifecycle.Destroying
	require.Empty(t, Saved(gone))
}
