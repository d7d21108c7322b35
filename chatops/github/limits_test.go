package github

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clock is a time that stands until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Now().Truncate(time.Second)} }

// notified writes down what was said about limits.
type notified struct {
	installation int64
	wait         time.Duration
}

func waitOf(t *testing.T, err error) time.Duration {
	t.Helper()
	var limited RateLimited
	require.ErrorAs(t, err, &limited)
	return limited.RetryAfter
}

func limit(w http.ResponseWriter, status int, headers map[string]string, message string) {
	for k, v := range headers {
		w.Header().Set(k, v)
	}
	say(w, status, map[string]string{"message": message})
}

func TestThePrimaryLimitLastsUntilItsResetAndNobodyCallsMeanwhile(t *testing.T) {
	for _, status := range []int{403, 429} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			at, heard := newClock(), []notified(nil)
			reset := at.at.Add(25 * time.Minute)
			left := "0"
			a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, _ *http.Request) {
				if left != "0" {
					say(w, 200, pull41)
					return
				}
				limit(w, status, map[string]string{
					"X-RateLimit-Remaining": left, "X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10),
				}, "API rate limit exceeded for installation ID 7.")
			}})
			c := speaking(t, a.URL, func(cfg *Config) {
				cfg.Now = at.now
				cfg.Limited = func(_ context.Context, in int64, d time.Duration) { heard = append(heard, notified{in, d}) }
			})
			_, err := c.PullRequest(t.Context(), 7, shop, 41)
			require.Equal(t, 25*time.Minute, waitOf(t, err))
			require.ErrorContains(t, err, "ask for acme/shop#41")
			require.Equal(t, []notified{{7, 25 * time.Minute}}, heard)

			at.at = at.at.Add(10 * time.Minute)
			_, err = c.PullRequest(t.Context(), 7, shop, 41)
			require.Equal(t, 15*time.Minute, waitOf(t, err))
			require.Equal(t, 1, a.count("GET"), "nothing was asked while the limit lasted")

			at.at, left = reset, "1"
			_, err = c.PullRequest(t.Context(), 7, shop, 41)
			require.NoError(t, err)
		})
	}
}

func TestNoLimitIsBelievedToLastLongerThanAnHour(t *testing.T) {
	for name, headers := range map[string]map[string]string{
		"a year":                  {"Retry-After": "31536000"},
		"more than a time holds":  {"Retry-After": "9223372036854775807"},
		"a reset in ten years":    {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(time.Now().AddDate(10, 0, 0).Unix(), 10)},
		"a reset long ago":        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"},
		"a time that lies behind": {"Retry-After": "-5"},
	} {
		t.Run(name, func(t *testing.T) {
			at, asked := newClock(), 0
			a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked > 1 {
					say(w, 200, pull41)
					return
				}
				limit(w, 403, headers, "You have exceeded a secondary rate limit.")
			}})
			var got time.Duration
			c := speaking(t, a.URL, func(cfg *Config) {
				cfg.Now = at.now
				cfg.Limited = func(_ context.Context, _ int64, d time.Duration) { got = d }
			})
			_, err := c.PullRequest(t.Context(), 7, shop, 41)
			require.LessOrEqual(t, waitOf(t, err), time.Hour)
			require.GreaterOrEqual(t, waitOf(t, err), time.Second)
			require.Equal(t, got, waitOf(t, err))
			at.at = at.at.Add(time.Hour)
			_, err = c.PullRequest(t.Context(), 7, shop, 41)
			require.NoError(t, err)
		})
	}
}

func TestASecondaryLimitWithoutATimeLastsAMinuteAndTwiceAsLongEachTime(t *testing.T) {
	at, good := newClock(), false
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, _ *http.Request) {
		if good {
			say(w, 200, pull41)
			return
		}
		// Every answer tells the primary limit's reset; it is no word on the secondary one while something is left.
		limit(w, 403, map[string]string{
			"X-RateLimit-Remaining": "4321", "X-RateLimit-Reset": strconv.FormatInt(at.at.Add(time.Hour).Unix(), 10),
		}, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	}})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Now = at.now })
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		_, err := c.PullRequest(t.Context(), 7, shop, 41)
		require.Equal(t, want, waitOf(t, err))
		at.at = at.at.Add(want)
	}
	good = true
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
	good = false
	_, err = c.PullRequest(t.Context(), 7, shop, 41)
	require.Equal(t, time.Minute, waitOf(t, err))
}

