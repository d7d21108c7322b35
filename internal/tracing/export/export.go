// Package export sends a program's spans to a collector by OTLP over HTTP. It is configured by the standard variables of
// OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT and the others of https://opentelemetry.io/docs/specs/otel/protocol/exporter/), and off
// without an endpoint. Only programs import it: it brings the SDK, gRPC's types and protobuf along.
package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// flush limits how long the last spans may take at the end of a program.
const flush = 5 * time.Second

// Start sends the spans of this process from now on, and returns what ends that and sends the last ones. Without an endpoint it
// changes nothing. A collector that does not answer is logged and holds nothing up: spans are dropped.
func Start(ctx context.Context, service, version string, log *slog.Logger) (stop func(), err error) {
	if !On(os.Getenv) {
		return func() {}, nil
	}
	if protocol := os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; only http/protobuf is supported (port 4318 of most collectors)", protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the exporter of traces: %w", err)
	}
	// The environment comes last: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES overrule ours.
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version)),
		resource.WithHost(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("describe this process for traces: %w", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	otel.SetTracerProvider(provider)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces were not sent", "err", err) }))
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), flush)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Warn("the last traces were not sent", "err", err)
		}
	}, nil
}

// On reports whether an environment asks for traces.
func On(env func(string) string) bool {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(env("OTEL_TRACES_EXPORTER"), "none") {
		return false
	}
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Secrets returns the values of the headers for the collector, among them its key, for whoever must not print them.
func Secrets(env func(string) string) (values []string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for pair := range strings.SplitSeq(env(name), ",") {
			_, escaped, _ := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(escaped))
			if err == nil && value != "" {
				values = append(values, value)
			}
		}
	}
	return values
}
