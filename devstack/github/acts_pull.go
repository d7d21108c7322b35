package github

import (
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Open opens a pull request from a branch of the repository as a person and returns its number.
func (p Place) Open(title, as string) (int, error) {
	return p.open(title, branchName(title), as, Org, false)
}

// OpenFrom opens a pull request from a branch of the repository with the given name: git allows names that HTML and Markdown would
// interpret.
func (p Place) OpenFrom(title, branch, as string) (int, error) {
	return p.open(title, branch, as, Org, false)
}

// OpenFork opens a pull request from somebody's fork.
func (p Place) OpenFork(title, as string) (int, error) {
	return p.open(title, branchName(title), as, as, false)
}

func (p Place) open(title, branch, as, head string, draft bool) (int, error) {
	var number int
	err := p.do(func(w *world, r *repository) ([]Event, error) {
		must.EndIf(strings.TrimSpace(title) == "", errInvalid)
		number = 1
		for _, pr := range r.Pulls {
			number = max(number, pr.Number+1)
		}
		now := p.s.now().UTC().Truncate(1e9)
		pr := &PullRequest{
			Number: number, Title: title, Author: as, HeadOwner: head, Open: true, Draft: draft, Labels: []string{},
			HeadRef: branch, HeadSHA: commitID(r.Name, number, 1), BaseSHA: r.Branches[Branch], Pushes: 1,
			CreatedAt: now, UpdatedAt: now,
		}
		for n := 2; r.headOf(head, pr.HeadRef) != nil; n++ {
			pr.HeadRef = branch + "-" + itoa(int64(n))
		}
		r.Commits[pr.HeadSHA] = withFile(r.Commits[pr.BaseSHA], "docs/"+pr.HeadRef+".md", title+"\n")
		r.Pulls = append(r.Pulls, pr)
		p.s.fresh(r.ID, int64(number))
		opened := p.s.event(w, r, "opened", as, pr)
		if pr.Fork() {
			return []Event{opened}, nil
		}
		return []Event{p.s.pushed(w, r, pr.HeadRef, noCommit, pr.HeadSHA, title, as), opened}, nil
	})
	return number, err
}

// openBranch opens a pull request from a branch that has commits.
func (p Place) openBranch(title, body, branch, base, as string, draft bool) (number int, err error) {
	err = p.do(func(w *world, r *repository) ([]Event, error) {
		head := r.Branches[branch]
		must.EndIf(strings.TrimSpace(title) == "" || base != Branch || head == "" || head == r.Branches[base] || r.headOf(Org, branch) != nil,
			errInvalid)
		for _, pr := range r.Pulls {
			number = max(number, pr.Number)
		}
		number++
		now := p.s.now().UTC().Truncate(1e9)
		pr := &PullRequest{
			Number: number, Title: title, Body: body, Author: as, HeadOwner: Org, Open: true, Draft: draft, Labels: []string{},
			HeadRef: branch, HeadSHA: head, BaseSHA: r.Branches[base], Pushes: 1, CreatedAt: now, UpdatedAt: now,
		}
		delete(r.Branches, branch) // from now on the pull request has it
		r.Pulls = append(r.Pulls, pr)
		p.s.fresh(r.ID, int64(number))
		return []Event{p.s.event(w, r, "opened", as, pr)}, nil
	})
	return number, err
}

// headOf returns the open pull request from a branch.
func (r *repository) headOf(owner, ref string) *PullRequest {
	return pick.First(r.Pulls, func(pr *PullRequest) bool { return pr.HeadOwner == owner && pr.HeadRef == ref && pr.Open })
}

// SetDraft makes a pull request a draft, or ready for review, as a person.
func (p Place) SetDraft(number int, draft bool, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		must.EndIf(!pr.Open, errInvalid)
		if pr.Draft == draft {
			return nil, nil
		}
		pr.Draft = draft
		pr.touch(p.s.now())
		action := "ready_for_review"
		if draft {
			action = "converted_to_draft"
		}
		return []Event{p.s.event(w, r, action, as, pr)}, nil
	})
}

// Merge merges a pull request as a person, unless it is a draft or closed, or the rules of its base do not let it.
func (p Place) Merge(number int, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		must.EndIf(!pr.Open || pr.Draft, errInvalid)
		why, _ := r.blocked(pr.base(), pr.HeadSHA)
		must.Do(why)
		must.FailIf(r.Rules[pr.base()].Queue, "%w: Changes must be made through the merge queue", errBlocked)
		return p.s.merge(w, r, pr, r.commit(pr.base(), r.merged(r.Branches[pr.base()], pr)), as)
	})
}

// Lock locks or unlocks the conversation of a pull request: then only people with write access comment there, and no App.
// https://docs.github.com/communities/moderating-comments-and-conversations/locking-conversations
func (p Place) Lock(number int, locked bool) error {
	return p.onPull(number, func(_ *world, _ *repository, pr *PullRequest) ([]Event, error) {
		pr.Locked = locked
		return nil, nil
	})
}

// Review submits a review of a pull request: state is approved, changes_requested or commented. As on GitHub its id is of another kind than a
// comment's, and may be the same number.
func (p Place) Review(number int, state, body, as string) error {
	return p.review(number, "pull_request_review", "submitted", state, body, as)
}

// ReviewLine comments a line of a pull request.
func (p Place) ReviewLine(number int, body, as string) error {
	return p.review(number, "pull_request_review_comment", "created", "", body, as)
}

func (p Place) review(number int, event, action, state, body, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		now := p.s.now().UTC().Truncate(time.Second)
		pr.touch(now)
		e := p.s.event(w, r, action, as, pr)
		e.Name, e.ReviewState = event, state
		e.Comment = Comment{ID: w.id(), Number: number, Author: as, Association: w.association(r, as, false), Body: body, CreatedAt: now, UpdatedAt: now}
		return []Event{e}, nil
	})
}

// merge closes a pull request as merged by a commit that its base has now.
func (s *Server) merge(w *world, r *repository, pr *PullRequest, sha, as string) ([]Event, error) {
	before := r.Branches[pr.base()]
	r.Branches[pr.base()] = sha
	pr.MergeSHA, pr.Merged, pr.MergedBy = sha, true, as
	if !slices.Contains(r.Contributors, pr.Author) {
		r.Contributors = append(r.Contributors, pr.Author)
	}
	closed, err := s.setOpen(w, r, pr, false, as)
	return append(closed, s.pushed(w, r, pr.base(), before, sha, "Merge pull request #"+itoa(int64(pr.Number)), as)), err
}

// DeleteBranch deletes a pull request's branch, which closes the pull request; there is no separate event.
func (p Place) DeleteBranch(number int, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		return p.s.deleteBranch(w, r, pr, as)
	})
}

func (s *Server) deleteBranch(w *world, r *repository, pr *PullRequest, as string) ([]Event, error) {
	if pr.BranchGone {
		return nil, errNotFound
	}
	pr.BranchGone = true
	return s.setOpen(w, r, pr, false, as)
}

// SetPermission gives a login a role: admin, maintain, write, triage, read or none; empty makes the login unknown.
func (p Place) SetPermission(login, role string) error {
	return p.do(func(_ *world, r *repository) ([]Event, error) {
		if role == "" {
			delete(r.Permissions, login)
		} else {
			r.Permissions[login] = role
		}
		return nil, nil
	})
}
