package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/internal/blockkit"
)

// screen is a workspace that shows forms and Homes as Slack's clients do: a form has a hash that changes with every update, and a field
// keeps what was entered in it as long as its block_id stays. What breaks Block Kit's limits fails the test.
type screen struct {
	*workspace
	t     *testing.T
	open  []*form
	homes map[string]string // what each person's Home shows, as JSON
	shown int               // Homes shown so far

	homeless error // the answer to every Home; nil: it is shown
}

// form is an open form.
type form struct {
	id       string
	external string
	updates  int
	closed   bool
	view     api.ModalViewRequest
	raw      string
	entered  map[string]string // by block_id
}

func (f *form) hash() string { return fmt.Sprintf("%s.%d", f.id, f.updates) }

// show replaces what the form shows, and keeps what was entered.
func (f *form) show(t *testing.T, view api.ModalViewRequest) {
	t.Helper()
	raw, err := json.Marshal(view)
	require.NoError(t, err)
	require.Empty(t, blockkit.View(raw), string(raw))
	var blocks struct {
		Blocks []struct {
			ID      string `json:"block_id"`
			Type    string `json:"type"`
			Element struct {
				Value  string `json:"initial_value"`
				Option *struct {
					Value string `json:"value"`
				} `json:"initial_option"`
				Options []struct {
					Value string `json:"value"`
				} `json:"initial_options"`
				Conversation string `json:"initial_conversation"`
				User         string `json:"initial_user"`
			} `json:"element"`
		} `json:"blocks"`
	}
	require.NoError(t, json.Unmarshal(raw, &blocks))
	entered := map[string]string{}
	for _, b := range blocks.Blocks {
		if b.Type != "input" {
			continue
		}
		value := b.Element.Value + b.Element.Conversation + b.Element.User
		if b.Element.Option != nil {
			value = b.Element.Option.Value
		}
		var chosen []string
		for _, o := range b.Element.Options {
			chosen = append(chosen, o.Value)
		}
		value += strings.Join(chosen, ",")
		if before, kept := f.entered[b.ID]; kept {
			value = before
		}
		entered[b.ID] = value
	}
	f.view, f.raw, f.entered = view, string(raw), entered
}

// block returns the id of the block of a field.
func (f *form) block(t *testing.T, field string) string {
	t.Helper()
	for id := range f.entered {
		if name, _, _ := strings.Cut(id, ":"); name == field {
			return id
		}
	}
	require.Fail(t, "the form has no field "+field, f.raw)
	return ""
}

func (s *screen) OpenForm(_ context.Context, trigger string, view api.ModalViewRequest) (string, error) {
	if !s.triggers[trigger] {
		return "", fmt.Errorf("%w (expired_trigger_id)", slack.ErrExpired)
	}
	delete(s.triggers, trigger)
	f := &form{id: fmt.Sprintf("V%d", len(s.open)+1), external: view.ExternalID}
	f.show(s.t, view)
	s.open = append(s.open, f)
	return f.id, nil
}

func (s *screen) ReplaceWindow(_ context.Context, external string, view api.ModalViewRequest) error {
	for _, f := range s.open {
		if f.external == external && external != "" && !f.closed {
			f.updates++
			f.show(s.t, view)
			return nil
		}
	}
	return fmt.Errorf("%w (not_found)", slack.ErrGone)
}

func (s *screen) UpdateForm(_ context.Context, id, hash string, view api.ModalViewRequest) error {
	for _, f := range s.open {
		if f.id == id && !f.closed && (hash == "" || hash == f.hash()) {
			f.updates++
			f.show(s.t, view)
			return nil
		}
	}
	return fmt.Errorf("%w (not_found or hash_conflict)", slack.ErrGone)
}

func (s *screen) ShowHome(_ context.Context, person string, home api.HomeTabViewRequest) error {
	if s.homeless != nil {
		return s.homeless
	}
	raw, err := json.Marshal(home)
	require.NoError(s.t, err)
	require.Empty(s.t, blockkit.View(raw), string(raw))
	s.homes[person] = string(raw)
	s.shown++
	return nil
}

// onScreen is a fixture with a screen.
type onScreen struct {
	*fixture
	*screen
}

func screened(t *testing.T) *onScreen {
	t.Helper()
	return screenedWith(ours(t))
}

// screenedWith puts a screen before a fixture.
func screenedWith(h *fixture) *onScreen {
	h.Helper()
	s := &onScreen{h, &screen{workspace: h.workspace, t: h.T, homes: map[string]string{}}}
	s.again()
	return s
}

// again begins a new process, with the same screen.
func (h *onScreen) again() {
	c := h.Config()
	core := app.New(c)
	h.service = slackapp.New(core, credentials.New(core, c), admin.New(core, c), h.screen, c)
}

// request is a request of a person, with an id of its own.
func (h *onScreen) request(kind inbound.Kind, user string) inbound.Request {
	h.commands++
	return inbound.Request{Kind: kind, ID: fmt.Sprintf("13345224610.%d", h.commands), Workspace: "T1", User: user, Name: strings.ToLower(user[1:])}
}

func (h *onScreen) handle(r inbound.Request) (note string) {
	h.Helper()
	require.NoError(h, h.service.OpenWindow(h.Context(), r))
	note, err := h.service.Handle(h.Context(), r)
	require.NoError(h, err)
	return note
}

// opened has a person use a shortcut, and returns the form that it opens.
func (h *onScreen) opened(user, action, channel, text string) *form {
	h.Helper()
	before := len(h.open)
	r := h.request(inbound.Shortcut, user)
	r.Action, r.Channel, r.Text, r.Trigger = action, channel, text, r.ID
	h.triggers[r.ID] = true
	note := h.handle(r)
	require.Len(h, h.open, before+1, note)
	return h.open[before]
}

// with returns a request about a form, as Slack sends it now.
func (h *onScreen) with(kind inbound.Kind, user string, f *form) inbound.Request {
	r := h.request(kind, user)
	r.View = &inbound.View{ID: f.id, Hash: f.hash(), Callback: f.view.CallbackID, Metadata: f.view.PrivateMetadata, Values: map[string]map[string]string{}}
	for block, value := range f.entered {
		r.View.Values[block] = map[string]string{block: value}
	}
	return r
}

// enters has the person enter something in a field. It is sent only if the field says so.
func (h *onScreen) enters(f *form, field, value string) {
	h.Helper()
	f.entered[f.block(h.T, field)] = value
}

// changes has the person change a field that is sent at once.
func (h *onScreen) changes(user string, f *form, field, value string) string {
	h.Helper()
	h.enters(f, field, value)
	r := h.with(inbound.Change, user, f)
	r.Action, r.Value = f.block(h.T, field), value
	return h.handle(r)
}

// submits has the person submit a form: the immediate answer replaces it with one that says to wait.
func (h *onScreen) submits(user string, f *form) (r inbound.Request, note string) {
	h.Helper()
	r = h.with(inbound.Submission, user, f)
	f.updates++
	f.show(h.T, blocks.Working("Create a cluster"))
	require.Empty(h, f.entered)
	return r, h.handle(r)
}

// answers returns the replies to a request.
func (h *onScreen) answers(r inbound.Request) []string {
	h.Helper()
	return h.Query(`SELECT body FROM replies WHERE cause = $1`, "slack:T1:"+r.ID)
}
