package devstack_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// in is the same stack for a part of a test.
func (l *life) in(t testing.TB) *life {
	return &life{Stack: l.Stack, t: t, ctx: l.ctx, pool: l.pool}
}

// visitor is somebody at the API.
type visitor struct {
	*life
	bearer string
}

// as is whoever has one of the issuer's tokens.
func (l *life) as(who string) visitor {
	l.t.Helper()
	token, err := l.Token(who)
	require.NoError(l.t, err)
	return visitor{l, token}
}

// byAWS is a program that proves who it is by a signed question to STS: the demo's ocpctl-cli.
func (l *life) byAWS() visitor {
	l.t.Helper()
	proof := l.proof()
	answer := ask[v1.SessionToken](visitor{life: l}, http.MethodPost, "/api/v1/auth/aws", v1.AWSProof{URL: proof.URL, Headers: proof.Headers}, http.StatusOK)
	require.WithinDuration(l.t, time.Now().Add(15*time.Minute), answer.ExpiresAt, time.Minute)
	require.Equal(l.t, "aws:"+devstack.CLIUser, answer.Me.ID)
	return visitor{l, answer.Token}
}

// proof signs the question and does not ask it.
func (l *life) proof() awsproof.Proof {
	l.t.Helper()
	proof, err := awsproof.Sign(l.ctx, awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String(l.AWS.URL()), Credentials: credentials.NewStaticCredentialsProvider(devstack.CLIKey, devstack.CLISecret, ""),
	}, l.PrivateURL())
	require.NoError(l.t, err)
	return proof
}

// send asks the API; headers are names and values in turn. Several chapters of one test share a principal, so an answer that there are
// too many requests is obeyed, as a client has to.
func (v visitor) send(method, path string, body any, headers ...string) (*http.Response, []byte) {
	v.t.Helper()
	for {
		answer, raw, err := v.try(v.PrivateURL(), method, path, body, headers...)
		require.NoError(v.t, err)
		if answer.StatusCode != http.StatusTooManyRequests {
			return answer, raw
		}
		wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		require.NoError(v.t, err)
		select {
		case <-v.ctx.Done():
			require.NoError(v.t, v.ctx.Err())
		case <-time.After(time.Duration(wait) * time.Second):
		}
	}
}

// try is send to a server that may not answer.
func (v visitor) try(server, method, path string, body any, headers ...string) (*http.Response, []byte, error) {
	v.t.Helper()
	var sent io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(v.t, err)
		sent = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(v.ctx, method, server+path, sent)
	require.NoError(v.t, err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if v.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+v.bearer)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer, raw, err
}

// ask expects an answer of one status and kind.
func ask[T any](v visitor, method, path string, body any, want int, headers ...string) (out T) {
	v.t.Helper()
	answer, raw := v.send(method, path, body, headers...)
	require.Equal(v.t, want, answer.StatusCode, "%s %s: %s", method, path, raw)
	require.NoError(v.t, json.Unmarshal(raw, &out), "%s", raw)
	return out
}

// refused expects to be told why not, and what to do.
func (v visitor) refused(method, path string, body any, want int, headers ...string) v1.Problem {
	v.t.Helper()
	answer, raw := v.send(method, path, body, headers...)
	require.Equal(v.t, want, answer.StatusCode, "%s %s: %s", method, path, raw)
	require.Equal(v.t, "application/problem+json", answer.Header.Get("Content-Type"))
	var p v1.Problem
	require.NoError(v.t, json.Unmarshal(raw, &p))
	require.NotEmpty(v.t, p.Detail)
	return p
}

// create asks for a cluster that is accepted.
func (v visitor) create(r any, key string) v1.Accepted {
	v.t.Helper()
	return ask[v1.Accepted](v, http.MethodPost, "/api/v1/clusters", r, http.StatusAccepted, "Idempotency-Key", key)
}

func (v visitor) cluster(ref string) v1.ClusterDetail {
	v.t.Helper()
	return ask[v1.ClusterDetail](v, http.MethodGet, "/api/v1/clusters/"+ref, nil, http.StatusOK)
}

// until asks again until a cluster is as it should be.
func (v visitor) until(ref, what string, cond func(v1.ClusterDetail) bool) (c v1.ClusterDetail) {
	v.t.Helper()
	v.askUntil(ref+" is "+what, time.Minute, polite, func() bool { c = v.cluster(ref); return cond(c) })
	return c
}

// polite is how often one may ask the API for several things: it takes twenty requests a second of one principal.
const polite = 100 * time.Millisecond

func isReady(c v1.ClusterDetail) bool { return c.Status == v1.READY }
func isGone(c v1.ClusterDetail) bool  { return c.Phase == "released" }

// browser is somebody at the pages.
type browser struct {
	*life
	*http.Client
}

// signIn is one of the demo's people with a browser.
func (l *life) signIn(login string) browser {
	l.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(l.t, err)
	b := browser{l, &http.Client{Jar: jar, Timeout: time.Minute}}
	require.NoError(l.t, saml.SignIn(l.ctx, b.Client, l.PrivateURL(), login, "demo-"+login, "/"))
	return b
}

// visit opens a page, or posts a form, and answers where it led and what is shown there.
func (b browser) visit(path string, form url.Values) (status int, at, page string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.PagesURL()+path, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(b.ctx, http.MethodPost, b.PagesURL()+path, strings.NewReader(form.Encode()))
	}
	require.NoError(b.t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	answer, err := b.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	return answer.StatusCode, answer.Request.URL.Path, string(raw)
}
