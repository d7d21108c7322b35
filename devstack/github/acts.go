package github

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/replymail"
)

var (
	errNotFound = errors.New("not found")
	errInvalid  = errors.New("not possible")
)

// Place is a repository in which to act and look. A Server is a Place too: acts without a Place happen in Repo.
type Place struct {
	s    *Server
	repo string // its name, or an earlier one
}

// In returns another repository than Repo.
func (s *Server) In(repo string) Place { return Place{s, repo} }

// do runs fn on the repository and stores the result.
func (p Place) do(fn func(w *world, r *repository) ([]Event, error)) error {
	return p.s.change(func(w *world) ([]Event, error) {
		r, _ := w.repo(p.repo)
		must.EndIf(r == nil, errNotFound)
		return fn(w, r)
	})
}

// onPull runs fn on a pull request.
func (p Place) onPull(number int, fn func(w *world, r *repository, pr *PullRequest) ([]Event, error)) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		pr := r.pull(number)
		must.EndIf(pr == nil, errNotFound)
		return fn(w, r, pr)
	})
}

// Label sets a label as a person. Setting it again changes nothing and sends no event.
func (p Place) Label(number int, label, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		return p.s.label(w, r, pr, label, as)
	})
}

// Unlabel removes a label as a person.
func (p Place) Unlabel(number int, label, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		return p.s.unlabel(w, r, pr, label, as)
	})
}

// Close closes a pull request as a person.
func (p Place) Close(number int, as string) error { return p.setOpen(number, false, as) }

// Reopen reopens a closed pull request as a person. A merged one, or one whose branch was deleted, stays closed.
func (p Place) Reopen(number int, as string) error { return p.setOpen(number, true, as) }

func (p Place) setOpen(number int, open bool, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		return p.s.setOpen(w, r, pr, open, as)
	})
}

// Push gives a pull request a new head, as its author's push does.
func (p Place) Push(number int, as string) error { return p.PushFile(number, "", "", as) }

// HoldFiles makes the files of a folder on the default branch these, unless the branch has the folder already.
func (p Place) HoldFiles(folder string, files map[string]string) error {
	return p.do(func(_ *world, r *repository) ([]Event, error) {
		all := maps.Clone(r.Commits[r.Branches[Branch]])
		for path := range all {
			if strings.HasPrefix(path, folder+"/") {
				return nil, nil
			}
		}
		for path, content := range files {
			all = withFile(all, folder+"/"+path, content)
		}
		r.commit(Branch, all)
		return nil, nil
	})
}

// PushFile pushes a commit that writes one file; with an empty path the commit changes nothing.
func (p Place) PushFile(number int, path, content, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		must.EndIf(pr.BranchGone, errInvalid)
		before := pr.HeadSHA
		pr.Pushes++
		pr.HeadSHA = commitID(r.Name, number, pr.Pushes)
		r.Commits[pr.HeadSHA] = maps.Clone(r.Commits[before])
		if path != "" {
			r.Commits[pr.HeadSHA] = withFile(r.Commits[before], path, content)
		}
		var events []Event
		if !pr.Fork() { // a push to a fork is an event of the fork
			events = append(events, p.s.pushed(w, r, pr.HeadRef, before, pr.HeadSHA, cmp.Or(path, "Empty commit"), as))
		}
		if !pr.Open {
			return events, nil // the branch moves; a closed pull request gets no event
		}
		pr.touch(p.s.now())
		e := p.s.event(w, r, "synchronize", as, pr)
		e.Before = before
		return append(events, e), nil
	})
}

// pushed is the event of a commit that came to a branch.
func (s *Server) pushed(w *world, r *repository, branch, before, after, message, as string) Event {
	return Event{
		Name: "push", Sender: as, Branch: branch, Before: before, After: after, Message: message, Paths: between(r, before, after),
		At: s.moment(), scene: w.scene(s, r),
	}
}

// Commit adds a commit that writes one file to the default branch.
func (p Place) Commit(path, content string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		before := r.Branches[Branch]
		after := r.commit(Branch, withFile(r.Commits[before], path, content))
		return []Event{p.s.pushed(w, r, Branch, before, after, "Update "+path, "maya")}, nil
	})
}

// Comment writes a comment as a person, or as the Bot, and returns its id.
func (p Place) Comment(number int, body, as string) (int64, error) {
	var id int64
	err := p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		c, events, err := p.s.comment(w, r, pr, body, as)
		if err == nil {
			id = c.ID
		}
		return events, err
	})
	return id, err
}

// CommentByApp writes a comment that an App makes with the author's token, which GitHub shows as the author's.
// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-with-a-github-app-on-behalf-of-a-user
func (p Place) CommentByApp(number int, body, as string) error {
	return p.onPull(number, func(w *world, r *repository, pr *PullRequest) ([]Event, error) {
		c, _ := must.Get2(p.s.comment(w, r, pr, body, as))
		c.ByApp = true
		return []Event{p.s.commentEvent(w, r, "created", as, c)}, nil
	})
}

