// Package api speaks to the API of a hub: JSON over HTTPS, with a token. It knows no cluster, and deletes only what it is told to by path and UID.
package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// Manager is the field manager of everything that is applied.
const Manager = "ocpctl"

const (
	callTimeout = 20 * time.Second
	mostTries   = 4
	firstWait   = 200 * time.Millisecond
	mostWait    = 2 * time.Second
	pageSize    = 500
	mostAnswer  = 64 << 20
)

// Client calls one hub.
type Client struct {
	server string
	token  secret.Text
	http   *http.Client
	calls  atomic.Int64
	slowed atomic.Int64
}

// New makes no call. ca are certificates in PEM with which the hub is verified; empty: those that the system trusts.
func New(server string, token secret.Text, ca string) (*Client, error) {
	if server == "" || token.Empty() {
		return nil, errors.New("a hub needs credentials: its API's address and a token")
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, errors.New("the hub's certificates (ca) are no PEM certificates")
		}
	}
	return &Client{server: strings.TrimSuffix(server, "/"), token: token, http: &http.Client{
		Timeout: callTimeout, Transport: &http.Transport{TLSClientConfig: trust, Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a token is for this server alone
	}}, nil
}

// Calls returns how many calls were made, and how many of them the hub throttled.
func (c *Client) Calls() (made, slowed int) { return int(c.calls.Load()), int(c.slowed.Load()) }

// Error is a refusal of the hub (metav1.Status).
type Error struct {
	Code    int
	Reason  string
	Message string
	Kind    string
	Details struct{ Kind, Name string } // of the object that it is about

	absent bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d %s)", e.Message, e.Code, e.Reason) }

// ErrorCode and ErrorMessage give it the form of the clouds' errors.
func (e *Error) ErrorCode() string    { return e.Reason }
func (e *Error) ErrorMessage() string { return e.Message }

// HasCode reports that the hub answered with a status.
func HasCode(err error, code int) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// IsAbsent reports that the hub itself said that the object which was asked for does not exist. Another 404, such as a proxy's page, is no such word.
func IsAbsent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.absent
}

// concerns reports that a path names the object that the refusal is about.
func (e *Error) concerns(path string) bool {
	return e.Details.Name != "" && strings.HasSuffix(path, "/"+e.Details.Kind+"/"+e.Details.Name)
}

// Get reads one object.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.call(ctx, http.MethodGet, path, "", nil, into)
}

// List reads all objects of a list, page by page.
func List[T any](ctx context.Context, c *Client, path, labels string) (all []T, err error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if labels != "" {
		query.Set("labelSelector", labels)
	}
	for {
		var page struct {
			Kind     string
			Metadata struct{ Continue string }
			Items    []T
		}
		if err := c.Get(ctx, path+"?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		if !strings.HasSuffix(page.Kind, "List") {
			return nil, fmt.Errorf("the hub's answer to %s is no list", path)
		}
		all = append(all, page.Items...)
		if page.Metadata.Continue == "" {
			return all, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// ListServed is List of a kind that a hub may not have. It has none of them if its own list of API groups lacks the group: what it answers for a path
// of an unknown group looks like any proxy's 404.
func ListServed[T any](ctx context.Context, c *Client, path, group string) ([]T, error) {
	all, err := List[T](ctx, c, path, "")
	if group == "" || !HasCode(err, http.StatusNotFound) {
		return all, err
	}
	type named struct{ Name string }
	var served struct {
		Kind   string
		Groups []named
	}
	if asked := c.Get(ctx, "/apis", &served); asked != nil || served.Kind != "APIGroupList" || slices.Contains(served.Groups, named{group}) {
		return nil, err
	}
	return nil, nil
}

// Apply makes an object as it is given, or changes the fields that are given (server-side apply). A field that the hub does not know is refused.
func (c *Client) Apply(ctx context.Context, path string, object any) error {
	return c.call(ctx, http.MethodPatch, path+"?fieldManager="+Manager+"&force=true&fieldValidation=Strict", "application/apply-patch+yaml", object, nil)
}

// Merge changes the fields that are given of an object that is there, whoever made it (JSON merge patch).
func (c *Client) Merge(ctx context.Context, path string, change any) error {
	return c.call(ctx, http.MethodPatch, path+"?fieldManager="+Manager+"&fieldValidation=Strict", "application/merge-patch+json", change, nil)
}

// Create posts an object: a new one, a question or a request for a token. It is repeated only if no answer came.
func (c *Client) Create(ctx context.Context, path string, object, into any) error {
	return c.call(ctx, http.MethodPost, path+"?fieldManager="+Manager+"&fieldValidation=Strict", "application/json", object, into)
}

// Delete deletes the object with that UID, and what it owns. It does not wait for the end.
func (c *Client) Delete(ctx context.Context, path, uid string) error {
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
	if uid != "" {
		options["preconditions"] = map[string]any{"uid": uid}
	}
	return c.call(ctx, http.MethodDelete, path, "application/json", options, nil)
}

// call makes one call, and repeats it while the hub throttles or does not answer, for some seconds.
func (c *Client) call(ctx context.Context, method, path, kind string, body, into any) (err error) {
	var raw []byte
	if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode a %s of %s: %w", method, path, err)
		}
	}
	for try, wait := 1, firstWait; ; try, wait = try+1, min(2*wait, mostWait) {
		var again time.Duration
		again, err = c.callOnce(ctx, method, path, kind, raw, into)
		if err == nil || again == 0 || try == mostTries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(wait, again)):
		}
	}
}

// callOnce returns after how long another try may help; 0: never.
func (c *Client) callOnce(ctx context.Context, method, path, kind string, body []byte, into any) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", Manager+"-runner")
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	c.calls.Add(1)
	response, err := c.http.Do(request)
	if err != nil {
		return firstWait, fmt.Errorf("the hub did not answer: %w", err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	switch {
	case err != nil:
		return firstWait, fmt.Errorf("the hub did not answer completely: %w", err)
	case response.StatusCode < http.StatusMultipleChoices && into == nil:
		return 0, nil
	case response.StatusCode < http.StatusMultipleChoices:
		if err := json.Unmarshal(raw, into); err != nil {
			return 0, fmt.Errorf("%s %s: the hub's answer is no JSON of the kind", method, path) // without the answer, which may hold a token
		}
		return 0, nil
	}
	refused := &Error{Code: response.StatusCode}
	_ = json.Unmarshal(raw, refused) // an answer of a proxy is no Status
	refused.Code = response.StatusCode
	refused.absent = refused.Code == http.StatusNotFound && refused.Kind == "Status" && refused.Reason == "NotFound" && refused.concerns(request.URL.Path)
	refused.Reason = cmp.Or(refused.Reason, strings.ReplaceAll(http.StatusText(refused.Code), " ", ""))
	refused.Message = cmp.Or(refused.Message, method+" "+path+" was refused")
	if refused.Code == http.StatusTooManyRequests {
		c.slowed.Add(1)
	}
	if refused.Code == http.StatusTooManyRequests || refused.Code >= http.StatusInternalServerError {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return max(firstWait, min(time.Duration(seconds)*time.Second, mostWait)), refused
	}
	return 0, refused
}
