package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// caller makes requests to the demo over HTTP.
type caller struct {
	home   string // scheme and host
	header http.Header
}

// answer is the demo's response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// plain follows no redirect, because its target is part of the response.
var plain = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// nobody calls the private listener without authentication.
func (t *target) nobody() caller { return caller{home: t.PrivateURL(), header: http.Header{}} }

// bearing calls the private listener with a bearer token.
func (t *target) bearing(token string) caller {
	c := t.nobody()
	c.header.Set("Authorization", "Bearer "+token)
	return c
}

// as calls the private listener as the person or program of the issuer's claims.
func (t *target) as(who oidc.Claims) (caller, error) {
	token, err := t.OIDC.Token(who)
	return t.bearing(token), err
}

// ask sends a request; body is nil, raw bytes, or a value to be encoded as JSON. Headers are alternating names and values.
func (c caller) ask(ctx context.Context, method, path string, body any, headers ...string) (_ answer, err error) {
	defer must.Catch(&err)
	var sent io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = bytes.NewReader(b)
	default:
		raw := must.Get(json.Marshal(b))
		sent = bytes.NewReader(raw)
	}
	r := must.Get(http.NewRequestWithContext(ctx, method, c.home+path, sent))
	maps.Copy(r.Header, c.header)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	return send(plain, r)
}

func send(by *http.Client, r *http.Request) (answer, error) {
	got, err := by.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(got.Body, 8<<20))
	return answer{status: got.StatusCode, header: got.Header, body: raw}, err
}

// patient repeats the request as long as the response is to slow down.
func patient(ctx context.Context, ask func() (answer, error)) (got answer, err error) {
	for {
		if got, err = ask(); err != nil || got.status != http.StatusTooManyRequests {
			return got, err
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		if err != nil {
			return got, fmt.Errorf("an answer 429 without Retry-After: %w", err)
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(time.Duration(seconds) * time.Second):
		}
	}
}

// expect sends a request that must get a status, and parses the response into out unless it is nil. It waits if it is told to slow
// down.
func (c caller) expect(ctx context.Context, status int, out any, method, path string, body any, headers ...string) (err error) {
	defer must.Catch(&err)
	got := must.Get(patient(ctx, func() (answer, error) { return c.ask(ctx, method, path, body, headers...) }))
	must.FailIf(got.status != status, "%s %s answered %d instead of %d: %.300s", method, path, got.status, status, got.body)
	if out == nil {
		return nil
	}
	return json.Unmarshal(got.body, out)
}

// exchange exchanges a proof of an AWS identity for a session.
func (t *target) exchange(ctx context.Context, by *http.Client, proof awsproof.Proof) (_ answer, err error) {
	defer must.Catch(&err)
	raw := must.Get(json.Marshal(v1.AWSProof{URL: proof.URL, Headers: proof.Headers}))
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, t.PrivateURL()+"/api/v1/auth/aws", bytes.NewReader(raw)))
	r.Header.Set("Content-Type", "application/json")
	return send(by, r)
}
