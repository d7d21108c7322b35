package blockkit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMessageWithEveryBlockIsValid(t *testing.T) {
	require.Empty(t, Message([]byte(`{"channel": "C1", "text": "t", "blocks": [
		{"type": "header", "block_id": "h", "text": {"type": "plain_text", "text": "Title", "emoji": true}},
		{"type": "section", "text": {"type": "mrkdwn", "text": "*bold*", "verbatim": true}, "accessory": {"type": "overflow", "action_id": "o", "options": [
			{"text": {"type": "plain_text", "text": "A"}, "value": "a"}]}},
		{"type": "section", "fields": [{"type": "mrkdwn", "text": "a"}, {"type": "plain_text", "text": "b"}]},
		{"type": "context", "elements": [{"type": "mrkdwn", "text": "c"}, {"type": "image", "image_url": "https://x/y.png", "alt_text": "y"}]},
		{"type": "divider"}, {"type": "image", "image_url": "https://x/y.png", "alt_text": "y"},
		{"type": "actions", "elements": [
			{"type": "button", "action_id": "1", "text": {"type": "plain_text", "text": "Go"}, "value": "v", "style": "danger", "confirm": {
				"title": {"type": "plain_text", "text": "Sure?"}, "text": {"type": "plain_text", "text": "Really?"},
				"confirm": {"type": "plain_text", "text": "Yes"}, "deny": {"type": "plain_text", "text": "No"}, "style": "danger"}},
			{"type": "static_select", "action_id": "2", "options": [{"text": {"type": "plain_text", "text": "A"}, "value": "a"}],
				"initial_option": {"text": {"type": "plain_text", "text": "A"}, "value": "a"}},
			{"type": "users_select", "action_id": "3"}, {"type": "conversations_select", "action_id": "4", "filter": {"include": ["public"]}}]}]}`)))
	require.Empty(t, Message([]byte(`{"text": "words alone"}`)))
}

func TestAFormAndAHomeAreValid(t *testing.T) {
	require.Empty(t, View([]byte(`{"type": "modal", "title": {"type": "plain_text", "text": "Create"}, "submit": {"type": "plain_text", "text": "Go"},
		"close": {"type": "plain_text", "text": "Cancel"}, "callback_id": "create", "private_metadata": "{}", "notify_on_close": false, "clear_on_close": true, "blocks": [
		{"type": "input", "block_id": "n", "label": {"type": "plain_text", "text": "Name"}, "hint": {"type": "plain_text", "text": "h"}, "optional": true, "dispatch_action": true,
			"element": {"type": "plain_text_input", "action_id": "n", "max_length": 40, "focus_on_load": true, "dispatch_action_config": {"trigger_actions_on": ["on_enter_pressed"]}}},
		{"type": "input", "block_id": "c", "label": {"type": "plain_text", "text": "With"}, "element": {"type": "checkboxes", "action_id": "c",
			"options": [{"text": {"type": "mrkdwn", "text": "A"}, "value": "a"}], "initial_options": [{"text": {"type": "mrkdwn", "text": "A"}, "value": "a"}]}},
		{"type": "input", "block_id": "m", "label": {"type": "plain_text", "text": "With"}, "element": {"type": "multi_static_select", "action_id": "m",
			"max_selected_items": 2, "options": [{"text": {"type": "plain_text", "text": "A"}, "value": "a"}]}}]}`)))
	require.Empty(t, View([]byte(`{"type": "home", "blocks": []}`)))
}

func section(text string) string {
	return fmt.Sprintf(`{"type": "section", "text": {"type": "mrkdwn", "text": %q}}`, text)
}

func button(more string) string {
	return `{"type": "button", "text": {"type": "plain_text", "text": "Go"}` + more + `}`
}

func long(n int) string { return strings.Repeat("x", n) }

