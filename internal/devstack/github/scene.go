package github

import (
	"cmp"
	"strings"
	"time"
)

// RepoRef names a repository by both its number and its present name.
type RepoRef struct {
	ID      int64
	Name    string // owner/name
	Private bool
}

func (r RepoRef) split() (owner, name string) {
	owner, name, _ = strings.Cut(r.Name, "/")
	return owner, name
}

// scene is what a shape has to know around the thing it shows.
type scene struct {
	base         string // the stand-in's address; empty: GitHub's own addresses
	repo         RepoRef
	labels       []Label // the repository's
	installation int64
	app          Manifest
}

// plainScene is that of an event made outside any world.
func plainScene(base string) scene {
	return scene{base: base, repo: RepoRef{ID: RepoID, Name: Repo}, installation: Installation, app: Registered()}
}

func (w *world) scene(s *Server, r *repository) scene {
	sc := scene{base: s.base, app: s.app, installation: Installation}
	if w.Install != nil {
		sc.installation = w.Install.ID
	}
	if r != nil {
		sc.repo = RepoRef{ID: r.ID, Name: r.Name, Private: r.Private}
		for _, l := range r.Labels {
			sc.labels = append(sc.labels, *l)
		}
	}
	return sc
}

// api and web are where the API's and the pages' addresses begin, each with a final slash.
func (sc scene) api() string { return cmp.Or(slashed(sc.base), publicAPI) }
func (sc scene) web() string { return cmp.Or(slashed(sc.base), publicWeb) }

func slashed(base string) string {
	if base == "" {
		return ""
	}
	return base + "/"
}

// repoAPI is where the repository's part of the API begins, without a final slash.
func (sc scene) repoAPI() string { return sc.api() + "repos/" + sc.repo.Name }

// head is where a pull request's branch lives: the repository itself, or somebody's fork of it.
func (sc scene) head(pr PullRequest) RepoRef {
	if !pr.Fork() {
		return sc.repo
	}
	_, name := sc.repo.split()
	return RepoRef{ID: sc.repo.ID + forkStep, Name: pr.HeadOwner + "/" + name}
}

const forkStep = 944 // what a fork's number is above its parent's

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func stampOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
