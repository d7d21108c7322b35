package github

import (
	"crypto/sha1" // commit ids are SHA-1; nothing is protected by it
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// The initial content of the demo's GitHub.
const (
	AppID        = 4242
	AppSlug      = "ocpctl"
	ClientID     = "Iv1.demo4242"    // the App's, for the user authorization
	Bot          = AppSlug + "[bot]" // the author of the App's comments
	Installation = 5001              // the first one; later ones have other numbers
	Org          = "acme"
	Repo         = "acme/shop"
	RepoID       = 1001
	SecondRepo   = "acme/api"    // the App is installed there too
	PrivateRepo  = "acme/ledger" // the App is not installed there
	Branch       = "main"
	Team         = "platform" // acme/platform, with maya in it
	ForkOwner    = "outsider" // owns the forks of #45, and of #8 of acme/api
)

const (
	orgID  = 1000
	teamID = 1500
)

// world is the stand-in's state, guarded by Server.mu.
type world struct {
	Layout     int                 `json:"layout"` // version of the file format
	LastID     int64               `json:"lastId"`
	Repos      []*repository       `json:"repos"`
	Install    *installation       `json:"installation"` // nil: the App is not installed
	Installs   int64               `json:"installs"`     // how often the App was installed again
	Teams      map[string][]string `json:"teams"`        // slug in Org → logins
	Members    []string            `json:"members"`      // of Org
	Deliveries []*Delivery         `json:"deliveries"`
	Tokens     map[string]*grant   `json:"tokens"` // hash of an installation token → its scope
	Occasions  []*occasion         `json:"occasions,omitempty"`
	Accounts   map[string]account  `json:"accounts,omitempty"` // by login; the others are as their login says
}

// layout is the current version of the state file's format.
const layout = 2

func newWorld(now time.Time) *world {
	w := &world{
		Layout: layout, LastID: 1_900_000_000, Tokens: map[string]*grant{},
		Teams: map[string][]string{Team: {"maya"}}, Members: []string{"maya", "will", "rita", "rob", "ada"},
		Install: &installation{ID: Installation, CreatedAt: installedAt},
	}
	for _, start := range startRepos() {
		r := start.repository
		r.commit(Branch, startFiles(r.Name))
		for _, pr := range start.pulls(now) {
			r.Pulls = append(r.Pulls, &pr)
			r.Commits[pr.HeadSHA] = withFile(r.Commits[r.Branches[Branch]], "docs/"+pr.HeadRef+".md", pr.Title+"\n")
		}
		if r.Name == Repo {
			e := r.environment(w, "ocp/aws-minimal-test")
			e.Rules = []*rule{{ID: w.id()}} // the App's
		}
		w.Repos = append(w.Repos, r)
	}
	return w
}

func (w *world) id() int64 { w.LastID++; return w.LastID }

// repo finds a repository by its name, or by an earlier one: GitHub redirects requests until the name is taken again.
func (w *world) repo(name string) (r *repository, moved bool) {
	for _, r := range w.Repos {
		if !r.Gone && strings.EqualFold(r.Name, name) {
			return r, false
		}
	}
	for _, r := range w.Repos {
		if !r.Gone && r.was(name) {
			return r, true
		}
	}
	return nil, false
}

// repoByID finds a repository by its number, which never changes.
func (w *world) repoByID(id int64) *repository {
	return pick.First(w.Repos, func(r *repository) bool { return r.ID == id && !r.Gone })
}

// branchName makes a branch name from a title.
func branchName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words[:min(4, len(words))], "-")
}

// commitID returns the SHA of a pull request's nth push, the same in every world. Number 0 is the default branch.
func commitID(repo string, number, push int) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "%s#%d@%d", repo, number, push)))
}
