package github

import (
	"slices"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// look runs fn on the repository, which it must not change; for a missing repository it does nothing.
func (p Place) look(fn func(w *world, r *repository)) {
	p.s.look(func(w *world) {
		if r, _ := w.repo(p.repo); r != nil {
			fn(w, r)
		}
	})
}

// PullRequest returns a pull request's state; ok is false if there is none.
func (p Place) PullRequest(number int) (pr PullRequest, ok bool) {
	p.look(func(w *world, r *repository) {
		if found := r.pull(number); found != nil {
			pr, ok = w.snapshot(r, found), true
		}
	})
	return pr, ok
}

// Comments returns a pull request's conversation, oldest first.
func (p Place) Comments(number int) []Comment {
	var out []Comment
	p.look(func(_ *world, r *repository) {
		out = pick.Map(r.conversation(number), copyComment)
	})
	return out
}

// Checks returns the check runs of a pull request's current head, oldest first.
func (p Place) Checks(number int) []Check {
	pr, _ := p.PullRequest(number)
	return p.ChecksOf(pr.HeadSHA)
}

// ChecksOf returns the check runs of a commit, oldest first.
func (p Place) ChecksOf(sha string) []Check {
	var out []Check
	p.look(func(_ *world, r *repository) { out = r.checksOf(sha) })
	return out
}

// Deployments returns the repository's deployments, oldest first.
func (p Place) Deployments() []Deployment {
	var out []Deployment
	p.look(func(_ *world, r *repository) {
		for _, d := range r.Deployments {
			one := *d
			one.Statuses = slices.Clone(d.Statuses)
			out = append(out, one)
		}
	})
	return out
}

// Labels returns the repository's labels.
func (p Place) Labels() []Label {
	var out []Label
	p.look(func(_ *world, r *repository) {
		out = pick.Map(r.Labels, func(l *Label) Label { return *l })
	})
	return out
}
