package connect

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// Options is what a connection needs besides its context.
type Options struct {
	Env     func(string) string
	Now     func() time.Time
	Stderr  io.Writer                                        // for the error output of a token command
	Trace   func(format string, args ...any)                 // called for each request; nil: not called
	Sleep   func(ctx context.Context, d time.Duration) error // nil: the real one
	Version string                                           // for the User-Agent
}

// API is a server with our authentication.
type API struct {
	*client.Client
	Context  Context
	discover func(context.Context) (Release, error)
}

// Open prepares a connection; nothing is sent yet.
func Open(c Context, o Options) (*API, error) {
	wire, err := newTransport(c.CAFile)
	if err != nil {
		return nil, err
	}
	plain := &http.Client{Transport: wire, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	anonymous := &retrier{plain, nil, o}
	asks := &discoverer{server: c.Server, send: anonymous}
	keep := &keeper{now: o.Now}
	switch c.Auth {
	case given:
		// Whoever set the variable may not have chosen the server, so that no other setting can allow a token for another one.
		keep.get = checkAudience(c.Server, "", fromEnvironment(o.Env))
	case TokenFile:
		keep.get = checkAudience(c.Server, c.Audience, fromFile(c.TokenFile))
	case TokenCommand:
		keep.get = checkAudience(c.Server, c.Audience, fromCommand(c.TokenCommand, o.Stderr))
	case GitHub:
		keep.get = fromGitHub(c.proofAudience(), o.Env, anonymous)
	case Browser:
		signIn, err := NewBrowserSignIn(c, o)
		if err != nil {
			return nil, err
		}
		keep.get = fromBrowser(signIn)
	case AWS:
		keep.get = fromAWS(c, client.New(c.Server, anonymous.Do))
	default:
		return nil, exit.With(exit.Usage, &exit.Problem{Title: "The context does not set how to sign in.", Fields: []exit.Field{
			{Name: "auth", Detail: fmt.Sprintf("%q is not a sign-in method.", c.Auth), Accepted: Methods()},
		}})
	}
	known := &retrier{plain, keep, o}
	return &API{Client: client.New(c.Server, known.Do), Context: c, discover: asks.getRelease}, nil
}

// proofAudience returns the server for which a proof is made. The server is not asked, because an impostor could pass the proof on to the
// server that it names.
func (c Context) proofAudience() string { return cmp.Or(c.Audience, c.Server) }

// newTransport is HTTP's own with time limits, for a server that accepts a connection and never responds.
func newTransport(caFile string) (*http.Transport, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute,
	}
	if caFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the CA file %s: it contains no certificate", caFile)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// Sleep waits, and returns early with the error of ctx if that ends.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
