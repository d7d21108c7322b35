package aws_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud/aws"
)

// filterKeys finds the tag keys that a request filters by: EC2's tag:… filters, and the tagging API's TagFilters.
var filterKeys = []*regexp.Regexp{
	regexp.MustCompile(`Filter\.\d+\.Name=tag:([^&]+)`),
	regexp.MustCompile(`\{"Key":"([^"]+)","Values"`),
}

// listen puts a listener between this test's clients and the cloud, and returns the tag keys they filtered by.
func (s *scene) listen(t *testing.T) (asked func() []string) {
	t.Helper()
	target, err := url.Parse(s.AWS.URL())
	require.NoError(t, err)
	var mu sync.Mutex
	var keys []string
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		text := string(body)
		if unescaped, err := url.QueryUnescape(text); err == nil && strings.Contains(r.Header.Get("Content-Type"), "form") {
			text = unescaped
		}
		mu.Lock()
		for _, form := range filterKeys {
			for _, found := range form.FindAllStringSubmatch(text, -1) {
				keys = append(keys, found[1])
			}
		}
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	s.client, err = aws.New(t.Context(), s.target.Region)
	require.NoError(t, err)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(keys)
		return slices.Compact(keys)
	}
}

// Whoever may choose a key that a teardown looks for decides what that teardown deletes.
func TestEveryTagKeyThatATeardownLooksForIsReserved(t *testing.T) {
	s := newScene(t, "keys", "us-east-2")
	asked := s.listen(t)
	s.render(t)
	require.NoError(t, installer.WriteFaults(s.Faults, installer.Faults{"create": {Leak: []string{installer.LeakImage}, Times: 1}}))
	s.Must(t, s.dir, "create cluster")
	s.target.Identities[0].CCOName = "keys-b2c3d4e5f6"
	_, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	s.Must(t, s.dir, "destroy cluster")
	gone := s.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", "keys-b2c3d4e5f6", "--region", s.target.Region)
	require.Zero(t, gone.Code, gone.Stderr)
	_, err = s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	s.client.Verify(t.Context(), s.target)

	infraID, keys := s.target.Identities[0].InfraID, asked()
	for _, want := range []string{
		tagkey.KubernetesCluster + infraID, tagkey.ProviderCluster + infraID, tagkey.OpenShiftClusterID, tagkey.ClusterID, tagkey.Name,
		tagkey.CloudCredential + "keys-b2c3d4e5f6",
	} {
		require.Contains(t, keys, want, "the count and the teardown look for it")
	}
	for _, key := range keys {
		require.True(t, tagkey.Reserved(key), "%s steers a teardown and is not reserved", key)
	}
}

// The count spells its keys itself (see package count). This comparison notices when the two spellings part.
func TestTheCountAndTheListSpellKeysAlike(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("count", "ownership.go"))
	require.NoError(t, err)
	for _, key := range []string{tagkey.ClusterID, tagkey.KubernetesCluster, tagkey.ProviderCluster, tagkey.CloudCredential, tagkey.Owned} {
		require.Contains(t, string(raw), `= "`+key+`"`)
	}
}
