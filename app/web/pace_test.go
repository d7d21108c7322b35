package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
)

func TestWhoAsksForPagesTooOftenWaits(t *testing.T) {
	asked := map[string]int{}
	p := &pages{Config: Config{Now: time.Now, Log: slog.New(slog.DiscardHandler), Pace: func(who string) time.Duration {
		if asked[who]++; asked[who] > 1 {
			return 1500 * time.Millisecond
		}
		return 0
	}}, views: parseTemplates(nil, readAssets())}
	look := func(who string) (*httptest.ResponseRecorder, bool) {
		w := httptest.NewRecorder()
		return w, p.limitRate(w, httptest.NewRequest(http.MethodGet, "/", nil), policy.As(who, who, policy.Requester))
	}
	_, waits := look("maya")
	require.False(t, waits)
	w, waits := look("maya")
	require.True(t, waits)
	require.Equal(t, []any{http.StatusTooManyRequests, "2"}, []any{w.Code, w.Header().Get("Retry-After")})
	require.Contains(t, w.Body.String(), "Wait 2 s.")
	_, waits = look("will")
	require.False(t, waits, "nobody else does")
}
