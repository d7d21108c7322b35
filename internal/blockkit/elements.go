package blockkit

import (
	"maps"
	"slices"
)

// elementTypes are the elements, each page under https://docs.slack.dev/reference/block-kit/block-elements.
var elementTypes = map[string]object{
	// button-element
	"button": acting(map[string]rule{
		"text": plain(75), "url": letters(1, 3000), "value": letters(1, 2000), "style": oneOf("primary", "danger"), "accessibility_label": letters(1, 75),
	}, "text"),
	// image-element
	"image": {fields: map[string]rule{"type": anything, "image_url": letters(1, 3000), "alt_text": letters(1, 2000)}, required: []string{"image_url", "alt_text"}},
	// overflow-menu-element
	"overflow": also(acting(map[string]rule{"options": list(1, 5, option(plain))}, "options"), optionsAgree),
	// plain-text-input-element
	"plain_text_input": acting(map[string]rule{
		"initial_value": letters(0, 3000), "multiline": boolean, "min_length": whole(0, 3000), "max_length": whole(1, 3000), "placeholder": plain(150),
		"dispatch_action_config": object{fields: map[string]rule{"trigger_actions_on": list(1, 2, oneOf("on_enter_pressed", "on_character_entered"))}}.check,
	}),
	// checkboxes-element
	"checkboxes": chosenFrom(10, text, "initial_options"),
	// radio-button-group-element
	"radio_buttons": chosenFrom(10, text, "initial_option"),
	// select-menu-element
	"static_select": chosenFrom(100, plain, "initial_option"),
	"users_select":  acting(map[string]rule{"placeholder": plain(150), "initial_user": letters(1, 255)}),
	"channels_select": acting(map[string]rule{
		"placeholder": plain(150), "initial_channel": letters(1, 255), "response_url_enabled": boolean,
	}),
	"conversations_select": acting(map[string]rule{
		"placeholder": plain(150), "initial_conversation": letters(1, 255), "default_to_current_conversation": boolean, "response_url_enabled": boolean, "filter": filter.check,
	}),
	// multi-select-menu-element
	"multi_static_select":   several(chosenFrom(100, plain, "initial_options").fields, "options"),
	"multi_users_select":    several(map[string]rule{"initial_users": list(1, 1000, letters(1, 255))}),
	"multi_channels_select": several(map[string]rule{"initial_channels": list(1, 1000, letters(1, 255))}),
	"multi_conversations_select": several(map[string]rule{
		"initial_conversations": list(1, 1000, letters(1, 255)), "default_to_current_conversation": boolean, "filter": filter.check,
	}),
}

// filter limits a menu of conversations.
// https://docs.slack.dev/reference/block-kit/composition-objects/conversation-filter-object
var filter = object{fields: map[string]rule{
	"include": list(1, 4, oneOf("im", "mpim", "private", "public")), "exclude_external_shared_channels": boolean, "exclude_bot_users": boolean,
}}

// acting is the schema of an element that people act on: its own fields and those of every such element.
func acting(fields map[string]rule, required ...string) object {
	return object{
		fields:   with(fields, map[string]rule{"type": anything, "action_id": actionID, "confirm": confirm.check, "focus_on_load": focus}),
		required: required,
	}
}

func focus(c *check, path string, v any) {
	boolean(c, path, v)
	if v == true {
		c.focused++
	}
}

// chosenFrom is an element with options.
func chosenFrom(most int, words func(int) rule, initial string) object {
	one := option(words)
	fields := map[string]rule{"options": list(1, most, one), initial: one, "placeholder": plain(150)}
	if initial == "initial_options" {
		fields[initial] = list(1, most, one)
	}
	if most == 10 { // checkboxes and radio buttons have no placeholder
		delete(fields, "placeholder")
	}
	return also(acting(fields, "options"), optionsAgree)
}

// several is a menu from which several can be chosen.
func several(fields map[string]rule, required ...string) object {
	return also(acting(with(fields, map[string]rule{"placeholder": plain(150), "max_selected_items": whole(1, 1000)}), required...), optionsAgree)
}

// places says which elements a block takes, from the list in https://docs.slack.dev/reference/block-kit/block-elements.
var places = map[string][]string{
	"section": {
		"button", "checkboxes", "image", "overflow", "radio_buttons", "static_select", "users_select", "channels_select", "conversations_select",
		"multi_static_select", "multi_users_select", "multi_channels_select", "multi_conversations_select",
	},
	"actions": {"button", "checkboxes", "overflow", "radio_buttons", "static_select", "users_select", "channels_select", "conversations_select"},
	"input": {
		"checkboxes", "plain_text_input", "radio_buttons", "static_select", "users_select", "channels_select", "conversations_select",
		"multi_static_select", "multi_users_select", "multi_channels_select", "multi_conversations_select",
	},
}

func element(place string) rule {
	types := maps.Clone(elementTypes)
	maps.DeleteFunc(types, func(name string, _ object) bool { return !slices.Contains(places[place], name) })
	return typed(types)
}
