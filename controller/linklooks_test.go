package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// lookForLinks has the next look for links find some.
func (h *fixture) lookForLinks(id string, links ...lifecycle.Link) {
	h.t.Helper()
	informed := limits
	informed.InformEvery = 30 * time.Minute
	decide := func() lifecycle.Decision {
		c, facts, err := h.store.Load(h.ctx, id)
		require.NoError(h.t, err)
		d := lifecycle.Decide(c, facts, informed)
		require.NoError(h.t, h.store.Apply(h.ctx, d, c.Version))
		return d
	}
	for decide().Open != lifecycle.Inform {
		h.pass(time.Minute)
	}
	open, seen := h.open(id), append([]lifecycle.Link{}, links...)
	_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-1")
	require.NoError(h.t, err)
	_, err = h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Links: &seen})
	require.NoError(h.t, err)
	decide()
}

var usable = attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{ConsoleURL: "https://console.example.com", KubeconfigRef: "s3://b/operate/k"}}

func TestALookForLinksThatChangesNothingIsShownNowhereOnGitHub(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, open := f.install(f.asked("shop", 41))
	f.ends(open, usable)
	f.settle()
	shop := lifecycle.Link{Title: "The shop", URL: "https://web.apps.shop.example.com"}
	before := f.content()
	f.lookForLinks(row.ID, shop)
	f.settle()
	require.Equal(t, before+3, f.content(), "the comment, the check and the deployment show the link")
	require.Contains(t, f.ours(41)[0], shop.URL)

	calls := len(f.hub.Calls())
	for range 8 { // hours, in which it costs more and more
		f.lookForLinks(row.ID, shop)
		f.settle()
		f.shown(row)
	}
	require.Len(t, f.hub.Calls(), calls)
}

func TestALookForLinksThatChangesNothingIsShownNowhereInSlack(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	_, open := h.install(row)
	h.ends(open, usable)
	show := func() {
		for _, kind := range []string{clusters.KindSlackMessage, clusters.KindSlackThread} {
			h.showInSlack(row.ID, kind)
		}
	}
	show()
	calls := w.called()
	for range 8 {
		h.lookForLinks(row.ID)
		show()
	}
	require.Equal(t, calls, w.called())
}
