package github

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// QueueEntry is a pull request in a merge queue, with the commit that its merge would make on top of those before it.
type QueueEntry struct {
	Number int    `json:"number"`
	By     string `json:"by"`
	Title  string `json:"title"`
	Base   string `json:"base"`    // branch
	BaseAt string `json:"baseSha"` // commit that it comes on top of
	Head   string `json:"headSha"`
	Ref    string `json:"ref"` // branch of the commit
}

// Queue puts a pull request into the merge queue of its base as a person. GitHub makes a commit for it and asks for its checks. If the
// base has rules with a queue, the pull request is merged when the checks pass, and taken out of the queue when one fails.
func (p Place) Queue(number int, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		in := func(q *QueueEntry) bool { return q.Number == number }
		must.EndIf(!pr.Open || pr.Draft || slices.ContainsFunc(r.Queue, in), errInvalid)
		why, _ := r.blocked(pr.base(), pr.HeadSHA)
		must.Do(why)
		return append(p.s.enqueue(w, r, pr, as), p.s.advanceQueue(w, r)...), nil
	})
}

func (s *Server) enqueue(w *world, r *repository, pr *PullRequest, as string) []Event {
	base := r.Branches[pr.base()]
	for _, q := range r.Queue {
		if q.Base == pr.base() {
			base = q.Head
		}
	}
	q := &QueueEntry{Number: pr.Number, By: as, Title: pr.Title, Base: pr.base(), BaseAt: base, Head: commitID(r.Name+"@"+base, pr.Number, pr.Pushes)}
	q.Ref = "gh-readonly-queue/" + q.Base + "/pr-" + itoa(int64(pr.Number)) + "-" + base
	if r.Commits[q.Head] == nil {
		r.Commits[q.Head] = r.merged(base, pr)
	}
	r.Branches[q.Ref] = q.Head
	r.Queue = append(r.Queue, q)
	return []Event{s.groupEvent(w, r, "checks_requested", "", q)}
}

func (s *Server) groupEvent(w *world, r *repository, action, reason string, q *QueueEntry) Event {
	return Event{Name: "merge_group", Action: action, Reason: reason, Sender: q.By, Group: *q, At: s.moment(), scene: w.scene(s, r)}
}

// Dequeue takes a pull request out of the merge queue as a person.
func (p Place) Dequeue(number int) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		i := slices.IndexFunc(r.Queue, func(q *QueueEntry) bool { return q.Number == number })
		must.EndIf(i < 0, errNotFound)
		return append(p.s.leaveQueue(w, r, i, "dequeued"), p.s.advanceQueue(w, r)...), nil
	})
}

// leaveQueue takes an entry out. What comes after it in the same queue is made anew, unless the entry was merged.
func (s *Server) leaveQueue(w *world, r *repository, at int, reason string) []Event {
	q := r.Queue[at]
	r.Queue = slices.Delete(r.Queue, at, at+1)
	delete(r.Branches, q.Ref)
	events := []Event{s.groupEvent(w, r, "destroyed", reason, q)}
	if reason == "merged" {
		return events
	}
	after := slices.Clone(r.Queue[at:])
	for _, later := range after {
		if later.Base == q.Base {
			r.Queue = slices.DeleteFunc(r.Queue, func(one *QueueEntry) bool { return one == later })
			delete(r.Branches, later.Ref)
			events = append(events, s.groupEvent(w, r, "destroyed", "invalidated", later))
		}
	}
	for _, later := range after {
		if pr := r.pull(later.Number); later.Base == q.Base && pr != nil && pr.Open {
			events = append(events, s.enqueue(w, r, pr, later.By)...)
		}
	}
	return events
}

// advanceQueue merges what passed its checks and takes out what failed, in the order of the queue.
func (s *Server) advanceQueue(w *world, r *repository) []Event {
	var events []Event
	for {
		i := slices.IndexFunc(r.Queue, func(q *QueueEntry) bool {
			first := slices.IndexFunc(r.Queue, func(one *QueueEntry) bool { return one.Base == q.Base })
			why, pending := r.blocked(q.Base, q.Head)
			return r.Rules[q.Base].Queue && r.Queue[first] == q && (why == nil || !pending)
		})
		if i < 0 {
			return events
		}
		q := r.Queue[i]
		pr := r.pull(q.Number)
		if why, _ := r.blocked(q.Base, q.Head); why != nil || !pr.Open {
			events = append(events, s.leaveQueue(w, r, i, "dequeued")...)
			continue
		}
		events = append(events, s.leaveQueue(w, r, i, "merged")...)
		merged, err := s.merge(w, r, pr, q.Head, q.By)
		if err != nil {
			return events
		}
		events = append(events, merged...)
	}
}

// Queued returns the numbers of the pull requests in the merge queues, in their order.
func (p Place) Queued() (numbers []int) {
	p.look(func(_ *world, r *repository) {
		numbers = pick.Map(r.Queue, func(q *QueueEntry) int { return q.Number })
	})
	return numbers
}

// QueuedHead returns the commit of a pull request in the merge queue; empty: it is in none.
func (p Place) QueuedHead(number int) (sha string) {
	p.look(func(_ *world, r *repository) {
		for _, q := range r.Queue {
			if q.Number == number {
				sha = q.Head
			}
		}
	})
	return sha
}

// group is a merge queue's commit as in a webhook.
func (e Event) group() object {
	return object{
		"head_sha": e.Group.Head, "head_ref": "refs/heads/" + e.Group.Ref, "base_sha": e.Group.BaseAt, "base_ref": "refs/heads/" + cmp.Or(e.Group.Base, Branch),
		"head_commit": headCommit(e.Group.Head, fmt.Sprintf("Merge pull request #%d: %s", e.Group.Number, e.Group.Title), e.At),
	}
}
