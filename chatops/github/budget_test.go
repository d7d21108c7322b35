package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spending is a GitHub that reports what is left of its limit, and a client that keeps the default reserve of it.
func spending(t *testing.T, remaining *int) (c *Client, at *clock, got *[]Budget) {
	t.Helper()
	at, got = newClock(), &[]Budget{}
	reset := at.at.Add(30 * time.Minute)
	left := func(answer any, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(*remaining))
			w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
			say(w, status, answer)
		}
	}
	a := answering(t, "", routes{
		"GET /repos/acme/shop/pulls/41":                           left(pull41, 200),
		"GET /repos/acme/shop/collaborators/maya/permission":      left(map[string]any{"permission": "write", "user": map[string]any{"id": 2001}}, 200),
		"POST /repos/acme/shop/issues/comments/5/reactions":       left(map[string]any{"id": 1, "content": "eyes"}, 201),
		"GET /repos/acme/shop/issues/comments/5/reactions":        left([]any{}, 200),
		"DELETE /repos/acme/shop/issues/41/labels/ocp%2Fstandard": left([]any{}, 200),
	})
	c = speaking(t, a.URL, func(cfg *Config) {
		cfg.Now = at.now
		cfg.Budget = func(_ context.Context, _ int64, b Budget) { *got = append(*got, b) }
	})
	return c, at, got
}

func TestTheReserveIsForWhatDecidesAndTheLastOfItForWhatEnds(t *testing.T) {
	for remaining, may := range map[int][3]bool{ // show, decide, end
		5000: {true, true, true}, 1001: {true, true, true}, 1000: {false, true, true}, 251: {false, true, true},
		250: {false, false, true}, 1: {false, false, true},
	} {
		t.Run(fmt.Sprint(remaining), func(t *testing.T) {
			left := remaining
			c, _, _ := spending(t, &left)
			_, err := c.PullRequest(ToEnd(t.Context()), 7, shop, 41) // by which it is known what is left
			require.NoError(t, err)
			calls := []func() error{
				func() error { return c.React(t.Context(), 7, shop, 5, "eyes") },
				func() error { _, err := c.Permission(t.Context(), 7, shop, "maya", 2001); return err },
				func() error { _, err := c.Permission(ToEnd(t.Context()), 7, shop, "maya", 2001); return err },
			}
			for n, call := range calls {
				if err := call(); may[n] {
					require.NoError(t, err, n)
				} else {
					require.Equal(t, 30*time.Minute, waitOf(t, err), n)
				}
			}
		})
	}
}

func TestWritesAreSpreadOverTheTimeUntilTheResetAndReadsAreNot(t *testing.T) {
	left := 2200 // 1,200 above the reserve, for 1,800 s
	c, at, _ := spending(t, &left)
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
	require.NoError(t, c.React(t.Context(), 7, shop, 5, "eyes"))
	for n := range 100 { // they are told to come one after another, and none of them in more than a minute
		next := min(time.Duration(n+1)*1500*time.Millisecond, time.Minute)
		require.Equal(t, next, waitOf(t, c.React(t.Context(), 7, shop, 5, "eyes")))
	}
	_, err = c.Permission(t.Context(), 7, shop, "maya", 2001)
	require.NoError(t, err)
	at.at = at.at.Add(2 * time.Second)
	require.NoError(t, c.React(t.Context(), 7, shop, 5, "eyes"))
}

func TestTheReserveIsASetting(t *testing.T) {
	left := 2600
	c, _, _ := spending(t, &left)
	c.cfg.Reserve = 60
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
	require.Equal(t, 30*time.Minute, waitOf(t, c.React(t.Context(), 7, shop, 5, "eyes")))
}

func TestOfTheSecondaryLimitAReserveIsLeftToReads(t *testing.T) {
	left := 5000
	c, at, _ := spending(t, &left)
	c.cfg.Points = 900
	var wait time.Duration
	for range 200 {
		if err := c.React(t.Context(), 7, shop, 5, "eyes"); err != nil {
			wait = waitOf(t, err)
			break
		}
	}
	require.Equal(t, time.Minute, wait)
	_, err := c.Permission(t.Context(), 7, shop, "maya", 2001)
	require.NoError(t, err)
	at.at = at.at.Add(time.Minute)
	require.NoError(t, c.React(t.Context(), 7, shop, 5, "eyes"))
}

func TestWhatIsLeftIsReportedNowAndThenAndWhenTheReserveIsReached(t *testing.T) {
	left := 5000
	c, at, got := spending(t, &left)
	var holds []time.Duration
	c.cfg.Limited = func(_ context.Context, _ int64, wait time.Duration) { holds = append(holds, wait) }
	ask := func(n int) {
		left = n
		_, err := c.PullRequest(t.Context(), 7, shop, 41)
		require.NoError(t, err)
	}
	ask(5000)
	ask(4999)
	at.at = at.at.Add(10 * time.Second)
	ask(4998)
	ask(1000)
	ask(999)
	require.Equal(t, []time.Duration{30*time.Minute - 10*time.Second}, holds, "writes of all processes wait until the reset, which is said once")
	var seen []int
	for _, b := range *got {
		require.Equal(t, 5000, b.Allowed)
		require.Equal(t, "core", b.Resource)
		seen = append(seen, b.Remaining)
	}
	require.Equal(t, []int{5000, 4998, 1000}, seen)
}
