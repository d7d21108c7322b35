package blockkit

import (
	"maps"
	"slices"
)

// elementTypes are the elements, each page under https://docs.slack.dev/reference/block-kit/block-elements.
var elementTypes = map[string]object{
	// button-element
	"button": actingSchema(map[string]rule{
		"text": plainText(75), "url": textOfLength(1, 3000), "value": textOfLength(1, 2000), "style": oneOf("primary", "danger"), "accessibility_label": textOfLength(1, 75),
	}, "text"),
	// image-element
	"image": {fields: map[string]rule{"type": acceptAnything, "image_url": textOfLength(1, 3000), "alt_text": textOfLength(1, 2000)}, required: []string{"image_url", "alt_text"}},
	// overflow-menu-element
	"overflow": alsoCheck(actingSchema(map[string]rule{"options": listOf(1, 5, optionSchema(plainText))}, "options"), optionsAgree),
	// plain-text-input-element
	"plain_text_input": actingSchema(map[string]rule{
		"initial_value": textOfLength(0, 3000), "multiline": anyBoolean, "min_length": wholeNumber(0, 3000), "max_length": wholeNumber(1, 3000), "placeholder": plainText(150),
		"dispatch_action_config": object{fields: map[string]rule{"trigger_actions_on": listOf(1, 2, oneOf("on_enter_pressed", "on_character_entered"))}}.checkObject,
	}),
	// checkboxes-element
	"checkboxes": selectFrom(10, anyText, "initial_options"),
	// radio-button-group-element
	"radio_buttons": selectFrom(10, anyText, "initial_option"),
	// select-menu-element
	"static_select": selectFrom(100, plainText, "initial_option"),
	"users_select":  actingSchema(map[string]rule{"placeholder": plainText(150), "initial_user": textOfLength(1, 255)}),
	"channels_select": actingSchema(map[string]rule{
		"placeholder": plainText(150), "initial_channel": textOfLength(1, 255), "response_url_enabled": anyBoolean,
	}),
	"conversations_select": actingSchema(map[string]rule{
		"placeholder": plainText(150), "initial_conversation": textOfLength(1, 255), "default_to_current_conversation": anyBoolean, "response_url_enabled": anyBoolean, "filter": filter.checkObject,
	}),
	// multi-select-menu-element
	"multi_static_select":   selectSeveral(selectFrom(100, plainText, "initial_options").fields, "options"),
	"multi_users_select":    selectSeveral(map[string]rule{"initial_users": listOf(1, 1000, textOfLength(1, 255))}),
	"multi_channels_select": selectSeveral(map[string]rule{"initial_channels": listOf(1, 1000, textOfLength(1, 255))}),
	"multi_conversations_select": selectSeveral(map[string]rule{
		"initial_conversations": listOf(1, 1000, textOfLength(1, 255)), "default_to_current_conversation": anyBoolean, "filter": filter.checkObject,
	}),
}

// filter limits a menu of conversations.
// https://docs.slack.dev/reference/block-kit/composition-objects/conversation-filter-object
var filter = object{fields: map[string]rule{
	"include": listOf(1, 4, oneOf("im", "mpim", "private", "public")), "exclude_external_shared_channels": anyBoolean, "exclude_bot_users": anyBoolean,
}}

// actingSchema is the schema of an element that people act on: its own fields and those of every such element.
func actingSchema(fields map[string]rule, required ...string) object {
	return object{
		fields:   mergeFields(fields, map[string]rule{"type": acceptAnything, "action_id": actionID, "confirm": confirm.checkObject, "focus_on_load": checkFocus}),
		required: required,
	}
}

func checkFocus(c *check, path string, v any) {
	anyBoolean(c, path, v)
	if v == true {
		c.focused++
	}
}

// selectFrom is an element with options.
func selectFrom(most int, words func(int) rule, initial string) object {
	one := optionSchema(words)
	fields := map[string]rule{"options": listOf(1, most, one), initial: one, "placeholder": plainText(150)}
	if initial == "initial_options" {
		fields[initial] = listOf(1, most, one)
	}
	if most == 10 { // checkboxes and radio buttons have no placeholder
		delete(fields, "placeholder")
	}
	return alsoCheck(actingSchema(fields, "options"), optionsAgree)
}

// selectSeveral is a menu from which several can be chosen.
func selectSeveral(fields map[string]rule, required ...string) object {
	return alsoCheck(actingSchema(mergeFields(fields, map[string]rule{"placeholder": plainText(150), "max_selected_items": wholeNumber(1, 1000)}), required...), optionsAgree)
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

func elementIn(place string) rule {
	types := maps.Clone(elementTypes)
	maps.DeleteFunc(types, func(name string, _ object) bool { return !slices.Contains(places[place], name) })
	return byType(types)
}
