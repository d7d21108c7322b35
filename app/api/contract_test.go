package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"
)

// agreed is openapi.yaml as an independent library reads it.
var agreed = sync.OnceValue(func() routers.Router {
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.FileBodyDecoder)
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(written)
	if err == nil {
		err = doc.Validate(loader.Context)
	}
	if err != nil {
		panic(err)
	}
	doc.Servers = nil // any host
	router, err := legacy.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return router
})

// exercised remembers which operations were answered how, in all tests of the package.
var exercised = struct {
	sync.Mutex
	granted, refused map[string]bool
}{granted: map[string]bool{}, refused: map[string]bool{}}

// contractual is a transport that holds every answer against the document, and every request that was not refused.
type contractual struct{ t testing.TB }

// RoundTrip implements http.RoundTripper.
func (c contractual) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := []byte{}
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	asked := r.Clone(context.WithoutCancel(r.Context()))
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	route, params, err := agreed().FindRoute(asked)
	if err != nil {
		return answer, nil // no operation of ours: probes, metrics, what is not there
	}
	exercised.Lock()
	if answer.StatusCode < 400 {
		exercised.granted[route.Operation.OperationID] = true
	} else {
		exercised.refused[route.Operation.OperationID] = true
	}
	exercised.Unlock()
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return answer, nil // it goes on; its events are held against their schema where they are read
	}
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(got))
	in := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true},
	}
	if answer.StatusCode < 400 {
		require.NoError(c.t, openapi3filter.ValidateRequest(asked.Context(), in), "%s %s: the request was granted and is not the document's", r.Method, r.URL.Path)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: answer.StatusCode, Header: answer.Header, Options: in.Options}
	out.SetBodyBytes(got)
	require.NoError(c.t, openapi3filter.ValidateResponse(asked.Context(), out), "%s %s: %s", r.Method, r.URL.Path, got)
	return answer, nil
}

// listOperations returns all that openapi.yaml has.
func listOperations(t testing.TB) []call {
	all := readDocument().listCalls()
	require.Greater(t, len(all), 50)
	return all
}

// TestMain sees to it that the tests together did with every operation what it is for, and were refused.
func TestMain(m *testing.M) {
	code := m.Run()
	some := slices.ContainsFunc(os.Args, func(a string) bool {
		return strings.HasPrefix(a, "-test.run") || strings.HasPrefix(a, "-test.skip") || strings.HasPrefix(a, "-test.list")
	})
	if code == 0 && !some {
		for _, c := range readDocument().listCalls() {
			for what, done := range map[string]bool{"succeeded with": exercised.granted[c.ID], "were refused": exercised.refused[c.ID]} {
				if !done {
					fmt.Printf("no test %s %s %s (%s)\n", what, c.Method, c.Path, c.ID)
					code = 1
				}
			}
		}
	}
	os.Exit(code)
}
