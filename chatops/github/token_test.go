package github

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/chatops"
)

func TestAHundredCallsFetchOneToken(t *testing.T) {
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": saying(200, pull41)})
	c := speaking(t, a.URL, nil)
	var group errgroup.Group
	for range 100 {
		group.Go(func() error {
			_, err := c.PullRequest(t.Context(), 7, shop, 41)
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, 100, a.count("GET"))
	require.Equal(t, 1, a.tokens)
}

func TestARevokedTokenIsRenewedOnceForAll(t *testing.T) {
	var mu sync.Mutex
	good := "token ghs_1"
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != good {
			say(w, 401, map[string]string{"message": "Bad credentials"})
			return
		}
		say(w, 200, pull41)
	}})
	c := speaking(t, a.URL, nil)
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
	mu.Lock()
	good = "token ghs_11"
	mu.Unlock()
	var group errgroup.Group
	for range 20 {
		group.Go(func() error {
			_, err := c.PullRequest(t.Context(), 7, shop, 41)
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, 2, a.tokens)

	mu.Lock()
	good = "none"
	mu.Unlock()
	_, err = c.PullRequest(t.Context(), 7, shop, 41)
	require.ErrorIs(t, err, ErrRefused)
	require.Equal(t, 3, a.tokens, "one fresh token, then it is refused")
}

func TestASuspendedInstallationIsRefusedInWords(t *testing.T) {
	a := answering(t, "", routes{tokenRoute: complaining(403, "This installation has been suspended")})
	c := speaking(t, a.URL, nil)
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "This installation has been suspended")
	require.ErrorContains(t, err, "an owner of the organisation can lift that")
	require.NotErrorIs(t, err, ErrNotFound)
}

func TestNoErrorHoldsAToken(t *testing.T) {
	// A proxy that quotes what it was sent.
	quoting := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			say(w, status, map[string]string{"message": "cannot take " + r.Header.Get("Authorization")})
		}
	}
	for _, status := range []int{400, 401, 403, 404, 409, 422, 500, 502} {
		a := answering(t, "", routes{"/": quoting(status)})
		c := speaking(t, a.URL, nil)
		_, asInstallation := c.PullRequest(t.Context(), 7, shop, 41)
		_, asApp := c.OwnLogin(t.Context())
		_, looked := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
		for doing, err := range map[string]error{
			"ask for acme/shop#41": asInstallation, "ask GitHub who we are": asApp, "look at 1 pull requests": looked,
		} {
			require.ErrorContains(t, err, doing)
			require.ErrorContains(t, err, "***")
			require.NotContains(t, err.Error(), "ghs_")
			require.NotContains(t, err.Error(), "eyJ")
		}
	}
	a := answering(t, "", routes{tokenRoute: quoting(403)})
	_, err := speaking(t, a.URL, nil).PullRequest(t.Context(), 7, shop, 41)
	require.ErrorIs(t, err, ErrRefused)
	require.NotContains(t, err.Error(), "eyJ")
}

func TestAnEnterpriseServerIsReachedBelowItsPath(t *testing.T) {
	a := answering(t, "/api", routes{
		"GET /v3/repos/acme/shop/pulls/41": saying(200, pull41),
		"POST /v3/app/installations/{id}/access_tokens": saying(201, map[string]any{
			"token": "ghs_1", "expires_at": time.Now().Add(time.Hour),
		}),
		"GET /v3/app":   saying(200, map[string]any{"slug": "ocpctl"}),
		"POST /graphql": saying(200, map[string]any{"data": map[string]any{"p0": nil}, "errors": []any{map[string]any{"type": "NOT_FOUND", "path": []string{"p0"}, "message": "Could not resolve to a Repository"}}}),
	})
	for _, base := range []string{a.URL + "/api/v3/", a.URL + "/api/v3"} {
		c := speaking(t, base, nil)
		_, err := c.PullRequest(t.Context(), 7, shop, 41)
		require.NoError(t, err)
		login, err := c.OwnLogin(t.Context())
		require.NoError(t, err)
		require.Equal(t, "ocpctl[bot]", login)
		looks, err := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
		require.NoError(t, err)
		require.True(t, looks[0].Gone)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, call := range a.calls {
		require.True(t, strings.Contains(call, " /api/v3/") || call == "POST /api/graphql", call)
	}
}

func TestAPullRequestThatIsNewIsAskedForAgain(t *testing.T) {
	n := 0
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, _ *http.Request) {
		if n++; n < 2 {
			say(w, 404, map[string]string{"message": "Not Found"})
			return
		}
		say(w, 200, pull41)
	}})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Settling = 0 })
	got, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
	require.Equal(t, 41, got.Number)
	require.Equal(t, 2, n)
}

func TestACheckOnACommitThatIsNewIsAskedForAgain(t *testing.T) {
	n := 0
	a := answering(t, "", routes{
		"GET /repos/acme/shop/commits/def456/check-runs": func(w http.ResponseWriter, _ *http.Request) {
			if n++; n < 2 {
				say(w, 422, map[string]string{"message": "No commit found for SHA: def456"})
				return
			}
			say(w, 200, map[string]any{"total_count": 0, "check_runs": []any{}})
		},
		"POST /repos/acme/shop/check-runs": saying(201, map[string]any{"id": 9}),
	})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Settling = 10 * time.Millisecond })
	id, err := c.UpsertCheckRun(t.Context(), CheckTarget{Installation: 7, Repo: shop, Head: "def456", Name: "ocpctl/x", ExternalKey: "clu_1"}, chatops.CheckRun{Status: "queued"})
	require.NoError(t, err)
	require.EqualValues(t, 9, id)
	require.Equal(t, 2, n)
}

func TestWhatStaysAwayIsNotFoundInTheEnd(t *testing.T) {
	a := answering(t, "", routes{"/": complaining(404, "Not Found")})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Settling = 10 * time.Millisecond })
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorIs(t, c.React(t.Context(), 7, shop, 5, "eyes"), ErrGone)
	require.Equal(t, 2, a.count("POST /repos/acme/shop/issues/comments/5/reactions"))
}

func TestAWaitForWhatIsNewEndsWithTheContextAndSaysNothingOfIt(t *testing.T) {
	a := answering(t, "", routes{"/": complaining(404, "Not Found")})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Settling = time.Hour })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.PullRequest(ctx, 7, shop, 41)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNotFound)
}