func TestWhatIsReadWellDoesNotForgiveWhatWasWrittenTooOften(t *testing.T) {
	at := newClock()
	a := answering(t, "", routes{
		"GET /repos/acme/shop/pulls/41":          saying(200, pull41),
		"POST /repos/acme/shop/issues/41/labels": complaining(403, "You have exceeded a secondary rate limit."),
	})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Now = at.now })
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute} {
		require.Equal(t, want, waitOf(t, c.AddLabel(t.Context(), 7, shop, 41, "ocp/x")))
		at.at = at.at.Add(want)
		_, err := c.PullRequest(t.Context(), 7, shop, 41)
		require.NoError(t, err)
	}
}

func TestOneInstallationsLimitIsNotAnothers(t *testing.T) {
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/{n}": func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("n") == "42" {
			limit(w, 429, map[string]string{"Retry-After": "30"}, "slow down")
			return
		}
		say(w, 200, pull41)
	}})
	c := speaking(t, a.URL, nil)
	_, err := c.PullRequest(t.Context(), 7, shop, 42)
	require.InDelta(t, 30, waitOf(t, err).Seconds(), 1)
	_, err = c.PullRequest(t.Context(), 7, shop, 41)
	require.InDelta(t, 30, waitOf(t, err).Seconds(), 1, "a secondary limit is one for all calls")
	_, err = c.PullRequest(t.Context(), 8, shop, 41)
	require.NoError(t, err)
}

func TestTheLastCallOfAPrimaryLimitIsTheLast(t *testing.T) {
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(10*time.Minute).Unix(), 10))
		say(w, 200, pull41)
	}})
	c := speaking(t, a.URL, nil)
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.NoError(t, err)
	_, err = c.PullRequest(t.Context(), 7, shop, 41)
	require.InDelta(t, 600, waitOf(t, err).Seconds(), 5)
	require.Equal(t, 1, a.count("GET"))
}

func TestAMissingPermissionIsNoLimit(t *testing.T) {
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41": complaining(403, "Resource not accessible by integration")})
	c := speaking(t, a.URL, func(cfg *Config) {
		cfg.Limited = func(context.Context, int64, time.Duration) { t.Error("no limit was met") }
	})
	_, err := c.PullRequest(t.Context(), 7, shop, 41)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "Resource not accessible by integration")
}

func TestTheAppsOwnLimitIsToldToNoInstallation(t *testing.T) {
	a := answering(t, "", routes{"GET /app/hook/deliveries": func(w http.ResponseWriter, _ *http.Request) {
		limit(w, 429, map[string]string{"Retry-After": "9"}, "slow down")
	}})
	c := speaking(t, a.URL, func(cfg *Config) {
		cfg.Limited = func(context.Context, int64, time.Duration) { t.Error("no installation was limited") }
	})
	_, err := c.HookDeliveries(t.Context(), time.Now().Add(-time.Hour))
	require.InDelta(t, 9, waitOf(t, err).Seconds(), 1)
}

func TestLeaveIsAskedBeforeEachWriteAndNeverForReading(t *testing.T) {
	server, _ := start(t)
	asked := []int64(nil)
	c := speaking(t, server.URL(), func(cfg *Config) {
		cfg.AppID, cfg.PrivateKey = 4242, server.KeyPEM()
		cfg.Pace = time.Hour // not kept: the shared pace stands in its place
		cfg.Leave = func(_ context.Context, in int64) (time.Duration, error) {
			asked = append(asked, in)
			if len(asked) == 2 {
				return time.Millisecond, nil // asked again after it
			}
			return 0, nil
		}
	})
	in := comment(41)
	_, err := c.PullRequest(t.Context(), in.Installation, in.Repo, 41)
	require.NoError(t, err)
	require.Empty(t, asked)
	for range 2 {
		_, err = c.UpsertComment(t.Context(), in, "words")
		require.NoError(t, err)
	}
	require.Equal(t, []int64{in.Installation, in.Installation, in.Installation}, asked)
}

func TestWithoutLeaveNothingIsWritten(t *testing.T) {
	server, _ := start(t)
	wait, broken := time.Minute, error(nil)
	c := speaking(t, server.URL(), func(cfg *Config) {
		cfg.AppID, cfg.PrivateKey = 4242, server.KeyPEM()
		cfg.Leave = func(context.Context, int64) (time.Duration, error) { return wait, broken }
	})
	_, err := c.UpsertComment(t.Context(), comment(41), "words")
	require.Equal(t, time.Minute, waitOf(t, err), "longer than the patience: the worker does not stand in line")
	wait, broken = 0, errors.New("the database is away")
	_, err = c.UpsertComment(t.Context(), comment(41), "words")
	require.ErrorIs(t, err, broken)
	require.Empty(t, server.Comments(41))
}
