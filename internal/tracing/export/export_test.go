package export_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/tracing/export"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestTracesAreOffWithoutAnEndpoint(t *testing.T) {
	require.False(t, export.On(env(nil)))
	require.True(t, export.On(env(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"})))
	require.True(t, export.On(env(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"})))
	require.False(t, export.On(env(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"})))
	require.False(t, export.On(env(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"})))
}

func TestAProtocolThatIsNotSupportedIsRefused(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	_, err := export.Start(t.Context(), "x", "v1", slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; only http/protobuf is supported`)
}

func TestTheCollectorsKeysAreKnownAsSecrets(t *testing.T) {
	require.Equal(t, []string{"a key", "other", "third=3"}, export.Secrets(env(map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20key, y=other,,z=", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "q=third=3",
	})))
	require.Empty(t, export.Secrets(env(nil)))
}
