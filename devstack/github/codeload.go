package github

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// codeloadPath stands for https://codeload.github.com, which serves the files of public repositories to anybody and counts no calls.
const codeloadPath = "/_codeload/"

// getArchive returns a commit's files as codeload does: a tar.gz with one folder, named after the repository and the ref.
func (s *Server) getArchive(w http.ResponseWriter, r *http.Request) {
	var files map[string]string
	s.look(func(world *world) {
		if repo, _ := world.repo(r.PathValue("owner") + "/" + r.PathValue("repo")); repo != nil && !repo.Private {
			files = repo.Commits[repo.resolve(r.PathValue("ref"))]
		}
	})
	if files == nil {
		http.Error(w, "404: Not Found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	folder := r.PathValue("repo") + "-" + strings.ReplaceAll(r.PathValue("ref"), "/", "-")
	_ = writeArchive(w, folder, files, s.now()) // the caller disconnected
}

func writeArchive(w io.Writer, folder string, files map[string]string, at time.Time) (err error) {
	defer must.Catch(&err)
	zipped := gzip.NewWriter(w)
	out := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: folder + "/" + path, Mode: 0o644, Size: int64(len(files[path])), ModTime: at}
		if strings.HasPrefix(files[path], "#!") {
			header.Mode = 0o755
		}
		must.Do(out.WriteHeader(header))
		must.Get(io.WriteString(out, files[path]))
	}
	must.Do(out.Close())
	return zipped.Close()
}
