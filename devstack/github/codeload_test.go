package github

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnArchiveHasTheFilesOfItsRef(t *testing.T) {
	s := start(t, Config{})
	require.NoError(t, s.Commit("which", "main"))
	require.NoError(t, s.Commit("tests/run.sh", "#!/bin/sh\n"))
	require.NoError(t, s.PushFile(41, "which", "pull request", "will"))
	pr, _ := s.PullRequest(41)
	for ref, want := range map[string]string{"main": "main", "refs/heads/main": "main", pr.HeadSHA: "pull request", pr.HeadRef: "pull request"} {
		resp, err := http.Get(s.URL() + codeloadPath + "acme/shop/tar.gz/" + ref)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode, ref)
		files, modes := unpacked(t, resp.Body)
		require.Equal(t, want, files["which"], ref)
		if want == "main" {
			require.Equal(t, map[string]int64{"which": 0o644, "tests/run.sh": 0o755}, map[string]int64{"which": modes["which"], "tests/run.sh": modes["tests/run.sh"]})
		}
	}
	for _, path := range []string{"acme/shop/tar.gz/nowhere", "acme/nothing/tar.gz/main", "acme/ledger/tar.gz/main"} {
		resp, err := http.Get(s.URL() + codeloadPath + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusNotFound, resp.StatusCode, path)
	}
}

// unpacked returns the contents and modes of an archive's files, without its one folder.
func unpacked(t *testing.T, from io.Reader) (files map[string]string, modes map[string]int64) {
	t.Helper()
	zipped, err := gzip.NewReader(from)
	require.NoError(t, err)
	files, modes = map[string]string{}, map[string]int64{}
	for in := tar.NewReader(zipped); ; {
		header, err := in.Next()
		if err == io.EOF {
			return files, modes
		}
		require.NoError(t, err)
		raw, err := io.ReadAll(in)
		require.NoError(t, err)
		_, path, _ := strings.Cut(header.Name, "/")
		files[path], modes[path] = string(raw), header.Mode
	}
}
