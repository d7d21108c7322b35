package tracing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/tracing"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestACauseComesBackAsItWasGiven(t *testing.T) {
	t.Parallel()
	cause := tracing.Cause{Correlation: "d-1", Traceparent: parent}
	ctx := tracing.With(t.Context(), cause)
	require.Equal(t, cause, tracing.Of(ctx))
	require.Equal(t, cause, tracing.Of(tracing.With(ctx, tracing.Cause{})), "nothing new is known")
	ctx, span := tracing.Start(ctx, tracing.Internal, "step", "name", "value")
	span.Fail("nothing is recorded")
	span.End()
	require.Equal(t, cause, tracing.Of(ctx), "without a provider the trace of the caller goes on")
	require.Empty(t, tracing.Of(context.Background()))
	require.Len(t, tracing.Of(tracing.With(t.Context(), tracing.Cause{Correlation: strings.Repeat("x", 500), Traceparent: "nonsense"})).Correlation, 128)
}

func TestEachLineHasItsCauseOnce(t *testing.T) {
	t.Parallel()
	ctx := tracing.With(t.Context(), tracing.Cause{Correlation: "d-1", Traceparent: parent})
	var out bytes.Buffer
	log := slog.New(tracing.Log(slog.NewJSONHandler(&out, nil)))
	for _, each := range []struct {
		write              func()
		correlation, trace any
	}{
		{func() { log.InfoContext(ctx, "x") }, "d-1", "4bf92f3577b34da6a3ce929d0e0e4736"},
		{func() { log.InfoContext(ctx, "x", "correlation", "own") }, "own", "4bf92f3577b34da6a3ce929d0e0e4736"},
		{func() { tracing.Logger(ctx, log).Info("x") }, "d-1", "4bf92f3577b34da6a3ce929d0e0e4736"},
		{func() { tracing.Logger(ctx, log).InfoContext(ctx, "x") }, "d-1", "4bf92f3577b34da6a3ce929d0e0e4736"},
		{func() { log.With("a", 1).InfoContext(t.Context(), "x") }, nil, nil},
	} {
		out.Reset()
		each.write()
		var line map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &line))
		require.Equal(t, []any{each.correlation, each.trace}, []any{line["correlation"], line["trace"]}, out.String())
		require.LessOrEqual(t, strings.Count(out.String(), `"correlation"`), 1)
		require.LessOrEqual(t, strings.Count(out.String(), `"trace"`), 1)
	}
}

func BenchmarkASpanThatNobodyRecords(b *testing.B) {
	ctx := tracing.With(b.Context(), tracing.Cause{Correlation: "d-1"})
	for b.Loop() {
		_, span := tracing.Start(ctx, tracing.Internal, "step")
		span.End()
	}
}
