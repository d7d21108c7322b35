// Package scripts_test runs what workflows/tekton, workflows/gitlab and workflows/jenkins give to pipelines: their scripts in a shell, with
// the real ocpctl, against the real API on a database. Only the cluster is not installed: a test says what becomes of it.
package scripts_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// bin has ocpctl, built once for all tests.
var bin string

func TestMain(m *testing.M) {
	os.Exit(binaries.With(m.Run, &bin, "cmd/ocpctl"))
}

// become says what becomes of a cluster as soon as it is accepted.
type become string

const (
	ready   become = "ready"
	failed  become = "failed"
	pending become = "pending"
)

// office is a server with an issuer of pipelines' tokens.
type office struct {
	*testing.T
	url     string
	ca      []byte
	issuer  *oidc.Issuer
	store   *store.Store
	shelf   servicetest.Shelf
	becomes become

	mu      sync.Mutex
	asked   []string // methods and paths of the API's requests
	onAsked func(*http.Request)
	refuses func(*http.Request) int // the status of a refusal; 0: the API answers
	tokens  []string                // that were issued
}

func newOffice(t *testing.T, platform profiles.IssuerPlatform, match string) *office {
	t.Helper()
	o := &office{T: t, issuer: servicetest.Issuer(t), store: servicetest.Store(t, pgtest.New(t)), shelf: servicetest.Shelf{}, becomes: ready}
	var handler http.Handler
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked = append(o.asked, r.Method+" "+r.URL.Path)
		o.mu.Unlock()
		if o.onAsked != nil {
			o.onAsked(r)
		}
		if o.refuses != nil {
			if status := o.refuses(r); status != 0 {
				w.WriteHeader(status)
				return
			}
		}
		handler.ServeHTTP(w, r)
		if r.Method == http.MethodPost && r.URL.Path == "/api/v1/clusters" {
			o.settle()
		}
	}))
	t.Cleanup(server.Close)
	o.url, o.ca = server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	terms := servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml":       "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"identities/pipelines.yaml": fmt.Sprintf("identities:\n  - {name: pipelines, source: oidc, issuer: %q, match: %s, role: requester, teams: [platform]}\n", o.issuer.URL(), match),
	})
	cfg := app.Config{
		Store: o.store, Artifacts: o.shelf, Catalogue: func() catalogue.Catalogue { return terms }, UI: o.url, Policy: policy.Settings{Installation: "test"},
		Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"}, Tekton: []string{o.issuer.URL()},
	}
	core := app.New(cfg)
	handler = api.New(api.Config{
		Store: o.store, Pace: api.NewPace(api.Rate{PerSecond: -1}, nil), UI: o.url, App: core, Admin: admin.New(core, cfg), Credentials: credentials.New(core, cfg),
		Auth: auth.New(auth.Config{
			Issuers:    []auth.Issuer{{URL: o.issuer.URL(), Audience: o.url, Platform: platform}},
			Identities: func() []profiles.Identity { return terms.Identities },
		}),
	})
	return o
}

// requests are the methods and paths of the API's requests so far.
func (o *office) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

// settle makes every new cluster what it is to become.
func (o *office) settle() {
	for _, row := range o.clusters() {
		if row.Status != lifecycle.Pending || row.Desired == lifecycle.Absent {
			continue
		}
		switch o.becomes {
		case ready:
			servicetest.Ready(o, o.store, o.shelf, row)
		case failed:
			_, err := o.store.Pool().Exec(o.Context(), `UPDATE clusters SET status = 'FAILED', phase = 'create_failed', desired = 'absent',
				desired_why = '{"code":"install_failed","words":"the VPC limit is reached"}', teardown = 'DESTROY' WHERE id = $1`, row.ID)
			require.NoError(o, err)
		}
	}
}

// clusters are all clusters, the newest first.
func (o *office) clusters() []clusters.Row {
	o.Helper()
	list, _, err := o.store.List(o.Context(), store.Filter{})
	require.NoError(o, err)
	return list
}

// only is the only cluster.
func (o *office) only() clusters.Row {
	o.Helper()
	list := o.clusters()
	require.Len(o, list, 1)
	return list[0]
}

// token returns a token for an audience with these claims.
func (o *office) token(audience, subject string, claims map[string]any) (string, error) {
	raw, err := o.issuer.Token(oidc.Claims{Audience: jwt.Audience{audience}, Subject: subject, More: claims})
	o.tokens = append(o.tokens, raw)
	return raw, err
}

// image is a directory with ocpctl and the named programs, and nothing else: a PATH as in an image that has no more than a script needs.
func (o *office) image(programs ...string) string {
	o.Helper()
	dir := o.TempDir()
	require.NoError(o, os.Symlink(filepath.Join(bin, "ocpctl"), filepath.Join(dir, "ocpctl")))
	for _, name := range programs {
		path, err := exec.LookPath(name)
		require.NoError(o, err)
		require.NoError(o, os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

// program writes a shell script into an image.
func (o *office) program(image, name, script string) {
	o.Helper()
	require.NoError(o, os.WriteFile(filepath.Join(image, name), []byte("#!/bin/sh\n"+script), 0o700))
}

// holdsNoSecret fails if a text has a token or what opens the cluster.
func (o *office) holdsNoSecret(texts ...string) {
	o.Helper()
	for _, text := range texts {
		for _, secret := range append(o.tokens, servicetest.ClientKey, servicetest.Password, servicetest.TokenSignature) {
			require.NotContains(o, text, secret)
		}
	}
}