// ReplyByMail answers a comment by mail: below the text stands what the mail program adds.
func (p Place) ReplyByMail(id int64, text string, with replymail.Program, as string) (int64, error) {
	answered := p.find(id)
	if answered == nil {
		return 0, errNotFound
	}
	return p.Comment(answered.Number, with.Reply(text, answered.Body, answered.Author), as)
}

// EditComment changes a comment as a person.
func (p Place) EditComment(id int64, body, as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) { return p.s.recomment(w, r, id, body, as) })
}

// DeleteComment deletes a comment as a person.
func (p Place) DeleteComment(id int64, as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) { return p.s.uncomment(w, r, id, as) })
}

func (s *Server) event(w *world, r *repository, action, as string, pr *PullRequest) Event {
	return Event{
		Name: "pull_request", Action: action, Sender: as, PR: w.snapshot(r, pr),
		Comments: len(r.conversation(pr.Number)), scene: w.scene(s, r),
	}
}

func (s *Server) label(w *world, r *repository, pr *PullRequest, label, as string) ([]Event, error) {
	label = strings.TrimSpace(label)
	if label == "" || len([]rune(label)) > 50 {
		return nil, errInvalid
	}
	if pr.Has(label) {
		return nil, nil
	}
	if known := r.label(label); known != nil {
		label = known.Name
	} else {
		r.Labels = append(r.Labels, plainLabel(label)) // GitHub creates a label that it does not know
	}
	pr.Labels = append(pr.Labels, label)
	pr.Labelings = append(pr.Labelings, Labeling{label, as, s.now().UTC().Truncate(time.Second)})
	pr.touch(s.now())
	e := s.event(w, r, "labeled", as, pr)
	e.Label = label
	return []Event{e}, nil
}

func (s *Server) unlabel(w *world, r *repository, pr *PullRequest, label, as string) ([]Event, error) {
	i := slices.IndexFunc(pr.Labels, func(l string) bool { return strings.EqualFold(l, label) })
	if i < 0 {
		return nil, errNotFound
	}
	label = pr.Labels[i]
	pr.Labels = slices.Delete(pr.Labels, i, i+1)
	pr.touch(s.now())
	e := s.event(w, r, "unlabeled", as, pr)
	e.Label = label
	return []Event{e}, nil
}

func (s *Server) setOpen(w *world, r *repository, pr *PullRequest, open bool, as string) ([]Event, error) {
	if pr.Open == open {
		return nil, nil
	}
	if open && (pr.Merged || pr.BranchGone) {
		return nil, errInvalid
	}
	action := "reopened"
	pr.Open, pr.ClosedAt = open, nil
	pr.touch(s.now())
	if !open {
		action = "closed"
		closed := pr.UpdatedAt
		pr.ClosedAt = &closed
	}
	return []Event{s.event(w, r, action, as, pr)}, nil
}

func (s *Server) comment(w *world, r *repository, pr *PullRequest, body, as string) (*Comment, []Event, error) {
	if !goodBody(body) {
		return nil, nil, errInvalid
	}
	now := s.now().UTC().Truncate(time.Second)
	c := &Comment{
		ID: w.id(), Number: pr.Number, Author: as, Association: w.association(r, as, false), Body: body, CreatedAt: now, UpdatedAt: now,
	}
	r.Comments = append(r.Comments, c)
	s.fresh(r.ID, c.ID)
	pr.touch(s.now())
	return c, []Event{s.commentEvent(w, r, "created", as, c)}, nil
}

func (s *Server) recomment(w *world, r *repository, id int64, body, as string) (_ []Event, err error) {
	defer must.Catch(&err)
	c := r.comment(id)
	must.EndIf(c == nil, errNotFound)
	must.EndIf(!goodBody(body), errInvalid)
	old := c.Body
	c.Body, c.UpdatedAt = body, s.now().UTC().Truncate(time.Second)
	c.Edits++
	e := s.commentEvent(w, r, "edited", as, c)
	e.OldBody = old
	return []Event{e}, nil
}

func goodBody(body string) bool { return strings.TrimSpace(body) != "" && len([]rune(body)) <= 65536 }

func (s *Server) uncomment(w *world, r *repository, id int64, as string) ([]Event, error) {
	c := r.comment(id)
	if c == nil {
		return nil, errNotFound
	}
	r.Comments = slices.DeleteFunc(r.Comments, func(other *Comment) bool { return other.ID == id })
	return []Event{s.commentEvent(w, r, "deleted", as, c)}, nil
}

func (s *Server) commentEvent(w *world, r *repository, action, as string, c *Comment) Event {
	e := s.event(w, r, action, as, r.pull(c.Number))
	e.Name, e.Comment = "issue_comment", copyComment(c)
	return e
}
