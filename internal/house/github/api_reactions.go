package github

import (
	"net/http"
	"slices"
)

func (s *Server) reactionShape(id int64, kind, login string) object {
	return object{
		"id": id*10 + int64(slices.Index(reactionKinds, kind)), "node_id": nodeID("REA", id), "content": kind,
		"user": userShape(login, s.base), "created_at": stamp(s.now()),
	}
}

func (s *Server) listReactions(w http.ResponseWriter, r *http.Request, _ caller) {
	all, found := []object{}, false
	s.look(func(world *world) {
		c := world.comment(id(r, "id"))
		if found = c != nil; !found {
			return
		}
		for _, kind := range reactionKinds {
			for _, login := range c.Reactions[kind] {
				all = append(all, s.reactionShape(c.ID, kind, login))
			}
		}
	})
	if !found {
		notFound(w)
		return
	}
	page(w, r, s.base, all, nil)
}

// postReaction answers 201 for a new reaction and 200 for one that was there.
func (s *Server) postReaction(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct{ Content string }
	if !decode(w, r, &body) {
		return
	}
	if !slices.Contains(reactionKinds, body.Content) {
		invalid(w, "Reaction", "content", "invalid")
		return
	}
	status := http.StatusCreated
	err := s.change(func(world *world) ([]Event, error) {
		found := world.comment(id(r, "id"))
		if found == nil {
			return nil, errNotFound
		}
		if slices.Contains(found.Reactions[body.Content], c.login) {
			status = http.StatusOK
			return nil, nil
		}
		if found.Reactions == nil {
			found.Reactions = map[string][]string{}
		}
		found.Reactions[body.Content] = append(found.Reactions[body.Content], c.login)
		return nil, nil
	})
	if err != nil {
		fail(w, err, "Reaction", "content")
		return
	}
	answer(w, status, s.reactionShape(id(r, "id"), body.Content, c.login))
}
