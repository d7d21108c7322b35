package play

import (
	"encoding/json"
	"html/template"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

// node is a block as the templates show it.
type node struct {
	Type        string
	HTML        template.HTML   // header, section
	Fields      []template.HTML // section
	Texts       []aside         // context
	Controls    []control       // actions, input, a section's accessory
	Label, Hint string          // input
	Optional    bool
	Error       string // what the app says about this input
	Image, Alt  string
}

// aside is an element of a context block.
type aside struct {
	HTML       template.HTML
	Image, Alt string
}

// control is an element to act on.
type control struct {
	spot
	At                string // the message or view in which it is
	Type, ID          string // ID: block_id/action_id
	Text, URL, Style  string // of a button
	Value             string // of a text
	Placeholder       string
	Options           []option
	Multiple, InView  bool
	Live              bool // the app hears of every change
	Area              bool // a text of several lines
	Required, Invalid bool
	Max               int
	Confirm           *confirm
}

type option struct {
	Value       string
	Text        string
	Description string
	Chosen      bool
}

type confirm struct {
	Title, OK, Deny, Style string
	HTML                   template.HTML
}

// sheet is a view as the templates show it.
type sheet struct {
	spot
	*slack.View
	Nodes []node
	Key   string // changes when the app or Slack changed the view, and not while a person types
}

func (v *viewer) sheet(of *slack.View) *sheet {
	if of == nil {
		return nil
	}
	errors, _ := json.Marshal(of.Errors) // strings
	return &sheet{v.at, of, v.nodes(of.Blocks, of.ID, of.State, of.Errors), of.ID + of.Hash + string(errors) + of.Trouble}
}

// The part of Block Kit that is shown.
type (
	text struct {
		Type string
		Text string
	}
	choice struct {
		Text        text
		Value       string
		Description text
	}
	element struct {
		Type        string
		Action      string `json:"action_id"`
		Text        json.RawMessage
		URL         string
		Style       string
		Multiline   bool
		Max         int `json:"max_length"`
		Placeholder text
		Options     []choice
		Image       string `json:"image_url"`
		Alt         string `json:"alt_text"`
		Confirm     *struct {
			Title, Text, Confirm, Deny text
			Style                      string
		}
	}
	block struct {
		Type      string
		ID        string `json:"block_id"`
		Text      text
		Fields    []text
		Accessory *element
		Elements  []element
		Element   *element
		Label     text
		Hint      text
		Optional  bool
		Dispatch  bool   `json:"dispatch_action"`
		Image     string `json:"image_url"`
		Alt       string `json:"alt_text"`
	}
)

func (v *viewer) words(t text) template.HTML {
	if t.Type == "mrkdwn" {
		return v.mrkdwn(t.Text)
	}
	return template.HTML(template.HTMLEscapeString(withEmoji(t.Text))) // escaped
}

// withEmoji replaces the short names of emoji in a plain text.
func withEmoji(s string) string {
	for name, e := range emoji {
		s = strings.ReplaceAll(s, ":"+name+":", e)
	}
	return s
}

// nodes renders blocks. State nil: they are a message's.
func (v *viewer) nodes(raw json.RawMessage, at string, state map[string]map[string]map[string]any, errors map[string]string) (list []node) {
	var blocks []block
	if len(raw) == 0 || json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		n := node{Type: b.Type, HTML: v.words(b.Text), Label: withEmoji(b.Label.Text), Hint: withEmoji(b.Hint.Text), Optional: b.Optional, Error: errors[b.ID], Image: b.Image, Alt: b.Alt}
		for _, f := range b.Fields {
			n.Fields = append(n.Fields, v.words(f))
		}
		controls := []*element{b.Accessory, b.Element}
		for i, e := range b.Elements {
			if b.Type == "context" {
				n.Texts = append(n.Texts, v.aside(e))
				continue
			}
			controls = append(controls, &b.Elements[i])
		}
		for _, e := range controls {
			if e == nil {
				continue
			}
			if e.Type == "image" {
				n.Image, n.Alt = e.Image, e.Alt
				continue
			}
			c := v.control(b, *e, at, state[b.ID][e.Action], state != nil)
			c.Invalid = n.Error != ""
			n.Controls = append(n.Controls, c)
		}
		list = append(list, n)
	}
	return list
}

// aside renders an element of a context block, in which text is a string and not an object.
func (v *viewer) aside(e element) aside {
	if e.Type == "image" {
		return aside{Image: e.Image, Alt: e.Alt}
	}
	var said string
	if json.Unmarshal(e.Text, &said) != nil {
		return aside{}
	}
	return aside{HTML: v.words(text{e.Type, said})}
}

func (v *viewer) control(b block, e element, at string, state map[string]any, inView bool) control {
	var label text
	if len(e.Text) > 0 && json.Unmarshal(e.Text, &label) != nil {
		label = text{}
	}
	c := control{
		spot: v.at, At: at, Type: e.Type, ID: b.ID + "/" + e.Action, Text: withEmoji(label.Text), URL: e.URL, Style: e.Style, Placeholder: e.Placeholder.Text,
		Multiple: strings.HasPrefix(e.Type, "multi_"), InView: inView, Live: b.Type != "input" || b.Dispatch, Area: e.Multiline, Max: e.Max,
		Required: b.Type == "input" && !b.Optional,
	}
	if e.Confirm != nil {
		c.Confirm = &confirm{e.Confirm.Title.Text, e.Confirm.Confirm.Text, e.Confirm.Deny.Text, e.Confirm.Style, v.words(e.Confirm.Text)}
	}
	chosen := current(state)
	if e.Type == "plain_text_input" && len(chosen) > 0 {
		c.Value = chosen[0]
	}
	for _, o := range v.options(e) {
		o.Chosen = slices.Contains(chosen, o.Value)
		c.Options = append(c.Options, o)
	}
	return c
}

// options are what can be chosen in an element.
func (v *viewer) options(e element) (list []option) {
	switch strings.TrimPrefix(e.Type, "multi_") {
	case "users_select":
		for _, p := range v.people {
			if !p.Deactivated {
				list = append(list, option{Value: p.ID, Text: "@" + p.Login})
			}
		}
	case "channels_select", "conversations_select":
		for _, c := range v.channels {
			if c.Direct == "" && !c.Archived {
				list = append(list, option{Value: c.ID, Text: "#" + c.Name})
			}
		}
	default:
		for _, o := range e.Options {
			list = append(list, option{Value: o.Value, Text: withEmoji(o.Text.Text), Description: withEmoji(o.Description.Text)})
		}
	}
	return list
}

// current returns what is entered or chosen in a field.
func current(state map[string]any) (list []string) {
	add := func(v any) {
		switch v := v.(type) {
		case string:
			if v != "" {
				list = append(list, v)
			}
		case map[string]any:
			if s, ok := v["value"].(string); ok {
				list = append(list, s)
			}
		}
	}
	for key, v := range state {
		several, ok := v.([]any)
		switch {
		case key == "type":
		case ok:
			for _, one := range several {
				add(one)
			}
		default:
			add(v)
		}
	}
	return list
}
