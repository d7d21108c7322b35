package devstack_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// spans are what a collector received: the names of each trace's spans, each with its service.
type spans struct {
	mu     sync.Mutex
	traces map[string][]string
}

// ServeHTTP is a collector's OTLP endpoint.
func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, from := range sent.ResourceSpans {
		service := ""
		for _, a := range from.Resource.Attributes {
			if a.Key == "service.name" {
				service = a.Value.GetStringValue()
			}
		}
		for _, scope := range from.ScopeSpans {
			for _, span := range scope.Spans {
				id := hex.EncodeToString(span.TraceId)
				s.traces[id] = append(s.traces[id], service+": "+span.Name)
			}
		}
	}
}

// with returns the trace that holds a span; empty: there is none.
func (s *spans) with(span string) (trace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, names := range s.traces {
		if strings.Contains(strings.Join(names, "\n")+"\n", span+"\n") {
			return id
		}
	}
	return ""
}

func TestOneCorrelationAndOneTraceLeadFromTheWebhookToTheRunner(t *testing.T) {
	t.Parallel()
	got := &spans{traces: map[string][]string{}}
	endpoint := httptest.NewServer(got)
	defer endpoint.Close()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Env: []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=collector-key", "OTEL_BSP_SCHEDULE_DELAY=100",
	}})
	number, err := l.GitHub.Open("A traced life", "maya")
	require.NoError(t, err)
	l.begin(number, plan{})
	l.runUntil("the cluster is ready", time.Minute, l.every(lifecycle.PhaseReady))
	l.runUntil("the runner's spans arrived", 10*time.Second, func() bool { return got.with("ocpctl-runner: attempt create") != "" })

	trace := got.with("ocpctl-runner: attempt create")
	for _, span := range []string{
		"ocpctl-server: POST /webhooks/github", "ocpctl-server: delivery pull_request", "ocpctl-server: job reconcile", "ocpctl-server: job launch",
		"ocpctl-runner: phase installing", "ocpctl-runner: status report", "ocpctl-server: POST /api/v1/status/attempts/{id}/report",
	} {
		l.runUntil("the trace has the span "+span, 10*time.Second, func() bool {
			got.mu.Lock()
			defer got.mu.Unlock()
			return strings.Contains(strings.Join(got.traces[trace], "\n")+"\n", span+"\n")
		})
	}

	var attempt, correlation string
	require.NoError(t, l.pool.QueryRow(l.ctx, `
		SELECT a.id, d.delivery_id FROM attempts a JOIN deliveries d ON d.delivery_id = a.correlation WHERE a.kind = 'create'`).Scan(&attempt, &correlation))
	require.Equal(t, 1, l.count(`SELECT count(*) FROM cluster_requests WHERE correlation = $1 AND allowed`, correlation))
	for _, where := range []struct{ log, line string }{
		{filepath.Join("work", attempt, "runner.log"), "phase started"}, {filepath.Join("log", "server.log"), "delivery processed"}, {filepath.Join("log", "server.log"), "decided"}, {filepath.Join("log", "server.log"), "launched"},
	} {
		raw, err := os.ReadFile(filepath.Join(l.Dir, where.log))
		require.NoError(t, err)
		found := false
		for line := range strings.Lines(string(raw)) {
			found = found || strings.Contains(line, `"msg":"`+where.line+`"`) && strings.Contains(line, `"correlation":"`+correlation+`"`) &&
				strings.Contains(line, `"trace":"`+trace+`"`)
		}
		require.True(t, found, "%s has no line %q with the correlation id %s and the trace", where.log, where.line, correlation)
		require.NotContains(t, string(raw), "collector-key")
	}
}
