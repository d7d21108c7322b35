package tracing

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/ocpctl/ocpctl"

// Span is one recorded step of a trace. Without a provider it does nothing.
type Span struct{ span trace.Span }

// The kinds of span that a request has at its two ends; every other span is internal.
const (
	Internal = trace.SpanKindInternal
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
)

// Start begins a span below the context's own. The attributes are pairs of name and value. The caller must call End.
func Start(ctx context.Context, kind trace.SpanKind, name string, pairs ...string) (context.Context, Span) {
	ctx, span := otel.Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind))
	if span.IsRecording() {
		span.SetAttributes(toAttributes(pairs)...)
		if id := Of(ctx).Correlation; id != "" {
			span.SetAttributes(attribute.String("ocpctl.correlation", id))
		}
	}
	return ctx, Span{span}
}

// Rename gives the span another name and adds attributes, once what it is about is known.
func (s Span) Rename(name string, pairs ...string) {
	if s.span.IsRecording() {
		s.span.SetName(name)
		s.span.SetAttributes(toAttributes(pairs)...)
	}
}

// Fail marks the span as failed. The text must contain no secret: whoever reads traces sees it.
func (s Span) Fail(why string) { s.span.SetStatus(codes.Error, why) }

// End ends the span.
func (s Span) End() { s.span.End() }

func toAttributes(pairs []string) []attribute.KeyValue {
	var out []attribute.KeyValue
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, attribute.String(pairs[i], pairs[i+1]))
	}
	return out
}
