// Package standtest is a test server for ocpctl. It has no clusters; it implements openapi.yaml: requests and responses are validated
// against the document, and a violation fails the test.
package standtest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"
)

//go:embed answers.json
var answers []byte

// Token is the only token that it accepts.
const Token = "good-token"

// Asked is one received request.
type Asked struct {
	Operation, Method, Path, Body string
	Header                        http.Header
}

// Server is the stand-in. Its responses come from answers.json until a test changes them.
type Server struct {
	URL string
	Doc *openapi3.T

	t        testing.TB
	router   routers.Router
	answers  map[string]json.RawMessage
	mu       sync.Mutex
	handlers map[string]http.HandlerFunc
	asked    []Asked
	release  map[string]any
}

// Kubeconfig answers getKubeconfig with one that is made.
func Kubeconfig(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Ocpctl-Access-Expires", "2026-11-20T20:00:00Z")
		_, _ = io.WriteString(w, raw)
	}
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	speaks, err := document()
	require.NoError(t, err)
	s := &Server{t: t, Doc: speaks.doc, router: speaks.router, handlers: map[string]http.HandlerFunc{}}
	s.Release("v1.2.3", "v1.0.0")
	require.NoError(t, json.Unmarshal(answers, &s.answers))
	on := httptest.NewServer(s)
	t.Cleanup(on.Close)
	s.URL = on.URL
	return s
}

// document is openapi.yaml, parsed once for all tests because that takes longer than most of them.
var document = sync.OnceValues(func() (*spoken, error) {
	path, err := findAbove("go.mod", filepath.Join("app", "api", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	router, err := legacy.NewRouter(doc)
	return &spoken{doc, router}, err
})

// spoken is the document with a router for its operations.
type spoken struct {
	doc    *openapi3.T
	router routers.Router
}

// findAbove finds a file that is beside a mark in a parent folder of the test.
func findAbove(mark, file string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
			return filepath.Join(dir, file), nil
		}
		dir = filepath.Dir(dir)
	}
	return "", errors.New("there is no " + mark + " above the test")
}

// Handle lets a handler answer an operation from now on. Its responses are not validated: they may be a stream, or a fault.
func (s *Server) Handle(operation string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[operation] = h
}

// Answer sets an operation's response from now on.
func (s *Server) Answer(operation string, body any) {
	raw, err := json.Marshal(body)
	require.NoError(s.t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[operation] = raw
}

// Release sets the server's version from now on, and the oldest ocpctl that it works with.
func (s *Server) Release(version, oldestClient string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = map[string]any{"version": version, "oldestClient": oldestClient}
}

// publishRelease answers without authentication at the path where a server publishes its version. It is no operation of openapi.yaml.
func (s *Server) publishRelease(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.release)
}

// Refuse answers an operation with a problem document from now on.
func (s *Server) Refuse(operation string, status int, problem any) {
	s.Handle(operation, func(w http.ResponseWriter, _ *http.Request) { Problem(w, status, problem) })
}

// Problem writes a problem document.
func Problem(w http.ResponseWriter, status int, problem any) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem)
}

// Body returns the response of an operation.
func (s *Server) Body(operation string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[operation]
}

// Asked returns the requests since the last call.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.asked
	s.asked = nil
	return all
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/.well-known/ocpctl" {
		s.publishRelease(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		s.t.Errorf("%s %s is no operation of openapi.yaml: %v", r.Method, r.URL.Path, err)
		http.NotFound(w, r)
		return
	}
	operation := route.Operation.OperationID
	s.mu.Lock()
	s.asked = append(s.asked, Asked{operation, r.Method, r.URL.RequestURI(), string(body), r.Header.Clone()})
	answer, own := s.answers[operation], s.handlers[operation]
	s.mu.Unlock()

	r.Body = io.NopCloser(bytes.NewReader(body))
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{
		MultiError: true, AuthenticationFunc: isSignedIn,
	}}
	switch err := openapi3filter.ValidateRequest(r.Context(), input); {
	case errors.As(err, new(*openapi3filter.SecurityRequirementsError)):
		Problem(w, http.StatusUnauthorized, map[string]any{"title": "Unauthorized", "status": 401, "detail": "The token is not known."})
		return
	case err != nil:
		s.t.Errorf("%s %s does not fit openapi.yaml: %v", r.Method, r.URL, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if own != nil {
		own(w, r)
		return
	}
	s.sendReply(w, input, answer)
}

func isSignedIn(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if in.RequestValidationInput.Request.Header.Get("Authorization") != "Bearer "+Token {
		return errors.New("not known")
	}
	return nil
}

// sendReply sends the successful response that the document defines for an operation.
func (s *Server) sendReply(w http.ResponseWriter, input *openapi3filter.RequestValidationInput, answer []byte) {
	status, kind := 0, ""
	for code, response := range input.Route.Operation.Responses.Map() {
		if strings.HasPrefix(code, "2") {
			status = map[string]int{"200": 200, "201": 201, "202": 202}[code]
			for mime := range response.Value.Content {
				if kind == "" || mime == "application/json" {
					kind = mime
				}
			}
		}
	}
	if kind != "application/json" || answer == nil {
		s.t.Errorf("%s has no answer here", input.Route.Operation.OperationID)
	}
	header := http.Header{"Content-Type": {kind}}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(answer)),
	})
	if err != nil {
		s.t.Errorf("the answer of %s does not fit openapi.yaml: %v", input.Route.Operation.OperationID, err)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}
