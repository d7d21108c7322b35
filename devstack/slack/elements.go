package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// acting are the types of elements that people act on. https://docs.slack.dev/reference/block-kit/block-elements
var acting = []string{
	"button", "overflow", "plain_text_input", "checkboxes", "radio_buttons", "static_select", "users_select", "channels_select",
	"conversations_select", "multi_static_select", "multi_users_select", "multi_channels_select", "multi_conversations_select",
}

// object is a decoded JSON object.
type object = map[string]any

// decode reads blocks that are known to be valid.
func decode(raw json.RawMessage) (blocks []object) {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&blocks); err != nil {
		panic(err) // checked when they came
	}
	return blocks
}

// elementsOf returns a block's elements.
func elementsOf(block object) (list []object) {
	for _, key := range []string{"accessory", "element"} {
		if e, ok := block[key].(object); ok {
			list = append(list, e)
		}
	}
	more, _ := block["elements"].([]any)
	for _, e := range more {
		if e, ok := e.(object); ok {
			list = append(list, e)
		}
	}
	return list
}

// words returns the text of a text object.
func words(v any) string {
	o, _ := v.(object)
	text, _ := o["text"].(string)
	return text
}

func str(o object, key string) string {
	text, _ := o[key].(string)
	return text
}

// element finds what a person acts on: by block_id/action_id, by one of them, by what the person reads (a button's text or a field's
// label), or by a button's value.
func element(blocks []object, which string) (block, e object, err error) {
	var known []string
	for _, matches := range []func(b, e object) bool{
		func(b, e object) bool { return str(b, "block_id")+"/"+str(e, "action_id") == which },
		func(_, e object) bool { return str(e, "action_id") == which },
		func(b, e object) bool { return str(b, "block_id") == which },
		func(b, e object) bool { return words(e["text"]) == which || words(b["label"]) == which },
		func(_, e object) bool { return str(e, "value") == which },
	} {
		for _, b := range blocks {
			for _, e := range elementsOf(b) {
				if !slices.Contains(acting, str(e, "type")) {
					continue
				}
				if matches(b, e) {
					return b, e, nil
				}
				known = append(known, str(e, "action_id"))
			}
		}
	}
	slices.Sort(known)
	return nil, nil, fmt.Errorf("there is no button or field %q; there are %s", which, strings.Join(slices.Compact(known), ", "))
}

// stateless says that an element has no value in a view's state.
func stateless(e object) bool {
	return str(e, "type") == "button" || str(e, "type") == "overflow" || !slices.Contains(acting, str(e, "type"))
}

// values are the state of a message's or view's elements, by block and action.
type values map[string]map[string]object

// initial returns the state of elements that nobody changed. Values of elements that were there before are kept.
func initial(blocks []object, before values) values {
	now := values{}
	for _, b := range blocks {
		for _, e := range elementsOf(b) {
			if stateless(e) {
				continue
			}
			block, action := str(b, "block_id"), str(e, "action_id")
			value, kept := before[block][action]
			if !kept || str(value, "type") != str(e, "type") || !offered(e, value) {
				value = untouched(e)
			}
			if now[block] == nil {
				now[block] = map[string]object{}
			}
			now[block][action] = value
		}
	}
	return now
}

// field is the name of an element's value in a state.
func field(kind string) string {
	return map[string]string{
		"plain_text_input": "value", "static_select": "selected_option", "radio_buttons": "selected_option", "checkboxes": "selected_options",
		"multi_static_select": "selected_options", "users_select": "selected_user", "multi_users_select": "selected_users",
		"channels_select": "selected_channel", "multi_channels_select": "selected_channels", "conversations_select": "selected_conversation",
		"multi_conversations_select": "selected_conversations", "overflow": "selected_option",
	}[kind]
}

func untouched(e object) object {
	kind := str(e, "type")
	from := strings.Replace(field(kind), "selected_", "initial_", 1)
	if kind == "plain_text_input" {
		from = "initial_value"
	}
	value := e[from]
	if value == nil && strings.HasSuffix(from, "s") {
		value = []any{}
	}
	return object{"type": kind, field(kind): value}
}

// offered says whether what was chosen is still among an element's options.
func offered(e, value object) bool {
	options, _ := e["options"].([]any)
	if options == nil {
		return true
	}
	chosen, _ := value["selected_options"].([]any)
	if one, ok := value["selected_option"].(object); ok {
		chosen = append(chosen, one)
	}
	for _, c := range chosen {
		c, _ := c.(object)
		if !slices.ContainsFunc(options, func(o any) bool { o2, _ := o.(object); return str(o2, "value") == str(c, "value") }) {
			return false
		}
	}
	return true
}

// option finds one of an element's options by value or text.
func option(e object, which string) (object, error) {
	options, _ := e["options"].([]any)
	var known []string
	for _, o := range options {
		o, _ := o.(object)
		if str(o, "value") == which || words(o["text"]) == which {
			return o, nil
		}
		known = append(known, str(o, "value"))
	}
	return nil, fmt.Errorf("%s has no option %q; it has %s", str(e, "action_id"), which, strings.Join(known, ", "))
}

// entered returns the state of an element in which a person entered or chose values, under the lock.
func (s *Server) entered(e object, given []string) (object, error) {
	kind := str(e, "type")
	several := strings.HasPrefix(kind, "multi_") || kind == "checkboxes"
	if !several && len(given) > 1 {
		return nil, fmt.Errorf("%s takes one value", str(e, "action_id"))
	}
	list := []any{}
	for _, v := range given {
		if v == "" && !several {
			continue // empties it
		}
		one, err := s.chosen(e, kind, v)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	var value any = list
	if !several {
		value = nil
		if len(list) > 0 {
			value = list[0]
		}
	}
	return object{"type": kind, field(kind): value}, nil
}

// chosen is one value of an element.
func (s *Server) chosen(e object, kind, v string) (_ any, err error) {
	defer must.Catch(&err)
	switch strings.TrimPrefix(kind, "multi_") {
	case "plain_text_input":
		if most, ok := e["max_length"].(json.Number); ok {
			if n, _ := most.Int64(); int64(len([]rune(v))) > n {
				return nil, fmt.Errorf("%s takes %d characters at most", str(e, "action_id"), n)
			}
		}
		return v, nil
	case "users_select":
		p, ok := find(s.world.People, v)
		must.FailIf(!ok, "%s is nobody of the workspace", v)
		return p.ID, nil
	case "channels_select", "conversations_select":
		c := s.channel(v)
		must.FailIf(c == nil, "there is no channel %s", v)
		return c.ID, nil
	case "button":
		return nil, fmt.Errorf("%s is a button: click it", str(e, "action_id"))
	}
	return option(e, v)
}

// empty says that a field has no value.
func empty(value object) bool {
	switch v := value[field(str(value, "type"))].(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}
