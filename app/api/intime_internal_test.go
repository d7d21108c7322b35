package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program repeats what was answered with 503, because it was not executed.
func TestAChangeThatTookTooLongIsNotAnsweredAsIfNothingHappened(t *testing.T) {
	s := &server{Config: Config{Log: slog.New(slog.DiscardHandler)}}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for method, want := range map[string]int{
		http.MethodGet: http.StatusServiceUnavailable, http.MethodHead: http.StatusServiceUnavailable,
		http.MethodPost: http.StatusGatewayTimeout, http.MethodPatch: http.StatusGatewayTimeout, http.MethodDelete: http.StatusGatewayTimeout,
	} {
		answer := httptest.NewRecorder()
		s.writeError(answer, httptest.NewRequestWithContext(ctx, method, "/api/v1/clusters/shop/extend", nil), fmt.Errorf("extend: %w", context.DeadlineExceeded))
		require.Equal(t, want, answer.Code, method)
		require.Equal(t, want == http.StatusServiceUnavailable, answer.Header().Get("Retry-After") != "", method)
	}
}
