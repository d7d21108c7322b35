package artifacts_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// written is one PutObject as it went over the wire.
type written struct {
	key    string
	header http.Header
	body   []byte
}

// recording is an S3 that keeps what it is asked to write before it hands it on. The stand-in behind it ignores encryption
// headers, so they are looked at here.
type recording struct {
	mu   sync.Mutex
	puts []written
}

func record(t *testing.T) *recording {
	t.Helper()
	s3test.Setenv(t)
	target, err := url.Parse(s3test.Shared(t).URL())
	require.NoError(t, err)
	r := &recording{}
	onward := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host = target.Scheme, target.Host // the Host header stays: it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodPut {
			body, _ := io.ReadAll(request.Body)
			request.Body = io.NopCloser(bytes.NewReader(body))
			_, key, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/")
			r.mu.Lock()
			r.puts = append(r.puts, written{key, request.Header.Clone(), body})
			r.mu.Unlock()
		}
		onward.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	return r
}

func TestEveryWriteIsConditionalCheckedAndEncryptedWithItsKey(t *testing.T) {
	r := record(t)
	s, err := artifacts.New(t.Context(), artifacts.Config{Bucket: s3test.Bucket(t), KMSKey: "key-of-archives", OperateKMSKey: "key-of-secrets"})
	require.NoError(t, err)
	dir, at := installDir(t), time.Date(2026, 2, 27, 10, 0, 0, 0, time.UTC)
	for _, kind := range []artifacts.Type{artifacts.Destroy, artifacts.Operate} {
		b := destroyBundle(dir)
		b.Type = kind
		_, err := s.Save(t.Context(), b)
		require.NoError(t, err)
	}
	_, err = s.Keep(t.Context(), artifacts.Log, artifacts.LogBundleKey("c", 1, at, "log-bundle-1.tar.gz"), filepath.Join(dir, "bootstrap.ign"))
	require.NoError(t, err)
	for _, key := range []string{
		artifacts.CredentialKey("c", 1, at, "kubeconfig"), artifacts.MetadataKey("c", 1, at), artifacts.LogKey("c", "create", 1, at), artifacts.SpoolKey("att_1", 1, "result"),
	} {
		_, err := s.PutOnce(t.Context(), key, []byte("content of "+key))
		require.NoError(t, err)
	}

	byPrefix := map[string]int{}
	for _, put := range r.puts {
		prefix, _, _ := strings.Cut(put.key, "/")
		byPrefix[prefix]++
		want := map[string]string{"operate": "key-of-secrets", "clusters": "key-of-archives", "spool": "key-of-archives"}[prefix]
		require.Equal(t, "aws:kms", put.header.Get("X-Amz-Server-Side-Encryption"), put.key)
		require.Equal(t, want, put.header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"), put.key)
		require.Equal(t, "*", put.header.Get("If-None-Match"), put.key)
		sum := sha256.Sum256(put.body)
		require.Equal(t, base64.StdEncoding.EncodeToString(sum[:]), put.header.Get("X-Amz-Checksum-Sha256"), put.key)
	}
	require.Equal(t, map[string]int{"operate": 4, "clusters": 4, "spool": 1}, byPrefix, "archives with their manifests, and the rest")
}

func TestWithoutAKeyTheBucketsOwnEncryptionApplies(t *testing.T) {
	r := record(t)
	s, err := artifacts.New(t.Context(), artifacts.Config{Bucket: s3test.Bucket(t)})
	require.NoError(t, err)
	_, err = s.PutOnce(t.Context(), "clusters/c/x", []byte("a"))
	require.NoError(t, err)
	require.Len(t, r.puts, 1)
	require.Empty(t, r.puts[0].header.Get("X-Amz-Server-Side-Encryption"))
	require.Equal(t, "*", r.puts[0].header.Get("If-None-Match"))
}

// secrets are what an install directory is full of, one in every file that has any.
var secrets = map[string]string{
	"auth/kubeconfig": "CANARY-client-key", "auth/kubeadmin-password": "CANARY-kubeadmin", ".openshift_install_state.json": "CANARY-pull-secret",
	".openshift_install.log": "CANARY-signed-url", ".clusterapi_output/Secret-ns-master.yaml": "CANARY-ignition", "terraform.tfvars.json": "CANARY-tfvars",
	"terraform.platform.auto.tfvars.json": "CANARY-api-key", "bootstrap.ign": "CANARY-ca-key", "openshift/99_cloud-creds-secret.yaml": "CANARY-cloud-key",
	"tls/journal-gatewayd.key": "CANARY-journal-key", "tls/bound-service-account-signing-key.key": "CANARY-signer", "manifests/a-credentials.yaml": "CANARY-role",
	"log-bundle-1.tar.gz": "CANARY-bundle", ".clusterapi_output/envtest.kubeconfig": "CANARY-envtest", "cluster-api/Secret.yaml": "CANARY-bootstrap-data",
}

func TestASecretIsInTheOperateBundleOrInNone(t *testing.T) {
	dir := installDir(t)
	for name, secret := range secrets {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte("secret: "+secret), 0o640))
	}
	s, client, bucket := newStore(t)
	unpacked := map[artifacts.Type]string{}
	for _, kind := range []artifacts.Type{artifacts.Destroy, artifacts.Operate} {
		b := destroyBundle(dir)
		b.Type = kind
		saved, err := s.Save(t.Context(), b)
		require.NoError(t, err)
		unpacked[kind] = unpack(t, read(t, client, bucket, saved.Key)) + string(read(t, client, bucket, saved.ManifestKey))
	}
	require.Contains(t, unpacked[artifacts.Destroy], "content of metadata.json")
	require.NotContains(t, unpacked[artifacts.Destroy], "CANARY", "nor any other secret")
	var kept []string
	for name, secret := range secrets {
		if strings.Contains(unpacked[artifacts.Operate], secret) {
			kept = append(kept, name)
		}
	}
	require.ElementsMatch(t, []string{"auth/kubeconfig", "auth/kubeadmin-password", ".openshift_install_state.json"}, kept, "what operating a cluster needs, and no more")
}

// unpack returns the content of every file of an archive.
func unpack(t *testing.T, raw []byte) string {
	t.Helper()
	decoder, err := zstd.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	defer decoder.Close()
	var all strings.Builder
	for archive := tar.NewReader(decoder); ; {
		_, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		require.NoError(t, err)
		_, err = io.Copy(&all, archive)
		require.NoError(t, err)
	}
}

func TestAFileIsKeptOnceHoweverOftenItIsTried(t *testing.T) {
	s, client, bucket := newStore(t)
	path := filepath.Join(t.TempDir(), "log-bundle-1.tar.gz")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("journal "), 1<<17), 0o600))
	first, err := s.Keep(t.Context(), artifacts.Log, "operate/clusters/c/x/log-bundle-1.tar.gz", path)
	require.NoError(t, err)
	require.Equal(t, artifacts.Log, first.Type)
	require.Equal(t, int64(1<<20), first.Size)
	require.Len(t, read(t, client, bucket, first.Key), 1<<20)
	again, err := s.Keep(t.Context(), artifacts.Log, first.Key, path)
	require.NoError(t, err, "the first answer may have been lost")
	require.Equal(t, first.SHA256, again.SHA256)

	require.NoError(t, os.WriteFile(path, []byte("something else"), 0o600))
	_, err = s.Keep(t.Context(), artifacts.Log, first.Key, path)
	require.ErrorIs(t, err, artifacts.ErrExists)
	_, err = s.Keep(t.Context(), artifacts.Log, "operate/y", filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