func TestABlockThatSlackWouldRefuseIsNamed(t *testing.T) {
	for _, c := range []struct{ blocks, want string }{
		{`{"type": "section"}`, "blocks[0] must have text or fields"},
		{`{"type": "sektion"}`, `blocks[0].type is "sektion"; must be one of actions, context, divider, header, image, input, section`},
		{section(""), "blocks[0].text.text has 0 characters; must have 1 to 3000"},
		{section(long(3001)), "blocks[0].text.text has 3001 characters; must have 1 to 3000"},
		{section(strings.Repeat("🟢", 1501)), "blocks[0].text.text has 3002 characters; must have 1 to 3000"},
		{strings.Repeat(section("a")+",", 50) + section("a"), "blocks has 51 blocks; must have 1 to 50"},
		{``, "blocks has 0 blocks; must have 1 to 50"},
		{`{"type": "header", "text": {"type": "mrkdwn", "text": "a"}}`, `blocks[0].text.type is "mrkdwn"; must be one of plain_text`},
		{`{"type": "header", "text": {"type": "plain_text", "text": "` + long(151) + `"}}`, "blocks[0].text.text has 151 characters; must have 1 to 150"},
		{`{"type": "header"}`, "blocks[0].text is missing"},
		{`{"type": "divider", "text": "a"}`, "blocks[0].text is not a field here"},
		{`{"type": "divider", "block_id": "a"}, {"type": "divider", "block_id": "a"}`, `blocks[1].block_id "a" is used twice`},
		{`{"type": "divider", "block_id": "` + long(256) + `"}`, "blocks[0].block_id has 256 characters; must have 1 to 255"},
		{`{"type": "section", "fields": [` + strings.TrimSuffix(strings.Repeat(`{"type": "mrkdwn", "text": "a"},`, 11), ",") + `]}`, "blocks[0].fields has 11 entries; must have 1 to 10"},
		{`{"type": "section", "fields": [{"type": "mrkdwn", "text": "` + long(2001) + `"}]}`, "blocks[0].fields[0].text has 2001 characters; must have 1 to 2000"},
		{`{"type": "context", "elements": [` + strings.TrimSuffix(strings.Repeat(`{"type": "mrkdwn", "text": "a"},`, 11), ",") + `]}`, "blocks[0].elements has 11 entries; must have 1 to 10"},
		{`{"type": "actions", "elements": [` + strings.TrimSuffix(strings.Repeat(button("")+",", 26), ",") + `]}`, "blocks[0].elements has 26 entries; must have 1 to 25"},
		{`{"type": "actions", "elements": [` + button(`, "action_id": "a"`) + `, ` + button(`, "action_id": "a"`) + `]}`, `blocks[0].elements[1].action_id "a" is used twice in its block`},
		{`{"type": "actions", "elements": [` + button(`, "value": "`+long(2001)+`"`) + `]}`, "blocks[0].elements[0].value has 2001 characters; must have 1 to 2000"},
		{`{"type": "actions", "elements": [` + button(`, "style": "red"`) + `]}`, "blocks[0].elements[0].style is red; must be one of primary, danger"},
		{`{"type": "actions", "elements": [` + button(`, "confirm": {}`) + `]}`, "blocks[0].elements[0].confirm.title is missing"},
		{`{"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "` + long(76) + `"}}]}`, "blocks[0].elements[0].text.text has 76 characters; must have 1 to 75"},
		{`{"type": "actions", "elements": [{"type": "plain_text_input"}]}`, `blocks[0].elements[0].type is "plain_text_input"; must be one of`},
		{`{"type": "input", "label": {"type": "plain_text", "text": "a"}, "element": {"type": "static_select", "options": []}}`, "blocks[0].element.options has 0 entries; must have 1 to 100"},
		{`{"type": "input", "label": {"type": "plain_text", "text": "a"}, "element": {"type": "static_select", "options": [
			{"text": {"type": "plain_text", "text": "a"}, "value": "a"}, {"text": {"type": "plain_text", "text": "b"}, "value": "a"}]}}`, `blocks[0].element.options has "a" twice`},
		{`{"type": "input", "label": {"type": "plain_text", "text": "a"}, "element": {"type": "static_select", "options": [
			{"text": {"type": "plain_text", "text": "a"}, "value": "a"}], "initial_option": {"text": {"type": "plain_text", "text": "b"}, "value": "b"}}}`, `blocks[0].element.initial_option "b" is not among the options`},
		{`{"type": "input", "label": {"type": "plain_text", "text": "a"}, "element": {"type": "static_select", "options": [
			{"text": {"type": "plain_text", "text": "` + long(76) + `"}, "value": "` + long(151) + `"}]}}`, "blocks[0].element.options[0].value has 151 characters; must have 1 to 150"},
		{`{"type": "input", "label": {"type": "plain_text", "text": "a"}, "element": {"type": "plain_text_input", "max_length": 3001}}`, "blocks[0].element.max_length is 3001; must be a whole number from 1 to 3000"},
	} {
		problems := Message([]byte(`{"text": "t", "blocks": [` + c.blocks + `]}`))
		require.Contains(t, strings.Join(problems, "\n"), c.want)
	}
}

func TestAMessageNeedsWordsBesideItsBlocks(t *testing.T) {
	for raw, want := range map[string]string{
		`{"blocks": [` + section("a") + `]}`:              "text must be there beside blocks",
		`{"text": " ", "blocks": [` + section("a") + `]}`: "text must be there beside blocks",
		`{}`:                               "text must be there if there are no blocks",
		`{"text": 1}`:                      "text must be a string",
		`[]`:                               "it must be a JSON object",
		`{"text": "a"} {}`:                 "nothing after it",
		`{"text": "a", "blocks": {}}`:      "blocks must be a list",
		`{"text": "` + long(40_001) + `"}`: "text has 40001 characters; at most 40000",
	} {
		require.Contains(t, strings.Join(Message([]byte(raw)), "\n"), want)
	}
}

func TestAViewThatSlackWouldRefuseIsNamed(t *testing.T) {
	title := `"title": {"type": "plain_text", "text": "t"}, `
	input := `{"type": "input", "label": {"type": "plain_text", "text": "a"}, "element": {"type": "plain_text_input", "focus_on_load": true}}`
	for raw, want := range map[string]string{
		`{"type": "sheet", "blocks": []}`:             "type is sheet; must be modal or home",
		`{"type": "modal", "blocks": []}`:             "title is missing",
		`{"type": "home"}`:                            "blocks is missing",
		`{"type": "home", ` + title + `"blocks": []}`: "title is not a field here",
		`{"type": "modal", "title": {"type": "plain_text", "text": "` + long(25) + `"}, "blocks": []}`:         "title.text has 25 characters; must have 1 to 24",
		`{"type": "modal", ` + title + `"private_metadata": "` + long(3001) + `", "blocks": []}`:               "private_metadata has 3001 characters",
		`{"type": "modal", ` + title + `"callback_id": "` + long(256) + `", "blocks": []}`:                     "callback_id has 256 characters",
		`{"type": "modal", ` + title + `"blocks": [` + input + `]}`:                                            "submit must be there",
		`{"type": "home", "blocks": [` + input + `, ` + input + `]}`:                                           "2 elements have focus_on_load",
		`{"type": "home", "blocks": [` + strings.TrimSuffix(strings.Repeat(section("a")+",", 101), ",") + `]}`: "blocks has 101 blocks; must have 0 to 100",
	} {
		require.Contains(t, strings.Join(View([]byte(raw)), "\n"), want)
	}
}
