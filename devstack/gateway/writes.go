package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// callKey is the key under which a request carries its name.
type callKey struct{}

// cloudCall is what a request asks of a cloud.
type cloudCall struct {
	service, action string
	writes          bool
}

// withCall adds to a request what it asks.
func withCall(out *http.Request, host string) *http.Request {
	return out.WithContext(context.WithValue(out.Context(), callKey{}, nameCall(out, host)))
}

// noteWrite tells a write that succeeded.
func (s *Server) noteWrite(resp *http.Response) error {
	if s.cfg.Wrote == nil || resp.StatusCode >= http.StatusMultipleChoices {
		return nil
	}
	if call, ok := resp.Request.Context().Value(callKey{}).(cloudCall); ok && call.writes {
		s.cfg.Wrote(call.service, call.action)
	}
	return nil
}

// form is the type of the bodies that name an action of AWS's older APIs.
const form = "application/x-www-form-urlencoded"

// reading are the beginnings of actions of AWS that change nothing.
var reading = regexp.MustCompile(`^(Describe|List|Get|Simulate|Head|Search|Lookup)`)

// nameCall returns what a request asks: an action of AWS, or of a service with resources in its paths the method and the kind of resource.
func nameCall(r *http.Request, host string) cloudCall {
	service, _, _ := strings.Cut(host, ".")
	_, target, isJSON := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case isJSON:
		return cloudCall{service, target, !reading.MatchString(target)}
	case strings.HasPrefix(r.Header.Get("Content-Type"), form) && awsHost.MatchString(host):
		action := readAction(r)
		return cloudCall{service, action, !reading.MatchString(action)}
	case s3Host.MatchString(host):
		service = "s3"
	case cosHost.MatchString(host):
		service = "cos"
	case vpcHost.MatchString(host):
		service = "vpc"
	}
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead && !asksOnly(r.URL.Path)
	return cloudCall{service, r.Method + "-" + kindOf(r.URL.Path), changes}
}

// asksOnly reports the calls of IBM Cloud that POST a question.
func asksOnly(path string) bool {
	return strings.HasSuffix(path, "/identity/token") || strings.HasSuffix(path, "/resources/search")
}

// readAction reads the action from a form, and puts the body back.
func readAction(r *http.Request) string {
	raw, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	values, bad := url.ParseQuery(string(raw))
	if err != nil || bad != nil {
		return ""
	}
	return values.Get("Action")
}

// isKind matches a part of a path that names a kind, not an id.
var isKind = regexp.MustCompile(`^[a-z_]{3,}$`)

// kindOf returns the last kind in a path: "subnets" of /v1/subnets/0717-….
func kindOf(path string) string {
	kind := "object"
	for part := range strings.SplitSeq(path, "/") {
		if isKind.MatchString(part) {
			kind = part
		}
	}
	return kind
}
