package github

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha1" // git's ids are SHA-1; nothing is protected by it
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (s *Server) fileCalls() []endpoint {
	return []endpoint{
		{"GET", "/contents/{path...}", readFiles, true, s.getContents},
		{"GET", "/git/matching-refs/{ref...}", readFiles, true, s.listMatchingRefs},
		{"GET", "/git/trees/{ref...}", readFiles, true, s.getTree},
		{"GET", "/git/blobs/{sha}", readFiles, true, s.getBlob},
		{"GET", "/git/ref/{ref...}", readFiles, true, s.getRef},
		{"POST", "/git/refs", writeFiles, false, s.postRef},
		{"PUT", "/contents/{path...}", writeFiles, false, s.putContents},
		{"GET", "/pulls", readPulls, true, s.listPulls},
		{"POST", "/pulls", "pull_requests:write", false, s.postPull},
	}
}

// blobID returns git's id of a file's content.
func blobID(content string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)))
}

// wholeFile is the size up to which GitHub sends a file's content in the JSON.
const wholeFile = 1 << 20

// getContents returns a file at a ref, in JSON or GitHub's raw form, or a folder's list.
func (s *Server) getContents(w http.ResponseWriter, r *http.Request, c caller) {
	path, ref := r.PathValue("path"), r.URL.Query().Get("ref")
	if ref == "" {
		ref = Branch
	}
	var content string
	var commit, there bool
	sc, under := s.sceneOf(c.at.repo), []object{}
	c.at.look(func(_ *world, repo *repository) {
		files, found := repo.Commits[repo.resolve(ref)]
		if commit = found; !commit {
			return
		}
		content, there = files[path]
		for _, one := range slices.Sorted(maps.Keys(files)) {
			if rest, in := strings.CutPrefix(one, path+"/"); in && !strings.Contains(rest, "/") {
				under = append(under, sc.content(one, ref, files[one]))
			}
		}
	})
	endIf(!commit, http.StatusNotFound, "No commit found for the ref "+ref)
	endMissing(!there && len(under) == 0)
	switch {
	case !there:
		answer(w, http.StatusOK, under)
	case strings.Contains(r.Header.Get("Accept"), "raw"):
		w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		_, _ = w.Write([]byte(content))
	default:
		one := sc.content(path, ref, content)
		one["encoding"], one["content"] = "base64", inLines(content)
		if len(content) > wholeFile {
			one["encoding"], one["content"] = "none", ""
		}
		answer(w, http.StatusOK, one)
	}
}

// getTree returns the files of a commit, with everything below it if it is asked for. Folders have no entries of their own.
// https://docs.github.com/rest/git/trees#get-a-tree
func (s *Server) getTree(w http.ResponseWriter, r *http.Request, c caller) {
	sc, entries, commit := s.sceneOf(c.at.repo), []object{}, ""
	c.at.look(func(_ *world, repo *repository) {
		commit = repo.resolve(r.PathValue("ref"))
		files := repo.Commits[commit]
		for _, path := range slices.Sorted(maps.Keys(files)) {
			if r.URL.Query().Get("recursive") == "" && strings.Contains(path, "/") {
				continue
			}
			entries = append(entries, object{"path": path, "mode": "100644", "type": "blob", "sha": blobID(files[path]), "size": len(files[path]),
				"url": sc.repoAPI() + "/git/blobs/" + blobID(files[path])})
		}
		if files == nil {
			commit = ""
		}
	})
	endMissing(commit == "")
	answer(w, http.StatusOK, object{"sha": commit, "url": sc.repoAPI() + "/git/trees/" + commit, "truncated": false, "tree": entries})
}

// getBlob returns a file's content by git's id, in JSON or GitHub's raw form.
// https://docs.github.com/rest/git/blobs#get-a-blob
func (s *Server) getBlob(w http.ResponseWriter, r *http.Request, c caller) {
	sha, content, found := r.PathValue("sha"), "", false
	c.at.look(func(_ *world, repo *repository) {
		for _, files := range repo.Commits {
			for _, one := range files {
				if blobID(one) == sha {
					content, found = one, true
				}
			}
		}
	})
	switch {
	case !found:
		notFound(w)
	case strings.Contains(r.Header.Get("Accept"), "raw"):
		w.Header().Set("Content-Type", "application/vnd.github.raw; charset=utf-8")
		_, _ = w.Write([]byte(content))
	default:
		answer(w, http.StatusOK, object{"sha": sha, "size": len(content), "encoding": "base64", "content": inLines(content), "node_id": sha,
			"url": s.sceneOf(c.at.repo).repoAPI() + "/git/blobs/" + sha})
	}
}

// inLines returns base64 in GitHub's form: 60 characters a line.
func inLines(content string) string {
	raw := base64.StdEncoding.EncodeToString([]byte(content))
	var out strings.Builder
	for len(raw) > 0 {
		n := min(60, len(raw))
		out.WriteString(raw[:n] + "\n")
		raw = raw[n:]
	}
	return out.String()
}

func (sc scene) content(path, ref, content string) object {
	self := sc.repoAPI() + "/contents/" + path + "?ref=" + ref
	git := sc.repoAPI() + "/git/blobs/" + blobID(content)
	page := sc.web() + sc.repo.Name + "/blob/" + ref + "/" + path
	name := path[strings.LastIndex(path, "/")+1:]
	return object{
		"type": "file", "size": len(content), "name": name, "path": path, "sha": blobID(content),
		"url": self, "git_url": git, "html_url": page, "download_url": sc.web() + sc.repo.Name + "/raw/" + ref + "/" + path,
		"_links": object{"self": self, "git": git, "html": page},
	}
}

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
