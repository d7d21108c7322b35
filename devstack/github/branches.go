package github

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// MakeBranch makes a branch of the repository at the head of the default one.
func (p Place) MakeBranch(name string) error {
	return p.do(func(_ *world, r *repository) ([]Event, error) {
		must.EndIf(name == "" || r.Branches[name] != "", errInvalid)
		r.Branches[name] = r.Branches[Branch]
		return nil, nil
	})
}

// FileAt returns a file at a commit.
func (p Place) FileAt(sha, path string) (content string, exists bool) {
	p.look(func(_ *world, r *repository) { content, exists = r.Commits[sha][path] })
	return content, exists
}

// OpenTo opens another pull request of the branch of an open one, to another base, and returns its number. Both have one head.
func (p Place) OpenTo(base string, of int, as string) (number int, err error) {
	return p.openTwin(of, as, func(pr *PullRequest) { pr.Base = base })
}

// OpenSame opens another pull request with the head of an open one, from another branch of the owner: the organization, or somebody's fork.
func (p Place) OpenSame(of int, owner string) (number int, err error) {
	return p.openTwin(of, "maya", func(pr *PullRequest) { pr.HeadOwner, pr.HeadRef = owner, pr.HeadRef+"-again" })
}

func (p Place) openTwin(of int, as string, change func(pr *PullRequest)) (number int, err error) {
	err = p.onPull(of, func(w *world, r *repository, other *PullRequest) ([]Event, error) {
		like := &PullRequest{HeadOwner: other.HeadOwner, HeadRef: other.HeadRef, Base: other.Base}
		change(like)
		base := like.base()
		taken := func(pr *PullRequest) bool {
			return pr.Open && pr.HeadOwner == like.HeadOwner && pr.HeadRef == like.HeadRef && pr.base() == base
		}
		must.EndIf(r.Branches[base] == "" || !other.Open || slices.ContainsFunc(r.Pulls, taken), errInvalid)
		for _, pr := range r.Pulls {
			number = max(number, pr.Number+1)
		}
		now := p.s.now().UTC().Truncate(1e9)
		pr := &PullRequest{
			Number: number, Title: other.Title + " (" + base + ")", Author: as, HeadOwner: like.HeadOwner, Open: true, Labels: []string{},
			HeadRef: like.HeadRef, HeadSHA: other.HeadSHA, Base: base, BaseSHA: r.Branches[base], Pushes: other.Pushes, CreatedAt: now, UpdatedAt: now,
		}
		r.Pulls = append(r.Pulls, pr)
		p.s.fresh(r.ID, int64(number))
		return []Event{p.s.event(w, r, "opened", as, pr)}, nil
	})
	return number, err
}

func (p PullRequest) base() string { return cmp.Or(p.Base, Branch) }

// Require sets the checks of the App that a branch's rules require before a merge. With a queue, pull requests are merged by that only,
// after the checks passed on the queue's own commit, too.
func (p Place) Require(branch string, queue bool, checks ...string) error {
	return p.do(func(_ *world, r *repository) ([]Event, error) {
		must.EndIf(r.Branches[branch] == "", errInvalid)
		if r.Rules == nil {
			r.Rules = map[string]branchRules{}
		}
		r.Rules[branch] = branchRules{Checks: checks, Queue: queue}
		return nil, nil
	})
}

// branchRules are the rules of a branch.
type branchRules struct {
	Checks []string `json:"checks"`
	Queue  bool     `json:"queue"`
}

// errBlocked says that a branch's rules do not let a pull request be merged.
var errBlocked = errors.New("blocked")

// blocked says which required check does not let a commit be merged into a branch. pending: the check may still pass. nil: nothing does. Of
// several runs of one name only the newest counts, whichever pull request they are of.
// https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (r *repository) blocked(branch, sha string) (why error, pending bool) {
	newest := map[string]Check{}
	for _, c := range r.checksOf(sha) {
		newest[c.Name] = c
	}
	pending = true
	for _, name := range r.Rules[branch].Checks {
		c, there := newest[name]
		switch {
		case !there:
			//lint:ignore ST1005 GitHub's own words
			why = errors.Join(why, fmt.Errorf("%w: Required status check %q is expected.", errBlocked, name))
		case c.Status != "completed":
			//lint:ignore ST1005 GitHub's own words
			why = errors.Join(why, fmt.Errorf("%w: Required status check %q is in progress.", errBlocked, name))
		case !slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion):
			//lint:ignore ST1005 GitHub's own words
			why, pending = errors.Join(why, fmt.Errorf("%w: Required status check %q is failing.", errBlocked, name)), false
		}
	}
	return why, pending && why != nil
}

// listMatchingRefs returns the branches whose names begin with what the path says.
func (s *Server) listMatchingRefs(w http.ResponseWriter, r *http.Request, c caller) {
	prefix, all := r.PathValue("ref"), []object{}
	c.at.look(func(world *world, repo *repository) {
		sc := world.scene(s, repo)
		for _, name := range slices.Sorted(maps.Keys(repo.Branches)) {
			if ref := "heads/" + name; strings.HasPrefix(ref, prefix) {
				all = append(all, sc.reference(ref, repo.Branches[name]))
			}
		}
	})
	page(w, r, s.base, all, nil)
}
