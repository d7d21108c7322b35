package blockkit

import (
	"maps"
	"slices"
)

// The views. https://docs.slack.dev/reference/views/modal-views and home-tab-views
var (
	home = object{
		fields: map[string]rule{
			"type": acceptAnything, "blocks": acceptAnything, // checked by View
			"private_metadata": textOfLength(0, 3000), "callback_id": textOfLength(0, 255), "external_id": textOfLength(0, 255),
		},
		required: []string{"blocks"},
	}
	modal = object{
		fields: mergeFields(home.fields, map[string]rule{
			"title": plainText(24), "submit": plainText(24), "close": plainText(24), "clear_on_close": anyBoolean, "notify_on_close": anyBoolean,
		}),
		required: []string{"title", "blocks"},
	}
)

// acceptAnything is for what is checked elsewhere.
func acceptAnything(*check, string, any) {}

func mergeFields(fields ...map[string]rule) map[string]rule {
	all := map[string]rule{}
	for _, some := range fields {
		maps.Copy(all, some)
	}
	return all
}

// blockTypes are the blocks, each page under https://docs.slack.dev/reference/block-kit/blocks.
var blockTypes = map[string]object{
	"divider": blockSchema(nil),
	// header-block
	"header": blockSchema(map[string]rule{"text": plainText(150)}, "text"),
	// section-block
	"section": alsoCheck(blockSchema(map[string]rule{"text": anyText(3000), "fields": listOf(1, 10, anyText(2000)), "accessory": elementIn("section"), "expand": anyBoolean}),
		func(c *check, path string, v map[string]any) {
			if v["text"] == nil && v["fields"] == nil {
				c.addProblem(path, "must have text or fields")
			}
		}),
	// context-block; a text object holds 3,000 characters
	"context": blockSchema(map[string]rule{"elements": listOf(1, 10, byType(contextTypes))}, "elements"),
	// actions-block
	"actions": blockSchema(map[string]rule{"elements": listOf(1, 25, elementIn("actions"))}, "elements"),
	// input-block
	"input": alsoCheck(blockSchema(map[string]rule{"label": plainText(2000), "element": elementIn("input"), "dispatch_action": anyBoolean, "hint": plainText(2000), "optional": anyBoolean}, "label", "element"),
		func(c *check, _ string, _ map[string]any) { c.inputs++ }),
	// image-block
	"image": blockSchema(map[string]rule{"image_url": textOfLength(1, 3000), "alt_text": textOfLength(1, 2000), "title": plainText(2000)}, "image_url", "alt_text"),
}

var contextTypes = map[string]object{"plain_text": textTypes(3000)["plain_text"], "mrkdwn": textTypes(3000)["mrkdwn"], "image": elementTypes["image"]}

// blockSchema is a block's schema: its own fields and those of every block.
func blockSchema(fields map[string]rule, required ...string) object {
	return object{fields: mergeFields(fields, map[string]rule{"type": acceptAnything, "block_id": blockID}), required: required}
}

func alsoCheck(o object, more func(*check, string, map[string]any)) object {
	o.also = more
	return o
}

func blockID(c *check, path string, v any) {
	textOfLength(1, 255)(c, path, v)
	if id, ok := v.(string); ok {
		if c.blockIDs[id] {
			c.addProblem(path, "%q is used twice", id)
		}
		c.blockIDs[id] = true
	}
}

func actionID(c *check, path string, v any) {
	textOfLength(1, 255)(c, path, v)
	if id, ok := v.(string); ok {
		if c.actionIDs[id] {
			c.addProblem(path, "%q is used twice in its block", id)
		}
		c.actionIDs[id] = true
	}
}

// textTypes are text objects. https://docs.slack.dev/reference/block-kit/composition-objects/text-object
func textTypes(most int) map[string]object {
	return map[string]object{
		"plain_text": {fields: map[string]rule{"type": acceptAnything, "text": textOfLength(1, most), "emoji": anyBoolean}, required: []string{"text"}},
		"mrkdwn":     {fields: map[string]rule{"type": acceptAnything, "text": textOfLength(1, most), "verbatim": anyBoolean}, required: []string{"text"}},
	}
}

func anyText(most int) rule { return byType(textTypes(most)) }

func plainText(most int) rule {
	return byType(map[string]object{"plain_text": textTypes(most)["plain_text"]})
}

// confirm is a dialog before an action. https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object
var confirm = object{
	fields:   map[string]rule{"title": plainText(100), "text": plainText(300), "confirm": plainText(30), "deny": plainText(30), "style": oneOf("primary", "danger")},
	required: []string{"title", "text", "confirm", "deny"},
}

// optionSchema is one of a menu's. https://docs.slack.dev/reference/block-kit/composition-objects/option-object
func optionSchema(words func(int) rule) rule {
	return object{
		fields:   map[string]rule{"text": words(75), "value": textOfLength(1, 150), "description": words(75)},
		required: []string{"text", "value"},
	}.checkObject
}

// optionsAgree checks that values differ and that what is chosen at first can be chosen.
func optionsAgree(c *check, path string, v map[string]any) {
	var values []string
	options, _ := v["options"].([]any)
	for _, one := range options {
		value := valueOf(one)
		if slices.Contains(values, value) {
			c.addProblem(joinPath(path, "options"), "has %q twice", value)
		}
		values = append(values, value)
	}
	chosen, _ := v["initial_options"].([]any)
	if one := v["initial_option"]; one != nil {
		chosen = append(chosen, one)
	}
	for _, one := range chosen {
		if value := valueOf(one); !slices.Contains(values, value) {
			c.addProblem(joinPath(path, "initial_option"), "%q is not among the options", value)
		}
	}
}

func valueOf(option any) string {
	m, _ := option.(map[string]any)
	value, _ := m["value"].(string)
	return value
}
