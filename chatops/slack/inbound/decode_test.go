package inbound_test

import (
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const formType = "application/x-www-form-urlencoded"

// examples returns what Slack sends, in the shapes of its documentation, by name: the content type and the body.
func examples(t testing.TB) map[string][2]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.in")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := map[string][2]string{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		name, body := strings.TrimSuffix(filepath.Base(path), ".in"), strings.TrimSpace(string(raw))
		var head struct{ Type, Command string }
		switch {
		case json.Unmarshal(raw, &head) != nil:
			all[name] = [2]string{formType, body}
		case head.Type == "event_callback" || head.Type == "url_verification" || head.Command != "":
			all[name] = [2]string{"application/json", body}
		default:
			all[name] = [2]string{formType, url.Values{"payload": {body}}.Encode()}
		}
	}
	return all
}

func TestWhatSlackSendsIsRead(t *testing.T) {
	for name, sent := range examples(t) {
		t.Run(name, func(t *testing.T) {
			got, err := inbound.Decode(sent[0], []byte(sent[1]))
			require.NoError(t, err)
			raw, err := json.MarshalIndent(got, "", "  ")
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".golden.json")
			if *update {
				require.NoError(t, os.WriteFile(golden, append(raw, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(raw)+"\n")
			checkStored(t, got)
		})
	}
}

// checkStored checks what is true of every request that was read: it is read again as it was stored, without a secret.
func checkStored(t *testing.T, got inbound.Request) {
	t.Helper()
	if got.Kind == inbound.Handshake || got.Kind == inbound.Ignored {
		return
	}
	raw := got.Encode()
	again, err := inbound.Stored(raw)
	require.NoError(t, err)
	require.Equal(t, got, again)
	require.NotContains(t, string(raw), "verification-token-secret")
	require.NotContains(t, string(raw), "hooks.slack.com")
	require.NotContains(t, string(raw), `\u0000`)
}

func TestTheKindTellsWhatSomebodyDid(t *testing.T) {
	for name, kind := range map[string]inbound.Kind{
		"command": inbound.Command, "command_over_a_socket": inbound.Command, "certificate_check": inbound.Handshake, "url_verification": inbound.Handshake,
		"mention": inbound.Mention, "mention_inside": inbound.Mention, "mention_over_slack_connect": inbound.Mention, "mention_in_an_enterprise_grid": inbound.Mention,
		"mention_edited": inbound.Ignored, "mention_by_an_app": inbound.Ignored, "direct": inbound.Direct, "direct_of_the_bot": inbound.Ignored,
		"direct_changed": inbound.Ignored, "message_in_a_channel": inbound.Ignored, "home_opened": inbound.HomeOpened, "messages_tab_opened": inbound.Ignored,
		"channel_archive": inbound.Lifecycle, "channel_rename": inbound.Ignored, "group_left": inbound.Lifecycle, "bot_removed": inbound.Lifecycle,
		"person_left": inbound.Ignored, "user_change": inbound.Lifecycle, "app_uninstalled": inbound.Lifecycle, "tokens_revoked": inbound.Lifecycle,
		"tokens_of_people_revoked": inbound.Ignored, "reaction": inbound.Ignored, "press": inbound.Press, "press_on_home": inbound.Press,
		"press_of_a_person_of_an_organization": inbound.Press, "change": inbound.Change, "submission": inbound.Submission,
		"submission_in_an_organization": inbound.Submission, "closed": inbound.Ignored, "suggestion": inbound.Ignored,
		"shortcut": inbound.Shortcut, "message_shortcut": inbound.Shortcut,
	} {
		sent, known := examples(t)[name]
		require.True(t, known, name)
		got, err := inbound.Decode(sent[0], []byte(sent[1]))
		require.NoError(t, err, name)
		require.Equal(t, kind, got.Kind, name)
	}
}

func TestEveryEventThatIsListedIsRead(t *testing.T) {
	for _, event := range inbound.Events() {
		kind, channel, _ := strings.Cut(event, ".")
		user, _ := json.Marshal("U0BOT")
		if !strings.HasPrefix(event, "member_") {
			user, _ = json.Marshal("U061F7AUR")
		}
		raw, err := json.Marshal(map[string]any{
			"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "authorizations": []any{map[string]any{"team_id": "T1", "user_id": "U0BOT", "is_bot": true}},
			"event": map[string]any{
				"type": kind, "channel_type": channel, "user": json.RawMessage(user), "channel": "C1", "tab": "home", "text": "<@U0BOT> list",
				"tokens": map[string]any{"bot": []string{"U0BOT"}}, "old_channel_id": "G012Y48650T", "new_channel_id": "C012Y48650T",
			},
		})
		require.NoError(t, err)
		got, err := inbound.Decode("application/json", raw)
		require.NoError(t, err)
		require.NotEqual(t, inbound.Ignored, got.Kind, event)
	}
}

func TestAMentionIsReadWithoutTheBot(t *testing.T) {
	for name, text := range map[string]string{"mention": "extend shop by 2h", "mention_inside": "status &lt;x&gt;"} {
		got, err := inbound.Decode("application/json", []byte(examples(t)[name][1]))
		require.NoError(t, err)
		require.Equal(t, text, got.Text)
	}
}

func TestWhatAMessageQuotesIsNotSaid(t *testing.T) {
	for text, want := range map[string]string{
		"&gt; <@U0BOT> destroy shop\nplease do not":            "", // nobody spoke to the bot
		"&gt;&gt;&gt; <@U0BOT> destroy shop\n<@U0BOT> destroy": "",
		"<@U0BOT> status shop\n&gt; <@U0BOT> destroy shop":     "status shop",
		"&gt; <@U0BOT> destroy shop\n<@U0BOT> status shop":     "status shop",
		"<@U0BOT> status shop\n&gt;&gt;&gt; destroy\nand more": "status shop",
	} {
		for kind, where := range map[string][2]string{"app_mention": {"channel", "C1"}, "message": {"im", "D1"}} {
			raw, err := json.Marshal(map[string]any{
				"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "authorizations": []any{map[string]any{"team_id": "T1", "user_id": "U0BOT", "is_bot": true}},
				"event": map[string]any{"type": kind, "channel_type": where[0], "user": "U061F7AUR", "channel": where[1], "text": text},
			})
			require.NoError(t, err)
			got, err := inbound.Decode("application/json", raw)
			require.NoError(t, err)
			require.NotContains(t, got.Text, "destroy", text)
			if kind == "app_mention" {
				require.Equal(t, want, got.Text, text)
				require.Equal(t, want == "", got.Kind == inbound.Ignored, text)
			}
		}
	}
}

func TestAPersonFromElsewhereIsMarked(t *testing.T) {
	for name, want := range map[string][3]string{ // workspace, organization, the person's own workspace
		"mention":                              {"T012AB3CD", "", ""},
		"mention_over_slack_connect":           {"T012AB3CD", "", "T0OTHER"},
		"mention_in_an_enterprise_grid":        {"T012AB3CD", "E0ACME", ""},
		"submission_in_an_organization":        {"T0GRIDTEAM", "E0ACME", ""},
		"press_of_a_person_of_an_organization": {"T012AB3CD", "", ""},
	} {
		sent := examples(t)[name]
		got, err := inbound.Decode(sent[0], []byte(sent[1]))
		require.NoError(t, err)
		require.Equal(t, want, [3]string{got.Workspace, got.Org, got.HomeTeam}, name)
	}
}

func TestWhatSlackWouldNotSendIsRefusedWithTheField(t *testing.T) {
	change := func(name, from, to string) [2]string {
		sent := examples(t)[name]
		body := sent[1]
		if payload, err := url.ParseQuery(body); err == nil && payload.Has("payload") {
			body = payload.Get("payload")
		}
		require.Contains(t, body, from)
		return [2]string{"", strings.ReplaceAll(body, from, to)}
	}
	for want, sent := range map[string][2]string{
		"command is missing":              {formType, "text=hello"},
		"neither JSON nor a form":         {formType, "a=%zz"},
		"not valid JSON":                  {"application/json", "{"},
		"has no type":                     {"application/json", "{}"},
		"not text":                        {"application/json", `{"command":"/ocp","team_id":{}}`},
		"team_id is not an id":            change("mention", `"T012AB3CD"`, `"T0 12"`),
		"event.user is not an id":         change("mention", "U061F7AUR", "u; or 1=1"),
		"event.channel is not an id":      change("direct", "D024BE91L", "..."),
		"event_id is missing":             change("home_opened", "Ev0PV52K21", ""),
		"event.type is missing":           change("app_uninstalled", "app_uninstalled", ""),
		"the subject is not an id":        change("channel_archive", "C0LAN2Q65", "general"),
		"trigger_id is missing":           change("press", "12466734323.1395872398.5a6d1e", strings.Repeat("1", 129)),
		"actions[0].action_id is missing": change("press", "ocp_extend", ""),
		"actions is empty":                {"", `{"type":"block_actions","user":{"id":"U1","team_id":"T1"},"trigger_id":"1.2"}`},
		"view is missing":                 {"", `{"type":"view_submission","user":{"id":"U1","team_id":"T1"},"trigger_id":"1.2"}`},
		"view.id, view.hash":              change("submission", "V0FORM", "form"),
		"value of more than 4000":         change("submission", `"4h"`, `"`+strings.Repeat("x", 4001)+`"`),
		"private_metadata is longer":      change("submission", `{\"channel\":\"C0LAN2Q65\"}`, strings.Repeat("m", 3001)),
		"callback_id is missing":          change("shortcut", "ocp_create", ""),
		"the interaction is not one of":   {"", `{"type":"shortcut","user":[]}`},
		"the event is not one of Slack's": {"", `{"type":"event_callback","event":{"type":1}}`},
		"actions[0]: the text is longer":  change("press", "clu_1", strings.Repeat("x", 4001)),
		"enterprise is not an id":         change("mention", `"type": "event_callback"`, `"type":"event_callback","enterprise_id":"%"`),
		"user.id is missing":              {"", `{"type":"shortcut","callback_id":"x","user":{"team_id":"T1"},"trigger_id":"1.2"}`},
	} {
		_, err := inbound.Decode(sent[0], []byte(sent[1]))
		require.ErrorContains(t, err, want)
	}
}

func TestATextThatIsTooLongIsNoCommand(t *testing.T) {
	body := strings.Replace(examples(t)["command"][1], "share", strings.Repeat("x", inbound.MaxText), 1)
	got, err := inbound.Decode(formType, []byte(body))
	require.ErrorIs(t, err, inbound.ErrTooLong)
	require.Equal(t, inbound.Command, got.Kind)
	require.Empty(t, got.Text)
	got, err = inbound.Decode("application/json", []byte(strings.Replace(examples(t)["mention"][1], "extend", strings.Repeat("x", inbound.MaxText), 1)))
	require.NoError(t, err)
	require.Equal(t, inbound.Ignored, got.Kind, "a long post that mentions the bot")
}

func TestALongMessageIsCutForAShortcut(t *testing.T) {
	body := examples(t)["message_shortcut"][1]
	got, err := inbound.Decode(formType, []byte(strings.Replace(body, "try", strings.Repeat("x", 2*inbound.MaxText), 1)))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", inbound.MaxText), got.Text)
	got, err = inbound.Decode(formType, []byte(strings.Replace(body, "try", "%5Cu0000%5Cud800", 1)))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(got.Text, "\uFFFD "), "what cannot be stored is removed: %q", got.Text)
}

func TestARequestSentAgainHasTheSameID(t *testing.T) {
	ids := map[string]string{}
	for name, sent := range examples(t) {
		first, err := inbound.Decode(sent[0], []byte(sent[1]))
		require.NoError(t, err)
		again, err := inbound.Decode(sent[0], []byte(sent[1]))
		require.NoError(t, err)
		require.Equal(t, first.ID, again.ID)
		ids[name] = first.ID
	}
	require.Equal(t, "13345224609.738474920.8088930838d88f008e0", ids["command"])
	require.Equal(t, "12466734323.1395872398.5a6d1e/1710000005.123456", ids["press"])
	require.Equal(t, "V0FORM:1710000001.def", ids["submission"])
	require.Equal(t, "Ev0PV52K21", ids["direct"])
	require.Equal(t, "12466734323.1395872398.5a6d1e/1710000007.000001", ids["shortcut"])
}

func TestAStoredRequestWithoutItsIdsIsRefused(t *testing.T) {
	for _, raw := range []string{"", "[]", "{}", `{"kind":"press","id":"1"}`} {
		_, err := inbound.Stored([]byte(raw))
		require.Error(t, err, raw)
	}
}

func FuzzDecode(f *testing.F) {
	for _, sent := range examples(f) {
		f.Add(sent[0], []byte(sent[1]))
	}
	f.Add("", []byte(`{"type":"event_callback","event":{"type":"message","channel_type":"im","user":"U1","channel":"D1","text":"\u0000\ud800"},"team_id":"T1","event_id":"1"}`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		got, err := inbound.Decode(contentType, body)
		if err != nil {
			return
		}
		if got.Kind == inbound.Handshake || got.Kind == inbound.Ignored {
			return
		}
		raw := got.Encode()
		again, err := inbound.Stored(raw)
		require.NoError(t, err)
		require.Equal(t, got, again, "what is stored is what was read")
		require.LessOrEqual(t, len(got.ID), 2*128+1)
		require.LessOrEqual(t, len([]rune(got.Text)), inbound.MaxText)
		require.NotContains(t, got.Text+got.Name+got.Value, "\x00")
		secrets := map[string]any{}
		require.NoError(t, json.Unmarshal(raw, &secrets))
		require.NotContains(t, secrets, "token")
		require.NotContains(t, secrets, "response_url")
	})
}
