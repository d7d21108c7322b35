package tracing

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// The attributes that Log adds.
const (
	correlationAttr = "correlation"
	traceAttr       = "trace"
)

// Log returns a handler that adds the cause of the context to each line: correlation, and trace if the trace is recorded. A line
// that names a correlation itself keeps its own.
func Log(next slog.Handler) slog.Handler { return logHandler{next, false} }

type logHandler struct {
	slog.Handler
	named bool // an attribute of the logger is a correlation
}

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if h.named {
		return h.Handler.Handle(ctx, line)
	}
	own := namesCause(line)
	for _, a := range attributesOf(ctx) {
		if a.Key != correlationAttr || !own {
			line.AddAttrs(a)
		}
	}
	return h.Handler.Handle(ctx, line)
}

// Logger returns a logger all of whose lines have the cause of the context's work.
func Logger(ctx context.Context, log *slog.Logger) *slog.Logger {
	for _, a := range attributesOf(ctx) {
		log = log.With(a)
	}
	return log
}

func attributesOf(ctx context.Context) (out []slog.Attr) {
	if id := Of(ctx).Correlation; id != "" {
		out = append(out, slog.String(correlationAttr, id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		out = append(out, slog.String(traceAttr, span.TraceID().String()))
	}
	return out
}

func namesCause(line slog.Record) (found bool) {
	line.Attrs(func(a slog.Attr) bool {
		found = a.Key == correlationAttr
		return !found
	})
	return found
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	named := h.named
	for _, a := range attrs {
		named = named || a.Key == correlationAttr
	}
	return logHandler{h.Handler.WithAttrs(attrs), named}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name), h.named}
}
