// Package client calls the REST API: a method for each operation of openapi.yaml. It imports nothing of ocpctl but the API's types, so
// that a program that only talks to a server stays small.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen --config=oapi-codegen.yaml ../openapi.yaml

// Client calls one server.
type Client struct {
	server string
	do     func(*http.Request) (*http.Response, error)
}

// New returns a client of the server with this URL; do sends its requests.
func New(server string, do func(*http.Request) (*http.Response, error)) *Client {
	return &Client{strings.TrimRight(server, "/"), do}
}

// send sends a request. The caller closes the response's body.
func (c *Client) send(ctx context.Context, method, path string, params, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	addParameters(request, params)
	return c.do(request)
}

// pathOf returns an operation's path with its parameters.
func pathOf(format string, parameters ...string) string {
	escaped := make([]any, len(parameters))
	for i, text := range parameters {
		escaped[i] = url.PathEscape(text)
	}
	return fmt.Sprintf(format, escaped...)
}

// addParameters adds the parameters that have a value: those with a form tag to the query, the others to the header.
func addParameters(request *http.Request, params any) {
	all := reflect.Indirect(reflect.ValueOf(params))
	if !all.IsValid() {
		return
	}
	query := url.Values{}
	for field, value := range all.Fields() {
		if value.IsZero() {
			continue
		}
		if form, ok := field.Tag.Lookup("form"); ok {
			name, _, _ := strings.Cut(form, ",")
			query[name] = textsOf(reflect.Indirect(value))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		request.Header.Set(name, value.String())
	}
	request.URL.RawQuery = query.Encode()
}

// textsOf returns the values of a parameter as they stand in a query.
func textsOf(value reflect.Value) []string {
	switch v := value.Interface().(type) {
	case []string:
		return v
	case time.Time:
		return []string{v.Format(time.RFC3339Nano)}
	default:
		return []string{fmt.Sprint(v)}
	}
}
