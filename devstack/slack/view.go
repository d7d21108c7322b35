package slack

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/blockkit"
)

// View is a modal or an App Home as a person sees it.
type View struct {
	ID, Person, Type     string
	Callback, ExternalID string
	Hash                 string
	Metadata             string // its private_metadata
	Root, Previous       string // ids of the views below it
	Title, Submit, Close string
	Blocks               json.RawMessage
	State                values
	Errors               map[string]string // what the app says about fields, by block_id
	Trouble              string            // why a submission failed
	ClearOnClose, Notify bool
}

// mostViews is how many modals can lie above each other. https://docs.slack.dev/surfaces/modals
const mostViews = 3

// read takes over a view's definition, which is valid.
func (v *View) read(s *Server, raw []byte) {
	var given struct {
		Type          string          `json:"type"`
		CallbackID    string          `json:"callback_id"`
		ExternalID    string          `json:"external_id"`
		Metadata      string          `json:"private_metadata"`
		Title         any             `json:"title"`
		Submit        any             `json:"submit"`
		Close         any             `json:"close"`
		Blocks        json.RawMessage `json:"blocks"`
		ClearOnClose  bool            `json:"clear_on_close"`
		NotifyOnClose bool            `json:"notify_on_close"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		panic(err) // checked before
	}
	_, stamp := s.stamp()
	v.Type, v.Callback, v.ExternalID, v.Metadata, v.Hash = given.Type, given.CallbackID, given.ExternalID, given.Metadata, stamp+"."+random(8)
	v.Title, v.Submit, v.Close = words(given.Title), words(given.Submit), words(given.Close)
	v.ClearOnClose, v.Notify = given.ClearOnClose, given.NotifyOnClose
	v.Blocks = identified(given.Blocks)
	v.State = initial(decode(v.Blocks), v.State)
	v.Errors, v.Trouble = nil, ""
}

// object returns the view as the Web API and interactions describe it.
// https://docs.slack.dev/reference/views/modal-views
func (v *View) object() object {
	text := func(t string) any {
		if t == "" {
			return nil
		}
		return object{"type": "plain_text", "text": t, "emoji": true}
	}
	null := func(id string) any {
		if id == "" {
			return nil
		}
		return id
	}
	title := text(v.Title)
	if v.Type == "home" {
		title = object{"type": "plain_text", "text": "View Title", "emoji": true}
	}
	return object{
		"id": v.ID, "team_id": Workspace, "type": v.Type, "blocks": v.Blocks, "private_metadata": v.Metadata, "callback_id": v.Callback,
		"state": object{"values": v.State}, "hash": v.Hash, "title": title, "clear_on_close": v.ClearOnClose, "notify_on_close": v.Notify,
		"close": text(v.Close), "submit": text(v.Submit), "previous_view_id": null(v.Previous), "root_view_id": v.Root, "app_id": App,
		"external_id": v.ExternalID, "app_installed_team_id": Workspace, "bot_id": botID,
	}
}

// stack returns the modals that a person sees, the newest last, under the lock.
func (s *Server) stack(person string) (list []*View) {
	for _, v := range s.world.Modals {
		if v.Person == person {
			list = append(list, v)
		}
	}
	return list
}

// view finds a view that somebody sees, by id or external id, under the lock.
func (s *Server) view(id, external string) *View {
	for _, v := range append(slices.Collect(maps.Values(s.world.Homes)), s.world.Modals...) {
		if id != "" && v.ID == id || id == "" && external != "" && v.ExternalID == external {
			return v
		}
	}
	return nil
}

// closeViews removes modals, under the lock.
func (s *Server) closeViews(gone func(*View) bool) {
	s.world.Modals = slices.DeleteFunc(s.world.Modals, gone)
}

// push puts a new modal on top of what a person sees, under the lock.
func (s *Server) push(person string, raw []byte) *View {
	v := &View{ID: "V" + id(10), Person: person}
	v.Root = v.ID
	if below := s.stack(person); len(below) > 0 {
		v.Root, v.Previous = below[0].ID, below[len(below)-1].ID
	}
	v.read(s, raw)
	s.world.Modals = append(s.world.Modals, v)
	return v
}

// Modal returns the modal that a person sees; nil: none.
func (s *Server) Modal(who string) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _ := find(s.world.People, who)
	if stack := s.stack(p.ID); len(stack) > 0 {
		return stack[len(stack)-1].copy()
	}
	return nil
}

// Home returns the App Home that a person sees; nil: the app published none.
func (s *Server) Home(who string) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _ := find(s.world.People, who)
	if v := s.world.Homes[p.ID]; v != nil {
		return v.copy()
	}
	return nil
}

func (v *View) copy() *View {
	c := *v
	c.State, c.Errors = values{}, maps.Clone(v.Errors)
	for block, actions := range v.State {
		c.State[block] = maps.Clone(actions)
	}
	return &c
}

// definition reads and checks the view of a call. It ends a call without one that is valid.
func definition(a args, kind string) []byte {
	raw := []byte(a["view"])
	var given struct {
		Type string `json:"type"`
	}
	must.EndIf(len(raw) == 0, invalidArguments("missing required field: view"))
	must.EndIf(len(raw) > 250_000, no("view_too_large"))
	if refusal := wrong(blockkit.View(raw)); refusal != nil {
		refusal["error"] = "invalid_arguments" // as views are refused, unlike messages
		must.Do(refusal)
	}
	must.EndIf(json.Unmarshal(raw, &given) != nil || given.Type != kind, invalidArguments("the view must be of type "+strconv.Quote(kind)))
	return raw
}
