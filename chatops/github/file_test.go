package github

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	fileRoute = "GET /repos/acme/shop/contents/.github/ocpctl.yaml"
	filePath  = ".github/ocpctl.yaml"
)

func blob(text string) map[string]any {
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	var lines strings.Builder
	for i := 0; i < len(encoded); i += 60 { // as GitHub breaks them
		lines.WriteString(encoded[i:min(i+60, len(encoded))] + "\n")
	}
	return map[string]any{"type": "file", "encoding": "base64", "size": len(text), "content": lines.String(), "sha": "b10b"}
}

func TestAFileIsReadAtARefAndOnceWhileItStays(t *testing.T) {
	text, etag := "default: aws-standard\n", `W/"one"`
	refs, full := []string(nil), 0
	a := answering(t, "", routes{fileRoute: func(w http.ResponseWriter, r *http.Request) {
		refs = append(refs, r.URL.Query().Get("ref"))
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full++
		w.Header().Set("ETag", etag)
		say(w, 200, blob(text))
	}})
	c := speaking(t, a.URL, nil)
	for range 3 {
		got, err := c.File(t.Context(), 7, shop, filePath, "release/4.18 & more")
		require.NoError(t, err)
		require.Equal(t, File{Raw: []byte(text), SHA: "b10b"}, got)
	}
	require.Equal(t, 1, full)
	require.Equal(t, []string{"release/4.18 & more", "release/4.18 & more", "release/4.18 & more"}, refs)

	text, etag = strings.Repeat("x", 50_000), `W/"two"`
	got, err := c.File(t.Context(), 7, shop, filePath, "release/4.18 & more")
	require.NoError(t, err)
	require.Equal(t, text, string(got.Raw))

	for _, other := range []func() (File, error){
		func() (File, error) { return c.File(t.Context(), 8, shop, filePath, "release/4.18 & more") },
		func() (File, error) { return c.File(t.Context(), 7, shop, filePath, "main") },
	} {
		before := full
		_, err = other()
		require.NoError(t, err)
		require.Equal(t, before+1, full, "what one installation saw at one ref is not another's")
	}
}

func TestWhatIsNoFileIsToldInWords(t *testing.T) {
	link := "https://git.example.com/x.git"
	for want, answer := range map[string]any{
		"it is a directory":          []any{map[string]any{"type": "file", "name": "a"}},
		"it is a submodule":          map[string]any{"type": "submodule", "submodule_git_url": link},
		`symbolic link to "/etc/pw"`: map[string]any{"type": "symlink", "target": "/etc/pw"},
		"it is larger than 64 KiB":   map[string]any{"type": "file", "encoding": "none", "size": 5 << 20, "content": ""},
		"larger than 64 KiB":         blob(strings.Repeat("x", 64<<10+1)),
	} {
		a := answering(t, "", routes{fileRoute: saying(200, answer)})
		_, err := speaking(t, a.URL, nil).File(t.Context(), 7, shop, filePath, "main")
		require.ErrorIs(t, err, ErrNotFile, want)
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, ErrNotFound)
	}
	for _, size := range []int{0, 64 << 10} {
		a := answering(t, "", routes{fileRoute: saying(200, blob(strings.Repeat("x", size)))})
		got, err := speaking(t, a.URL, nil).File(t.Context(), 7, shop, filePath, "main")
		require.NoError(t, err)
		require.Len(t, got.Raw, size)
	}
}

func TestAMissingFileIsNotAMissingRepository(t *testing.T) {
	there := saying(200, map[string]any{"full_name": shop})
	for name, f := range map[string]struct {
		repository, file http.HandlerFunc
		found            bool
		want             error
	}{
		"the file is missing":           {there, complaining(404, "Not Found"), true, ErrNotFound},
		"the repository is empty":       {there, complaining(404, "This repository is empty."), true, ErrNotFound},
		"the repository is out of view": {complaining(404, "Not Found"), complaining(404, "Not Found"), false, ErrRefused},
		"the branch is missing":         {there, complaining(404, "No commit found for the ref main"), false, ErrRefused},
		"no permission to read":         {there, complaining(403, "Resource not accessible by integration"), false, ErrRefused},
		"GitHub is ill":                 {complaining(502, "Server Error"), complaining(404, "Not Found"), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := answering(t, "", routes{"GET /repos/acme/shop": f.repository, fileRoute: f.file})
			_, err := speaking(t, a.URL, nil).File(t.Context(), 7, shop, filePath, "main")
			require.ErrorContains(t, err, `read .github/ocpctl.yaml of acme/shop at "main"`)
			if f.want != nil {
				require.ErrorIs(t, err, f.want)
			}
			if !f.found {
				require.NotErrorIs(t, err, ErrNotFound, "not known is not absent")
			}
		})
	}
}

func TestAFileAtACommitThatIsNewIsAskedForAgain(t *testing.T) {
	n := 0
	a := answering(t, "", routes{fileRoute: func(w http.ResponseWriter, _ *http.Request) {
		if n++; n < 2 {
			say(w, 404, map[string]string{"message": "No commit found for the ref def456"})
			return
		}
		say(w, 200, blob("ttl: 4h\n"))
	}})
	c := speaking(t, a.URL, func(cfg *Config) { cfg.Settling = 10 * time.Millisecond })
	got, err := c.File(t.Context(), 7, shop, filePath, "def456")
	require.NoError(t, err)
	require.Equal(t, "ttl: 4h\n", string(got.Raw))
	n = -1
	_, err = c.File(t.Context(), 7, shop, filePath, "def456")
	require.ErrorIs(t, err, ErrRefused, "it never came")
	require.Equal(t, 1, n)
}

func TestAPathStaysInItsRepository(t *testing.T) {
	c := speaking(t, "http://127.0.0.1:1", nil)
	for _, path := range []string{"", "/etc/passwd", "../x", "a//b", "a/../../x", "a/"} {
		_, err := c.File(t.Context(), 7, shop, path, "main")
		require.ErrorContains(t, err, "want one inside the repository", path)
	}
	_, err := c.File(t.Context(), 7, shop, filePath, "")
	require.ErrorContains(t, err, "want a ref")
}

func TestWhetherAPullRequestRemovesAFileIsReadToTheLastPage(t *testing.T) {
	var pages []string
	files := []map[string]any{{"filename": "README.md", "status": "removed"}}
	a := answering(t, "", routes{"GET /repos/acme/shop/pulls/41/files": func(w http.ResponseWriter, r *http.Request) {
		pages = append(pages, r.URL.Query().Get("page"))
		if r.URL.Query().Get("page") == "" {
			w.Header().Set("Link", `<http://`+r.Host+`/repos/acme/shop/pulls/41/files?page=2>; rel="next"`)
			say(w, 200, []map[string]any{{"filename": filePath + ".bak", "status": "removed"}, {"filename": filePath, "status": "modified"}})
			return
		}
		say(w, 200, files)
	}})
	c := speaking(t, a.URL, nil)
	for _, want := range []struct {
		last    map[string]any
		removes bool
	}{
		{map[string]any{"filename": "README.md", "status": "removed"}, false},
		{map[string]any{"filename": filePath, "status": "removed"}, true},
		{map[string]any{"filename": "old.yaml", "status": "renamed", "previous_filename": filePath}, true},
	} {
		files = []map[string]any{want.last}
		removes, err := c.Removes(t.Context(), 7, shop, 41, filePath)
		require.NoError(t, err)
		require.Equal(t, want.removes, removes, want.last)
	}
	require.Equal(t, []string{"", "2", "", "2", "", "2"}, pages)
}
