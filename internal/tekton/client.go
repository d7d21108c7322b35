// Package tekton asks Kubernetes clusters how PipelineRuns of Tekton stand.
//
// It changes nothing there. It must never take an error for an answer: a PipelineRun counts as gone only if the API itself says that this object is
// not there, or that another one has its name.
package tekton

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// The answers that are not a PipelineRun.
var (
	// ErrNotFound says that the API answered and that the PipelineRun is not there.
	ErrNotFound = errors.New("the PipelineRun is not there")
	// ErrForbidden says that the API accepts neither the token nor the question.
	ErrForbidden = errors.New("the Kubernetes API refuses to answer")
	// ErrNoTekton says that the API knows no PipelineRuns at all.
	ErrNoTekton = errors.New("the Kubernetes API knows no PipelineRuns (tekton.dev/v1)")
	// ErrUnknownCluster says that no cluster is configured for an issuer.
	ErrUnknownCluster = errors.New("no Kubernetes API is configured for the issuer")
)

// Cluster is a Kubernetes cluster whose PipelineRuns can be asked about.
type Cluster struct {
	Issuer string // of the tokens of its service accounts
	API    string // base URL of its API
	CAFile string // CA certificates for it; empty: the machine's
	// Token returns the token of a service account there, which may get PipelineRuns. It is called again and again: tokens expire.
	Token func(ctx context.Context) (secret.Text, error)
}

// Client asks clusters. It is safe for concurrent use. The zero value and nil know no cluster.
type Client struct {
	clusters map[string]*cluster // by issuer
}

type cluster struct {
	Cluster
	http *http.Client

	mu      sync.Mutex
	token   secret.Text
	fetched time.Time
}

const (
	patience   = 15 * time.Second // of one request
	mostAnswer = 8 << 20          // etcd's limit of an object is below it
	tokenAge   = time.Minute      // after which a token is fetched anew
)

// New returns a client of clusters. It asks none yet.
func New(clusters []Cluster) (*Client, error) {
	c := &Client{clusters: map[string]*cluster{}}
	for _, one := range clusters {
		transport, err := transportFor(one.CAFile)
		if err != nil {
			return nil, fmt.Errorf("prepare to ask the Kubernetes API %s: %w", one.API, err)
		}
		c.clusters[one.Issuer] = &cluster{Cluster: one, http: &http.Client{
			Transport: transport, Timeout: patience,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a token goes nowhere else
		}}
	}
	return c, nil
}

func transportFor(caFile string) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if caFile == "" {
		return transport, nil
	}
	raw, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s contains no certificate (PEM)", caFile)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// Knows reports whether the PipelineRuns of an issuer's cluster can be asked about.
func (c *Client) Knows(issuer string) bool {
	return c != nil && c.clusters[issuer] != nil
}

// PipelineRun returns how a PipelineRun stands, or one of this package's errors, or another one if there was no answer.
func (c *Client) PipelineRun(ctx context.Context, issuer, namespace, name, uid string) (State, error) {
	if !c.Knows(issuer) {
		return State{}, fmt.Errorf("%w %s", ErrUnknownCluster, issuer)
	}
	doing := fmt.Sprintf("ask for the PipelineRun %s/%s", namespace, name)
	at := c.clusters[issuer]
	run, err := at.getPipelineRun(ctx, namespace, name)
	switch {
	case err != nil:
		return State{}, fmt.Errorf("%s: %w", doing, err)
	case run.Metadata.UID == "":
		return State{}, fmt.Errorf("%s: %s answered without its uid", doing, at.API)
	case run.Metadata.UID != uid:
		return State{}, fmt.Errorf("%s: %w: the one of that name has the uid %s", doing, ErrNotFound, run.Metadata.UID)
	}
	return run.stateOf(), nil
}

// getPipelineRun reads a PipelineRun by its name. A token that is refused is fetched anew once.
func (at *cluster) getPipelineRun(ctx context.Context, namespace, name string) (run pipelineRun, err error) {
	code, body, err := at.askCluster(ctx, namespace, name, false)
	if err == nil && code == http.StatusUnauthorized {
		code, body, err = at.askCluster(ctx, namespace, name, true)
	}
	if err == nil {
		err = judgeResponse(code, body, name)
	}
	if err == nil {
		err = json.Unmarshal(body, &run)
	}
	if err == nil && run.Kind != "PipelineRun" {
		err = fmt.Errorf("the answer is of kind %.50q", run.Kind)
	}
	return run, err
}

func (at *cluster) askCluster(ctx context.Context, namespace, name string, again bool) (status int, body []byte, err error) {
	return at.sendRequest(ctx, http.MethodGet, "/apis/tekton.dev/v1/namespaces/"+url.PathEscape(namespace)+"/pipelineruns/"+url.PathEscape(name), nil, again)
}

// sendRequest sends a request with the token, which is fetched anew with again.
func (at *cluster) sendRequest(ctx context.Context, method, path string, content []byte, again bool) (status int, body []byte, err error) {
	token, err := at.bearerToken(ctx, again)
	if err != nil {
		return 0, nil, fmt.Errorf("get the token for %s: %w", at.API, err)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(at.API, "/")+path, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	r.Header.Set("Accept", "application/json")
	res, err := at.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	return res.StatusCode, body, err
}

// bearerToken returns the token, not older than a minute, and fresh with again.
func (at *cluster) bearerToken(ctx context.Context, again bool) (secret.Text, error) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if !again && !at.token.Empty() && time.Since(at.fetched) < tokenAge {
		return at.token, nil
	}
	token, err := at.Token(ctx)
	if err != nil {
		return secret.Text{}, err
	}
	if token.Empty() {
		return secret.Text{}, errors.New("it is empty")
	}
	at.token, at.fetched = token, time.Now()
	return token, nil
}
