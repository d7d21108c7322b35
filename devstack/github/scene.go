package github

import (
	"cmp"
	"maps"
	"strings"
	"time"
)

// RepoRef identifies a repository by its number and its current name.
type RepoRef struct {
	ID      int64
	Name    string // owner/name
	Private bool
}

func (r RepoRef) split() (owner, name string) {
	owner, name, _ = strings.Cut(r.Name, "/")
	return owner, name
}

// scene is the context of the object that a shape shows.
type scene struct {
	base         string // the stand-in's URL; empty: GitHub's own URLs
	repo         RepoRef
	labels       []Label // the repository's
	installation int64
	app          Manifest
	accounts     map[string]account // of the world
}

// plainScene is the scene of an event outside any world.
func plainScene(base string) scene {
	return scene{base: base, repo: RepoRef{ID: RepoID, Name: Repo}, installation: Installation, app: Registered()}
}

func (w *world) scene(s *Server, r *repository) scene {
	sc := scene{base: s.base, app: s.app, installation: Installation, accounts: maps.Clone(w.Accounts)}
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

// api and web are the base URLs of the API and of the pages, each with a final slash.
func (sc scene) api() string { return cmp.Or(slashed(sc.base), publicAPI) }
func (sc scene) web() string { return cmp.Or(slashed(sc.base), publicWeb) }

func slashed(base string) string {
	if base == "" {
		return ""
	}
	return base + "/"
}

// repoAPI is the base URL of the repository's part of the API, without a final slash.
func (sc scene) repoAPI() string { return sc.api() + "repos/" + sc.repo.Name }

// head returns the repository of a pull request's branch: the repository itself, or a fork.
func (sc scene) head(pr PullRequest) RepoRef {
	if !pr.Fork() {
		return sc.repo
	}
	_, name := sc.repo.split()
	return RepoRef{ID: sc.repo.ID + forkStep, Name: pr.HeadOwner + "/" + name}
}

const forkStep = 944 // the difference between a fork's number and its parent's

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
