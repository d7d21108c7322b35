package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
)

func TestWhatAPageAsksForEndsWithThePagesTime(t *testing.T) {
	p := &pages{Config: Config{Timeout: time.Millisecond, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, views: parseTemplates(nil, readAssets())}
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // as a query of PostgreSQL does that waits for a lock
		p.showError(w, r, policy.Principal{}, fmt.Errorf("read clusters: %w", r.Context().Err()))
	})
	for method, next := range map[string]string{http.MethodGet: "Try again in a moment.", http.MethodPost: "Check before you try again."} {
		answer := httptest.NewRecorder()
		p.inTime(slow).ServeHTTP(answer, httptest.NewRequest(method, "/", nil))
		require.Equal(t, http.StatusServiceUnavailable, answer.Code)
		require.Contains(t, answer.Body.String(), "took too long and was canceled")
		require.Contains(t, answer.Body.String(), next)
	}
}
