package github

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// These functions compare requests to GitHub, and the stand-in's responses and webhooks, with GitHub's own OpenAPI description: github.json
// contains the shapes of the relevant operations (make github-shapes regenerates it). They must never be lenient: a field, a parameter or a
// path that GitHub does not describe is an error.

//go:embed testdata/github.json
var descriptionJSON []byte

// describedCall is one operation of the description.
type describedCall struct {
	path  *regexp.Regexp
	names []string // of the path's parameters
	route routers.Route
	exact int // literal characters of the path
}

// describedCalls is the description, parsed by an independent library.
var describedCalls = sync.OnceValue(func() []describedCall {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(descriptionJSON)
	if err == nil {
		err = doc.Validate(loader.Context)
	}
	if err != nil {
		panic(fmt.Errorf("github.json: %w", err))
	}
	var out []describedCall
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			one := describedCall{route: routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}}
			one.path, one.names, one.exact = pathPattern(path)
			out = append(out, one)
		}
	}
	return out
})

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

// pathPattern returns a regular expression for a path template. Some parameters may contain slashes, as GitHub accepts them.
func pathPattern(template string) (re *regexp.Regexp, names []string, exact int) {
	var b strings.Builder
	rest := template
	for {
		at := pathParameter.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		name := rest[at[2]:at[3]]
		b.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		exact += at[0]
		if slices.Contains([]string{"path", "ref", "name"}, name) {
			b.WriteString("(.+)")
		} else {
			b.WriteString("([^/]+)")
		}
		names, rest = append(names, name), rest[at[1]:]
	}
	return regexp.MustCompile("^" + b.String() + regexp.QuoteMeta(rest) + "$"), names, exact + len(rest)
}

var pathByNumber = regexp.MustCompile(`^/repositories/\d+`)

// findDescribed returns a request's operation, and the values of its path parameters.
func findDescribed(method, path string) (routers.Route, map[string]string, bool) {
	path = pathByNumber.ReplaceAllString(path, "/repos/o/r") // the path to which a renamed repository's requests are redirected
	var best *describedCall
	var values []string
	for _, op := range describedCalls() {
		if got := op.path.FindStringSubmatch(path); got != nil && op.route.Method == method && (best == nil || op.exact > best.exact) {
			best, values = &op, got[1:]
		}
	}
	if best == nil {
		return routers.Route{}, nil, false
	}
	params := map[string]string{}
	for i, name := range best.names {
		params[name], _ = url.PathUnescape(values[i])
	}
	return best.route, params, true
}

// CheckedTransport compares every request and response with the description. Report gets what does not match; nothing is blocked. Over
// counts the operations, by their operationId.
type CheckedTransport struct {
	Base   http.RoundTripper // nil: http.DefaultTransport
	Report func(error)

	mu   sync.Mutex
	seen map[string]int
}

// CountSeen counts the answers without an error by operation.
func (t *CheckedTransport) CountSeen() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]int{}
	maps.Copy(out, t.seen)
	return out
}

// RoundTrip implements http.RoundTripper.
func (t *CheckedTransport) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	defer must.Catch(&err)
	var sent []byte
	if r.Body != nil {
		sent = must.Get(io.ReadAll(r.Body))
		_ = r.Body.Close()
	}
	if string(bytes.TrimSpace(sent)) == "null" { // ghinstallation sends it for an empty body, which GitHub accepts
		sent = nil
	}
	again := r.Clone(r.Context())
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	if len(sent) == 0 {
		again.Body = http.NoBody
	}
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	answer := must.Get(base.RoundTrip(again))
	got := must.Get(io.ReadAll(answer.Body))
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(got))
	if r.URL.Path != "/graphql" {
		t.checkExchange(r, sent, answer, got)
	}
	return answer, nil
}

// checkExchange reports what does not match in one exchange.
func (t *CheckedTransport) checkExchange(r *http.Request, sent []byte, answer *http.Response, got []byte) {
	route, params, ok := findDescribed(r.Method, r.URL.EscapedPath())
	if !ok {
		t.Report(fmt.Errorf("%s %s: GitHub's description, as far as it is kept here, has no such operation", r.Method, r.URL.Path))
		return
	}
	id := route.Operation.OperationID
	if answer.StatusCode >= 400 {
		var message struct{ Message string }
		if json.Unmarshal(got, &message) != nil || message.Message == "" {
			t.Report(fmt.Errorf("%s answered %d without a message: %s", id, answer.StatusCode, got))
		}
		return
	}
	if err := checkRequest(r, sent, route, params); err != nil {
		t.Report(fmt.Errorf("what was sent to %s: %w", id, err))
	}
	if err := checkAnswer(r, answer, got, route, params); err != nil {
		t.Report(fmt.Errorf("what %s answered: %w", id, err))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string]int{}
	}
	t.seen[id]++
}

