package slack

import (
	"encoding/json"
	"regexp"
	"time"
)

// triggerLife is how long a trigger opens a modal. https://docs.slack.dev/surfaces/modals
const triggerLife = 3 * time.Second

// trigger is what an interaction gives to the app, to open one modal.
type trigger struct {
	person string
	issued time.Time
	used   bool
}

var triggerID = regexp.MustCompile(`^\d+\.\d+\.[0-9a-f]+$`)

// newTrigger returns a trigger's id, under the lock.
func (s *Server) newTrigger(person string) string {
	for id, t := range s.triggers {
		if s.cfg.Now().Sub(t.issued) > time.Hour {
			delete(s.triggers, id)
		}
	}
	id := digits(13) + "." + digits(12) + "." + random(32)
	s.triggers[id] = &trigger{person: person, issued: s.cfg.Now()}
	return id
}

// exchange takes a trigger, which is possible once. Under the lock.
func (s *Server) exchange(id string) (person string, refusal reply) {
	t := s.triggers[id]
	switch {
	case id == "":
		return "", reply{"ok": false, "error": "invalid_arguments", "response_metadata": reply{"messages": []string{"[ERROR] missing required field: trigger_id"}}}
	case !triggerID.MatchString(id), t == nil:
		return "", no("invalid_trigger_id")
	case t.used:
		return "", no("exchanged_trigger_id")
	case s.cfg.Now().Sub(t.issued) > triggerLife:
		return "", no("expired_trigger_id")
	}
	return t.person, nil
}

func (s *Server) viewOpen(a args) reply {
	raw, refusal := definition(a, "modal")
	if refusal != nil {
		return refusal
	}
	person, refusal := s.exchange(a["trigger_id"])
	if refusal != nil {
		return refusal
	}
	if s.taken(raw, nil) {
		return no("duplicate_external_id")
	}
	s.triggers[a["trigger_id"]].used = true
	s.closeViews(func(v *View) bool { return v.Person == person })
	return s.shown(s.push(person, raw))
}

func (s *Server) viewUpdate(a args) reply {
	v := s.view(a["view_id"], a["external_id"])
	switch {
	case a["view_id"] == "" && a["external_id"] == "":
		return no("invalid_arguments")
	case v == nil:
		return no("not_found")
	}
	raw, refusal := definition(a, v.Type)
	switch {
	case refusal != nil:
		return refusal
	case a["hash"] != "" && a["hash"] != v.Hash:
		return no("hash_conflict")
	case s.taken(raw, v):
		return no("duplicate_external_id")
	}
	v.read(s, raw)
	return s.shown(v)
}

func (s *Server) viewPublish(a args) reply {
	raw, refusal := definition(a, "home")
	if refusal != nil {
		return refusal
	}
	p, ok := find(s.world.People, a["user_id"])
	if !ok || p.ID != a["user_id"] || p.Deactivated || p.Bot {
		return no("user_not_found")
	}
	v := s.world.Homes[p.ID]
	switch {
	case v == nil && a["hash"] != "", v != nil && a["hash"] != "" && a["hash"] != v.Hash:
		return no("hash_conflict")
	case s.taken(raw, v):
		return no("duplicate_external_id")
	}
	if v == nil {
		v = &View{ID: "V" + id(10), Person: p.ID}
		v.Root = v.ID
		s.world.Homes[p.ID] = v
	}
	v.read(s, raw)
	return s.shown(v)
}

// taken says whether another view has the external id.
func (s *Server) taken(raw []byte, but *View) bool {
	var given struct {
		ExternalID string `json:"external_id"`
	}
	other := (*View)(nil)
	if json.Unmarshal(raw, &given) == nil && given.ExternalID != "" {
		other = s.view("", given.ExternalID)
	}
	return other != nil && other != but
}

func (s *Server) shown(v *View) reply {
	if s.save() != nil {
		return no("internal_error")
	}
	return reply{"ok": true, "view": v.object()}
}
