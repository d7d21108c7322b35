// Package tracing carries the cause of a piece of work through the whole product: the correlation id that stands in every log line,
// and the OpenTelemetry trace that its spans belong to.
//
// A cause begins with a webhook, a request of the API or a page, travels with the context, is stored with queue jobs and attempts, and
// goes on in the runner. The package records nothing itself: without a provider (internal/tracing/export) spans cost next to nothing.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Cause is what set something off, as it is stored and sent.
type Cause struct {
	Correlation string `json:"correlation,omitempty"` // a webhook's delivery id or a request's X-Request-Id
	Traceparent string `json:"traceparent,omitempty"` // https://www.w3.org/TR/trace-context/#traceparent-header
}

// TraceparentHeader is the HTTP header that carries a Traceparent.
const TraceparentHeader = "traceparent"

// maxCorrelation bounds an id that comes from outside.
const maxCorrelation = 128

type correlationKey struct{}

// With returns a context whose work has this cause. An empty field of the cause changes nothing.
func With(ctx context.Context, c Cause) context.Context {
	if c.Correlation != "" {
		ctx = context.WithValue(ctx, correlationKey{}, c.Correlation[:min(len(c.Correlation), maxCorrelation)])
	}
	if c.Traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{TraceparentHeader: c.Traceparent})
	}
	return ctx
}

// Of returns the cause of the context's work. Its trace continues below the current span.
func Of(ctx context.Context) Cause {
	id, _ := ctx.Value(correlationKey{}).(string)
	c := Cause{Correlation: id}
	if trace.SpanContextFromContext(ctx).IsSampled() {
		carrier := propagation.MapCarrier{}
		propagation.TraceContext{}.Inject(ctx, carrier)
		c.Traceparent = carrier[TraceparentHeader]
	}
	return c
}