func checkRequest(r *http.Request, sent []byte, route routers.Route, params map[string]string) (err error) {
	defer must.Catch(&err)
	asked := r.Clone(context.WithoutCancel(r.Context()))
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	for name := range asked.URL.Query() {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil && route.PathItem.Parameters.GetByInAndName("query", name) == nil {
			return fmt.Errorf("no such parameter: %s", name)
		}
	}
	input := &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: &route, Options: validateStrictly()}
	must.Do(openapi3filter.ValidateRequest(context.WithoutCancel(r.Context()), input))
	if len(sent) == 0 || route.Operation.RequestBody == nil {
		return nil
	}
	var body any
	must.Do(json.Unmarshal(sent, &body))
	media := route.Operation.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		return errors.New("a body that nobody described")
	}
	return findUnknownField(body, media.Schema, "")
}

func checkAnswer(r *http.Request, answer *http.Response, got []byte, route routers.Route, params map[string]string) error {
	if answer.StatusCode == http.StatusNotModified || answer.StatusCode >= 300 {
		return nil
	}
	described := route.Operation.Responses.Status(answer.StatusCode)
	if described == nil {
		return fmt.Errorf("GitHub does not answer %d", answer.StatusCode)
	}
	if media := described.Value.Content.Get("application/json"); media == nil && len(bytes.TrimSpace(got)) > 0 {
		return fmt.Errorf("GitHub answers %d without a body", answer.StatusCode)
	} else if media == nil {
		return nil
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: &route},
		Status:                 answer.StatusCode, Header: answer.Header,
		Options: validateStrictly(),
	}
	input.SetBodyBytes(got)
	return openapi3filter.ValidateResponse(context.WithoutCancel(r.Context()), input)
}

func validateStrictly() *openapi3filter.Options {
	o := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true}
	o.WithCustomSchemaErrorFunc(describeSchemaError)
	return o
}

// describeSchemaError omits the whole schema and the whole value, which the library would print.
func describeSchemaError(err *openapi3.SchemaError) string {
	return "/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
}

// findUnknownField returns the first field that a schema does not know.
func findUnknownField(v any, schema *openapi3.SchemaRef, at string) (err error) {
	defer must.Catch(&err)
	switch v := v.(type) {
	case map[string]any:
		fields := map[string]*openapi3.SchemaRef{}
		if free := collectFields(schema, fields); free {
			return nil
		}
		for name, one := range v {
			field, ok := fields[name]
			if !ok {
				return fmt.Errorf("no such field: %s%s", at, name)
			}
			must.Do(findUnknownField(one, field, at+name+"."))
		}
	case []any:
		if schema.Value.Items == nil {
			return nil
		}
		for _, one := range v {
			must.Do(findUnknownField(one, schema.Value.Items, at))
		}
	}
	return nil
}

// collectFields collects the fields of a schema and its variants; free: the schema allows others too.
func collectFields(schema *openapi3.SchemaRef, into map[string]*openapi3.SchemaRef) (free bool) {
	s := schema.Value
	maps.Copy(into, s.Properties)
	for _, variants := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, one := range variants {
			free = collectFields(one, into) && len(one.Value.Properties) > 0 || free
		}
	}
	more := s.AdditionalProperties
	says := more.Schema != nil || more.Has != nil && *more.Has
	return free || says && len(s.Properties) == 0 || len(into) == 0
}

// checkWebhook compares a webhook's body with the description. Action is empty for a ping.
func checkWebhook(event, action string, body []byte) error {
	name := strings.ReplaceAll(strings.TrimSuffix(event+"-"+action, "-"), "_", "-")
	if event == "repository_dispatch" {
		name = "repository-dispatch-sample.collected" // the sender chooses its action
	}
	route, _, ok := findDescribed(http.MethodPost, "/webhooks/"+name)
	if !ok {
		return fmt.Errorf("GitHub's description, as far as it is kept here, has no webhook %s", name)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	if m, ok := v.(map[string]any); ok && event == "repository_dispatch" {
		m["action"] = "sample.collected"
	}
	media := route.Operation.RequestBody.Value.Content.Get("application/json")
	return media.Schema.Value.VisitJSON(v, openapi3.MultiErrors(), openapi3.SetSchemaErrorMessageCustomizer(describeSchemaError))
}

// describedWebhooks returns the described webhooks, by GitHub's own names.
func describedWebhooks() []string {
	var out []string
	for _, op := range describedCalls() {
		if name, ok := strings.CutPrefix(op.route.Path, "/webhooks/"); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// describedIDs returns the described operationIds.
func describedIDs() []string {
	var out []string
	for _, op := range describedCalls() {
		if !strings.HasPrefix(op.route.Path, "/webhooks/") {
			out = append(out, op.route.Operation.OperationID)
		}
	}
	slices.Sort(out)
	return out
}
