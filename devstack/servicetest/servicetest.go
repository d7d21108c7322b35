// Package servicetest gives tests what an application service needs: a store on a real database, a catalogue, a bucket, and a way to
// see what an act changed and to restore it. A Fixture has all of it and every application service, with a stand-in for GitHub; tests
// of an entry point bring their own service.
package servicetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Limits are short ones.
func Limits() lifecycle.Limits {
	return lifecycle.Limits{
		LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second, RetryBase: time.Second, RetryMax: time.Hour,
		BlockAfter: 3, VerifyGap: time.Second, WarnBefore: time.Minute,
	}
}

// Store returns a store on a database; pgtest.New creates one for the test.
func Store(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, db.Options{Limits: Limits(), Lease: time.Minute, Installation: "test"})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// Issuer returns a token issuer that runs until the test ends.
func Issuer(t testing.TB) *oidc.Issuer {
	t.Helper()
	issuer, err := oidc.Start(t.Context(), oidc.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, issuer.Stop()) })
	return issuer
}

// IBMOff is why the profiles of IBM Cloud cannot be used, as long as it is not switched on.
const IBMOff = "IBM Cloud is off here"

// Catalogue returns the program's own catalogue with files added or replaced, by path. As in a server that is not told otherwise, IBM Cloud
// is off.
func Catalogue(t testing.TB, more map[string]string) catalogue.Catalogue {
	t.Helper()
	terms := EveryCloud(t, more)
	terms.Catalogue = terms.Without(map[string]string{"ibmcloud": IBMOff})
	return terms
}

// EveryCloud is Catalogue where every cloud is on.
func EveryCloud(t testing.TB, more map[string]string) catalogue.Catalogue {
	t.Helper()
	files := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(profiles.EmbeddedFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(profiles.EmbeddedFiles(), path)
		files[path] = &fstest.MapFile{Data: body}
		return err
	}))
	for path, body := range more {
		files[path] = &fstest.MapFile{Data: []byte(body)}
	}
	terms, err := catalogue.Load(files)
	require.NoError(t, err)
	return terms
}

// Shelf is the bucket of one test: the content for each reference.
type Shelf map[string]string

// Read returns the content for a reference.
func (s Shelf) Read(_ context.Context, ref string) ([]byte, error) {
	if body, ok := s[ref]; ok {
		return []byte(body), nil
	}
	return nil, errors.New("no such object")
}

// Stream passes the content for the snapshot's key to use.
func (s Shelf) Stream(_ context.Context, one artifacts.Snapshot, use func(io.Reader) error) (err error) {
	defer must.Catch(&err)
	body, ok := s[one.Key]
	must.EndIf(!ok, artifacts.ErrMissing)
	must.Do(use(strings.NewReader(body)))
	sum := sha256.Sum256([]byte(body))
	must.EndIf(hex.EncodeToString(sum[:]) != one.SHA256, artifacts.ErrCorrupt)
	return nil
}

// StoreLogBundle stores one of the installer's log archives in the way that a runner reports it.
func StoreLogBundle(t testing.TB, s *store.Store, shelf Shelf, cluster, attempt string, number int, at time.Time, file, content string) {
	t.Helper()
	key, sum := artifacts.LogBundleKey(cluster, number, at, file), sha256.Sum256([]byte(content))
	shelf[key] = content
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO artifacts (cluster_id, attempt_id, artifact_type, s3_key, manifest_key, checksum, size, infra_id, taken_at, created_at)
		VALUES ($1, $2, 'LOG', $3, '', $4, $5, 'shop-00001', $6, $6)`, cluster, attempt, key, hex.EncodeToString(sum[:]), len(content), at)
	require.NoError(t, err)
}

// The secrets of every cluster that Ready prepared: its admin's key, and kubeadmin's password.
const (
	ClientKey = "Y2xpZW50LWtleS1vZi1hLXRlc3Q="
	Password  = "AbCdE-12345-fGhIj-67890"
)

// StoredAt is when the credentials of every cluster that Ready prepared were stored.
var StoredAt = time.Date(2025, 3, 1, 11, 0, 0, 0, time.UTC)

// CredentialRef is the reference to one of a cluster's credentials, stored by its first attempt: artifacts.Kubeconfig or
// artifacts.Kubeadmin.
func CredentialRef(cluster, name string) string {
	return artifacts.CredentialRef("artifacts", cluster, 1, StoredAt, name)
}

// Kubeconfig returns a kubeconfig as openshift-install writes it, for an API with this URL.
func Kubeconfig(apiURL string) string {
	return "apiVersion: v1\nkind: Config\nclusters:\n- name: shop\n  cluster: {server: '" + apiURL + "'}\n" +
		"users:\n- name: admin\n  user: {client-key-data: " + ClientKey + "}\n"
}

// Ready makes a cluster usable without an install: it simulates the install and its results, with the kubeconfigs that were asked for.
func Ready(t testing.TB, s *store.Store, shelf Shelf, row clusters.Row) {
	t.Helper()
	kubeconfig, password := CredentialRef(row.ID, artifacts.Kubeconfig), CredentialRef(row.ID, artifacts.Kubeadmin)
	domain := row.Name + "." + row.BaseDomain
	shelf[kubeconfig], shelf[password] = Kubeconfig("https://api."+domain+":6443"), Password+"\n"
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'READY', phase = 'ready', ready_at = now(), why = '{"words": "the install succeeded"}' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `INSERT INTO cluster_outputs VALUES ($1, $2, $3, $4, $5, '')`, row.ID, "https://api."+domain+":6443",
		"https://console-openshift-console.apps."+domain, kubeconfig, password)
	require.NoError(t, err)
	Mint(t, s, shelf)
}

// Issue gives identities the addresses of a test's issuers, in place of those that its catalogue names.
func Issue(terms catalogue.Catalogue, issuers map[string]string) {
	for i, identity := range terms.Identities {
		if address, named := issuers[identity.Issuer]; named {
			terms.Identities[i].Issuer = address
		}
	}
}
