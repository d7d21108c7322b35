package github

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// outage is a GitHub that answers 502 while it is ill, and a client that tells whether it answers.
func outage(t *testing.T) (a *answers, c *Client, at *clock, ill *bool, got *[]bool) {
	t.Helper()
	at, ill, got = newClock(), new(bool), &[]bool{}
	a = answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, _ *http.Request) {
		if *ill {
			say(w, http.StatusBadGateway, map[string]string{"message": "Server Error"})
			return
		}
		say(w, 200, pull41)
	}})
	c = speaking(t, a.URL, func(cfg *Config) {
		cfg.Now = at.now
		cfg.Answers = func(_ context.Context, _ int64, answers bool) { *got = append(*got, answers) }
	})
	return a, c, at, ill, got
}

func TestAGitHubThatDoesNotAnswerIsAskedNowAndThenOnly(t *testing.T) {
	a, c, at, ill, got := outage(t)
	ask := func() error {
		_, err := c.PullRequest(t.Context(), 7, shop, 41)
		return err
	}
	require.NoError(t, ask())
	*ill = true
	var down Unavailable
	for range awayAfter - 1 {
		err := ask()
		require.ErrorContains(t, err, "502")
		require.NotErrorAs(t, err, &down, "once is no outage")
	}
	asked := a.count("GET")
	began := at.at
	for at.at.Sub(began) < 10*time.Minute {
		err := ask()
		require.ErrorAs(t, err, &down)
		require.Equal(t, down.RetryAfter, waitOf(t, err), "whoever waits for limits waits for it, too")
		require.LessOrEqual(t, down.RetryAfter, lastProbe)
		require.ErrorContains(t, err, "GitHub does not answer")
		at.at = at.at.Add(time.Second)
	}
	require.Less(t, a.count("GET")-asked, 45, "of 600 calls")
	require.Equal(t, []bool{true, false}, *got)

	*ill = false
	back := at.at
	for ask() != nil {
		at.at = at.at.Add(time.Second)
	}
	require.LessOrEqual(t, at.at.Sub(back), 30*time.Second, "its return is seen soon")
	require.Equal(t, []bool{true, false, true}, *got)
}

func TestWhoeverGivesUpIsNoOutage(t *testing.T) {
	_, c, _, _, _ := outage(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * awayAfter {
		_, err := c.PullRequest(gone, 7, shop, 41)
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
}
