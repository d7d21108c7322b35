package blockkit

import (
	"maps"
	"slices"
)

// The views. https://docs.slack.dev/reference/views/modal-views and home-tab-views
var (
	home = object{
		fields: map[string]rule{
			"type": anything, "blocks": anything, // checked by View
			"private_metadata": letters(0, 3000), "callback_id": letters(0, 255), "external_id": letters(0, 255),
		},
		required: []string{"blocks"},
	}
	modal = object{
		fields: with(home.fields, map[string]rule{
			"title": plain(24), "submit": plain(24), "close": plain(24), "clear_on_close": boolean, "notify_on_close": boolean,
		}),
		required: []string{"title", "blocks"},
	}
)

// anything is for what is checked elsewhere.
func anything(*check, string, any) {}

func with(fields ...map[string]rule) map[string]rule {
	all := map[string]rule{}
	for _, some := range fields {
		maps.Copy(all, some)
	}
	return all
}

// blockTypes are the blocks, each page under https://docs.slack.dev/reference/block-kit/blocks.
var blockTypes = map[string]object{
	"divider": block(nil),
	// header-block
	"header": block(map[string]rule{"text": plain(150)}, "text"),
	// section-block
	"section": also(block(map[string]rule{"text": text(3000), "fields": list(1, 10, text(2000)), "accessory": element("section"), "expand": boolean}),
		func(c *check, path string, v map[string]any) {
			if v["text"] == nil && v["fields"] == nil {
				c.add(path, "must have text or fields")
			}
		}),
	// context-block; a text object holds 3,000 characters
	"context": block(map[string]rule{"elements": list(1, 10, typed(contextTypes))}, "elements"),
	// actions-block
	"actions": block(map[string]rule{"elements": list(1, 25, element("actions"))}, "elements"),
	// input-block
	"input": also(block(map[string]rule{"label": plain(2000), "element": element("input"), "dispatch_action": boolean, "hint": plain(2000), "optional": boolean}, "label", "element"),
		func(c *check, _ string, _ map[string]any) { c.inputs++ }),
	// image-block
	"image": block(map[string]rule{"image_url": letters(1, 3000), "alt_text": letters(1, 2000), "title": plain(2000)}, "image_url", "alt_text"),
}

var contextTypes = map[string]object{"plain_text": textTypes(3000)["plain_text"], "mrkdwn": textTypes(3000)["mrkdwn"], "image": elementTypes["image"]}

// block is a block's schema: its own fields and those of every block.
func block(fields map[string]rule, required ...string) object {
	return object{fields: with(fields, map[string]rule{"type": anything, "block_id": blockID}), required: required}
}

func also(o object, more func(*check, string, map[string]any)) object {
	o.also = more
	return o
}

func blockID(c *check, path string, v any) {
	letters(1, 255)(c, path, v)
	if id, ok := v.(string); ok {
		if c.blockIDs[id] {
			c.add(path, "%q is used twice", id)
		}
		c.blockIDs[id] = true
	}
}

func actionID(c *check, path string, v any) {
	letters(1, 255)(c, path, v)
	if id, ok := v.(string); ok {
		if c.actionIDs[id] {
			c.add(path, "%q is used twice in its block", id)
		}
		c.actionIDs[id] = true
	}
}

// textTypes are text objects. https://docs.slack.dev/reference/block-kit/composition-objects/text-object
func textTypes(most int) map[string]object {
	return map[string]object{
		"plain_text": {fields: map[string]rule{"type": anything, "text": letters(1, most), "emoji": boolean}, required: []string{"text"}},
		"mrkdwn":     {fields: map[string]rule{"type": anything, "text": letters(1, most), "verbatim": boolean}, required: []string{"text"}},
	}
}

func text(most int) rule { return typed(textTypes(most)) }

func plain(most int) rule {
	return typed(map[string]object{"plain_text": textTypes(most)["plain_text"]})
}

// confirm is a dialog before an action. https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object
var confirm = object{
	fields:   map[string]rule{"title": plain(100), "text": plain(300), "confirm": plain(30), "deny": plain(30), "style": oneOf("primary", "danger")},
	required: []string{"title", "text", "confirm", "deny"},
}

// option is one of a menu's. https://docs.slack.dev/reference/block-kit/composition-objects/option-object
func option(words func(int) rule) rule {
	return object{
		fields:   map[string]rule{"text": words(75), "value": letters(1, 150), "description": words(75)},
		required: []string{"text", "value"},
	}.check
}

// optionsAgree checks that values differ and that what is chosen at first can be chosen.
func optionsAgree(c *check, path string, v map[string]any) {
	var values []string
	options, _ := v["options"].([]any)
	for _, one := range options {
		value := valueOf(one)
		if slices.Contains(values, value) {
			c.add(join(path, "options"), "has %q twice", value)
		}
		values = append(values, value)
	}
	chosen, _ := v["initial_options"].([]any)
	if one := v["initial_option"]; one != nil {
		chosen = append(chosen, one)
	}
	for _, one := range chosen {
		if value := valueOf(one); !slices.Contains(values, value) {
			c.add(join(path, "initial_option"), "%q is not among the options", value)
		}
	}
}

func valueOf(option any) string {
	m, _ := option.(map[string]any)
	value, _ := m["value"].(string)
	return value
}
