package slack

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
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

// exchange takes a trigger, which is possible once. Otherwise it ends the call. Under the lock.
func (s *Server) exchange(id string) (person string) {
	t := s.triggers[id]
	must.EndIf(id == "", invalidArguments("missing required field: trigger_id"))
	must.EndIf(!triggerID.MatchString(id) || t == nil, no("invalid_trigger_id"))
	must.EndIf(t.used, no("exchanged_trigger_id"))
	must.EndIf(s.cfg.Now().Sub(t.issued) > triggerLife, no("expired_trigger_id"))
	return t.person
}

func invalidArguments(why string) reply {
	return reply{"ok": false, "error": "invalid_arguments", "response_metadata": reply{"messages": []string{"[ERROR] " + why}}}
}

func (s *Server) viewOpen(a args) reply {
	raw := definition(a, "modal")
	person := s.exchange(a["trigger_id"])
	must.EndIf(s.taken(raw, nil), no("duplicate_external_id"))
	s.triggers[a["trigger_id"]].used = true
	s.closeViews(func(v *View) bool { return v.Person == person })
	return s.shown(s.push(person, raw))
}

func (s *Server) viewUpdate(a args) reply {
	v := s.view(a["view_id"], a["external_id"])
	must.EndIf(a["view_id"] == "" && a["external_id"] == "", no("invalid_arguments"))
	must.EndIf(v == nil, no("not_found"))
	raw := definition(a, v.Type)
	must.EndIf(a["hash"] != "" && a["hash"] != v.Hash, no("hash_conflict"))
	must.EndIf(s.taken(raw, v), no("duplicate_external_id"))
	v.read(s, raw)
	return s.shown(v)
}

func (s *Server) viewPublish(a args) reply {
	raw := definition(a, "home")
	p, ok := find(s.world.People, a["user_id"])
	must.EndIf(!ok || p.ID != a["user_id"] || p.Deactivated || p.Bot, no("user_not_found"))
	v := s.world.Homes[p.ID]
	must.EndIf(a["hash"] != "" && (v == nil || a["hash"] != v.Hash), no("hash_conflict"))
	must.EndIf(s.taken(raw, v), no("duplicate_external_id"))
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
	must.Do(s.save())
	return reply{"ok": true, "view": v.object()}
}
