package github

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Press clicks a button of a check run as a person, who needs write permission.
func (p Place) Press(check int64, identifier, as string) error {
	return p.onCheck(check, as, func(w *world, r *repository, c *Check) ([]Event, error) {
		offered := slices.ContainsFunc(c.Actions, func(a CheckAction) bool { return a.Identifier == identifier })
		must.EndIf(!offered, errNotFound)
		e := p.s.checkEvent(w, r, "requested_action", as, c)
		e.Button = identifier
		return []Event{e}, nil
	})
}

// Rerun requests a check run again as a person. GitHub does not change the run; the App does.
func (p Place) Rerun(check int64, as string) error {
	return p.onCheck(check, as, func(w *world, r *repository, c *Check) ([]Event, error) {
		return []Event{p.s.checkEvent(w, r, "rerequested", as, c)}, nil
	})
}

func (p Place) onCheck(id int64, as string, fn func(w *world, r *repository, c *Check) ([]Event, error)) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		c := r.check(id)
		must.EndIf(c == nil, errNotFound)
		must.EndIf(!r.may(caller{login: as}, "write"), errMayNot)
		return fn(w, r, c)
	})
}

func (s *Server) checkEvent(w *world, r *repository, action, as string, c *Check) Event {
	return Event{Name: "check_run", Action: action, Sender: as, Check: *c, OnHead: w.onHead(r, c.Head), scene: w.scene(s, r)}
}

// onHead returns the open pull requests with a head, from branches of the repository.
func (w *world) onHead(r *repository, sha string) []PullRequest {
	var out []PullRequest
	for _, pr := range r.Pulls {
		if pr.Open && pr.HeadSHA == sha && !pr.Fork() {
			out = append(out, w.snapshot(r, pr))
		}
	}
	return out
}

// Dispatch sends a repository_dispatch as a person.
func (p Place) Dispatch(kind string, payload json.RawMessage, as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		return []Event{{Name: "repository_dispatch", Action: kind, Sender: as, Client: payload, scene: w.scene(p.s, r)}}, nil
	})
}

// Rename renames the repository with the same owner. Requests for the old name are redirected.
func (p Place) Rename(name, as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		_, old := RepoRef{Name: r.Name}.split()
		taken, moved := w.repo(r.owner() + "/" + name)
		must.EndIf(taken != nil && !moved || name == "", errInvalid)
		r.Old, r.Name = append(r.Old, r.Name), r.owner()+"/"+name
		return []Event{{Name: "repository", Action: "renamed", Sender: as, OldName: old, scene: w.scene(p.s, r)}}, nil
	})
}

// Transfer moves the repository to another owner, for whom the App is not installed.
func (p Place) Transfer(owner, as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		was, before := r.Name, w.scene(p.s, r)
		_, name := before.repo.split()
		r.Old, r.Name = append(r.Old, was), owner+"/"+name
		moved := Event{Name: "repository", Action: "transferred", Sender: as, OldName: was, scene: w.scene(p.s, r)}
		if !r.Access {
			return nil, nil
		}
		gone := Event{Name: "installation_repositories", Action: "removed", Sender: as, Repos: []RepoRef{before.repo}, scene: before}
		return p.s.outgoing(w, r, moved, gone)
	})
}

// outgoing sends the events of a repository that leaves the installation, then removes it: the App gets these as its last ones.
func (s *Server) outgoing(w *world, r *repository, events ...Event) ([]Event, error) {
	for i := range events {
		events[i].leaving = true
		events[i].in = w.Install
	}
	r.Access = false
	return events, nil
}

// Archive makes the repository read-only.
func (p Place) Archive(as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		r.Archived = true
		return []Event{{Name: "repository", Action: "archived", Sender: as, scene: w.scene(p.s, r)}}, nil
	})
}

// Delete deletes the repository and everything in it.
func (p Place) Delete(as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		r.Gone = true
		return []Event{{Name: "repository", Action: "deleted", Sender: as, scene: w.scene(p.s, r)}}, nil
	})
}

// SetAccess adds the repository to the App's installation, or removes it.
func (p Place) SetAccess(access bool, as string) error {
	return p.do(func(w *world, r *repository) ([]Event, error) {
		must.EndIf(w.Install == nil, errNotFound)
		if r.Access == access {
			return nil, nil
		}
		sc := w.scene(p.s, r)
		e := Event{Name: "installation_repositories", Action: "added", Sender: as, Repos: []RepoRef{sc.repo}, scene: sc, in: w.Install}
		if !access {
			e.Action = "removed"
			return p.s.outgoing(w, r, e)
		}
		r.Access = true
		return []Event{e}, nil
	})
}

// Uninstall removes the App from the organisation; its tokens are invalid at once.
func (s *Server) Uninstall(as string) error {
	return s.change(func(w *world) ([]Event, error) {
		must.EndIf(w.Install == nil, errNotFound)
		e := s.installEvent(w, "deleted", as)
		w.Install = nil
		clear(w.Tokens)
		return []Event{e}, nil
	})
}

// Install installs the App again, with a new id, for the same repositories.
func (s *Server) Install(as string) (id int64, err error) {
	err = s.change(func(w *world) ([]Event, error) {
		must.EndIf(w.Install != nil, errInvalid)
		w.Installs++
		w.Install = &installation{ID: Installation + w.Installs, CreatedAt: s.now().UTC().Truncate(time.Second)}
		id = w.Install.ID
		return []Event{s.installEvent(w, "created", as)}, nil
	})
	return id, err
}

// Suspend suspends the App until Unsuspend.
func (s *Server) Suspend(as string) error {
	return s.change(func(w *world) ([]Event, error) {
		must.EndIf(w.Install == nil || w.Install.SuspendedAt != nil, errInvalid)
		now := s.now().UTC().Truncate(time.Second)
		w.Install.SuspendedAt, w.Install.SuspendedBy = &now, as
		return []Event{s.installEvent(w, "suspend", as)}, nil
	})
}

// Unsuspend ends a suspension.
func (s *Server) Unsuspend(as string) error {
	return s.change(func(w *world) ([]Event, error) {
		must.EndIf(w.Install == nil || w.Install.SuspendedAt == nil, errInvalid)
		w.Install.SuspendedAt, w.Install.SuspendedBy = nil, ""
		return []Event{s.installEvent(w, "unsuspend", as)}, nil
	})
}

func (s *Server) installEvent(w *world, action, as string) Event {
	now := *w.Install
	e := Event{Name: "installation", Action: action, Sender: as, in: &now, leaving: true, scene: w.scene(s, nil)}
	for _, r := range w.Repos {
		if r.Access && !r.Gone {
			e.Repos = append(e.Repos, RepoRef{ID: r.ID, Name: r.Name, Private: r.Private})
		}
	}
	return e
}

// SetManifest sets the App's permissions and events from now on.
func (s *Server) SetManifest(m Manifest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.app = m
}
