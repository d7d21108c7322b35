package slack_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

func TestAClickIsSentAsSlackSendsIt(t *testing.T) {
	a := withApp(t, slack.Config{})
	ts := done(t, a.Server, "chat.postMessage", m{"channel": slack.Clusters, "text": "x", "blocks": []m{actions("a", button("go", "Go"), button("stop", "Stop"))}})["ts"].(string)
	for _, named := range []string{"stop", "Stop", "a/stop", "v-stop"} {
		require.NoError(t, a.Click(t.Context(), "rob", ts, named))
		g := a.last()
		require.Equal(t, []any{"block_actions", "U0DEMOROBB", slack.Workspace, slack.Workspace, slack.App},
			[]any{g.at("type"), g.at("user.id"), g.at("user.team_id"), g.at("team.id"), g.at("api_app_id")})
		require.Equal(t, []any{"stop", "a", "v-stop", "button"}, []any{g.at("actions.0.action_id"), g.at("actions.0.block_id"), g.at("actions.0.value"), g.at("actions.0.type")})
		require.Equal(t, []any{"message", ts, slack.Clusters, false}, []any{g.at("container.type"), g.at("container.message_ts"), g.at("container.channel_id"), g.at("container.is_ephemeral")})
		require.Equal(t, []any{slack.Clusters, "clusters", ts}, []any{g.at("channel.id"), g.at("channel.name"), g.at("message.ts")})
		require.NotEmpty(t, g.at("trigger_id"))
		require.NotEmpty(t, g.at("response_url"))
	}
	require.ErrorContains(t, a.Click(t.Context(), "rob", ts, "jump"), "there are go, stop")
	require.ErrorContains(t, a.Click(t.Context(), "sam", ts, "go"), "sees no message", "he is not in the channel")
	require.ErrorContains(t, a.ChangeField(t.Context(), "rob", ts, "go", "x"), "is a button")
	a.answers(http.StatusInternalServerError, "")
	require.ErrorContains(t, a.Click(t.Context(), "rob", ts, "go"), "dispatch_failed (status 500)")
	require.NoError(t, a.DeleteMessage(slack.Clusters, ts))
	require.Error(t, a.Click(t.Context(), "rob", ts, "go"))
}

func TestAnEphemeralMessageIsItsReadersAndNotSentAlong(t *testing.T) {
	a := withApp(t, slack.Config{})
	ts := done(t, a.Server, "chat.postEphemeral", m{"channel": slack.Clusters, "user": "U0DEMOROBB", "text": "x", "blocks": []m{actions("a", button("go", "Go"))}})["message_ts"].(string)
	require.Error(t, a.Click(t.Context(), "maya", ts, "go"))
	require.NoError(t, a.Click(t.Context(), "rob", ts, "go"))
	require.Equal(t, true, a.last().at("container.is_ephemeral"))
	require.Nil(t, a.last().at("message"))
	require.Empty(t, done(t, a.Server, "conversations.history", m{"channel": slack.Clusters})["messages"])
}

func TestAMenuInAMessageSendsWhatIsChosen(t *testing.T) {
	a := withApp(t, slack.Config{})
	pick := menu("aws", "gcp")
	pick["action_id"] = "cloud"
	who := m{"type": "users_select", "action_id": "who"}
	more := m{"type": "overflow", "action_id": "more", "options": []m{{"text": m{"type": "plain_text", "text": "Logs"}, "value": "logs"}, {"text": m{"type": "plain_text", "text": "Share"}, "value": "share"}}}
	ts := done(t, a.Server, "chat.postMessage", m{"channel": slack.Clusters, "text": "x", "blocks": []m{actions("a", pick, who, more)}})["ts"].(string)
	require.NoError(t, a.ChangeField(t.Context(), "rob", ts, "cloud", "GCP"))
	require.Equal(t, "gcp", a.last().at("actions.0.selected_option.value"))
	require.Equal(t, "gcp", a.last().at("state.values.a.cloud.selected_option.value"))
	require.NoError(t, a.ChangeField(t.Context(), "rob", ts, "who", "maya"))
	require.Equal(t, "U0DEMOMAYA", a.last().at("actions.0.selected_user"))
	require.NoError(t, a.ChangeField(t.Context(), "rob", ts, "more", "logs"))
	require.Equal(t, "logs", a.last().at("actions.0.selected_option.value"))
	require.ErrorContains(t, a.ChangeField(t.Context(), "rob", ts, "cloud", "azure"), `no option "azure"; it has aws, gcp`)
}

// trigger returns the trigger of a fresh command of rob.
func (a *app) trigger() string {
	a.t.Helper()
	_, err := a.Command(a.t.Context(), "rob", slack.Clusters, "create")
	require.NoError(a.t, err)
	return a.last().Form.Get("trigger_id")
}

func TestATriggerOpensOneModalWithinThreeSeconds(t *testing.T) {
	at := time.Now()
	a := withApp(t, slack.Config{Now: func() time.Time { return at }})
	view := modal("create", input("name", "Name", m{"type": "plain_text_input"}, nil))
	trigger := a.trigger()
	require.Equal(t, "invalid_arguments", call(t, a.Server, "views.open", m{"trigger_id": trigger, "view": m{"type": "modal"}})["error"])
	require.Equal(t, "invalid_arguments", call(t, a.Server, "views.open", m{"trigger_id": trigger})["error"])
	require.Equal(t, "invalid_arguments", call(t, a.Server, "views.open", m{"view": view})["error"])
	require.Equal(t, "invalid_trigger_id", call(t, a.Server, "views.open", m{"trigger_id": "1.2.ab", "view": view})["error"])
	opened := done(t, a.Server, "views.open", m{"trigger_id": trigger, "view": view})["view"].(m)
	require.Equal(t, []any{"create", "meta", opened["id"], nil}, []any{opened["callback_id"], opened["private_metadata"], opened["root_view_id"], opened["previous_view_id"]})
	require.Equal(t, "exchanged_trigger_id", call(t, a.Server, "views.open", m{"trigger_id": trigger, "view": view})["error"])
	late := a.trigger()
	at = at.Add(3001 * time.Millisecond)
	require.Equal(t, "expired_trigger_id", call(t, a.Server, "views.open", m{"trigger_id": late, "view": view})["error"])
	require.Equal(t, opened["id"], a.Modal("rob").ID)
	require.Nil(t, a.Modal("maya"))
}

func TestAFormIsFilledInAndSubmitted(t *testing.T) {
	a := withApp(t, slack.Config{})
	live := input("profile", "Profile", menu("small", "large"), m{"dispatch_action": true})
	v := done(t, a.Server, "views.open", m{"trigger_id": a.trigger(), "view": modal("create", live,
		input("name", "Name", m{"type": "plain_text_input", "max_length": 5}, nil), input("note", "Note", m{"type": "plain_text_input"}, m{"optional": true}))})["view"].(m)
	id := v["id"].(string)
	before := len(a.all())
	require.ErrorContains(t, a.ChangeField(t.Context(), "rob", id, "Name", "too long"), "5 characters at most")
	require.NoError(t, a.ChangeField(t.Context(), "rob", id, "Name", "demo"))
	require.Len(t, a.all(), before, "the app hears of it with the submission")
	missing, err := a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"profile": "Please complete this required field."}, missing.Errors)
	require.Len(t, a.all(), before, "Slack's client checks required fields")

	require.NoError(t, a.ChangeField(t.Context(), "rob", id, "profile", "large"))
	g := a.last()
	require.Equal(t, []any{"block_actions", "view", id, "large", "demo"}, []any{
		g.at("type"), g.at("container.type"), g.at("container.view_id"), g.at("actions.0.selected_option.value"), g.at("view.state.values.name.name.value"),
	})
	require.Nil(t, g.at("channel"))

	// The app changes the form; what was entered stays, and an old hash is refused.
	shorter := modal("create", input("profile", "Profile", menu("large", "huge"), m{"dispatch_action": true}), input("name", "Name", m{"type": "plain_text_input"}, nil), section("Costs 3 $"))
	old := g.at("view.hash")
	done(t, a.Server, "views.update", m{"view_id": id, "hash": old, "view": shorter})
	require.Equal(t, "hash_conflict", call(t, a.Server, "views.update", m{"view_id": id, "hash": old, "view": shorter})["error"])
	require.Equal(t, "demo", a.Modal("rob").State["name"]["name"]["value"])

	a.answers(http.StatusOK, `{"response_action":"errors","errors":{"name":"This name is taken."}}`)
	shown, err := a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"name": "This name is taken."}, shown.Errors)
	g = a.last()
	require.Equal(t, []any{"view_submission", "create", "meta", "large", "demo"}, []any{
		g.at("type"), g.at("view.callback_id"), g.at("view.private_metadata"), g.at("view.state.values.profile.profile.selected_option.value"), g.at("view.state.values.name.name.value"),
	})

	for _, wrong := range []string{`{"response_action":"errors","errors":{"other":"x"}}`, `{"response_action":"errors"}`, `{"response_action":"dance"}`, `no JSON`,
		`{"response_action":"update","view":{"type":"modal"}}`} {
		a.answers(http.StatusOK, wrong)
		shown, err = a.SubmitView(t.Context(), "rob")
		require.NoError(t, err)
		require.Contains(t, shown.Trouble, "We had some trouble connecting", wrong)
	}
	a.answers(http.StatusOK, `{"response_action":"update","view":{"type":"modal","title":{"type":"plain_text","text":"Working"},"blocks":[]}}`)
	shown, err = a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	require.Equal(t, []any{id, "Working", ""}, []any{shown.ID, shown.Title, shown.Trouble})
	done(t, a.Server, "views.update", m{"view_id": id, "view": modal("done", section("Done"))})
	a.answers(http.StatusOK, "")
	shown, err = a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	require.Nil(t, shown)
	require.Equal(t, "not_found", call(t, a.Server, "views.update", m{"view_id": id, "view": shorter})["error"])
	_, err = a.SubmitView(t.Context(), "rob")
	require.ErrorContains(t, err, "sees no modal")
}

func TestASubmissionCanPushAViewAndClearAll(t *testing.T) {
	a := withApp(t, slack.Config{})
	first := done(t, a.Server, "views.open", m{"trigger_id": a.trigger(), "view": modal("first", section("x"))})["view"].(m)["id"]
	a.answers(http.StatusOK, `{"response_action":"push","view":{"type":"modal","title":{"type":"plain_text","text":"Second"},"blocks":[]}}`)
	second, err := a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	require.Equal(t, []any{"Second", first, first}, []any{second.Title, second.Root, second.Previous})
	require.Error(t, a.Click(t.Context(), "rob", first.(string), "x"), "it is below the other one")
	require.NoError(t, a.CloseView(t.Context(), "rob"))
	require.Equal(t, first, a.Modal("rob").ID)
	_, err = a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	a.answers(http.StatusOK, `{"response_action":"clear"}`)
	shown, err := a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	require.Nil(t, shown)
	require.NoError(t, a.CloseView(t.Context(), "rob"), "there is nothing to close")
}

func TestAFormTakesPeopleChannelsAndSeveralValues(t *testing.T) {
	a := withApp(t, slack.Config{})
	several := menu("a", "b", "c")
	several["type"] = "multi_static_select"
	checks := menu("x", "y")
	checks["type"] = "checkboxes"
	id := done(t, a.Server, "views.open", m{"trigger_id": a.trigger(), "view": modal("share",
		input("who", "Person", m{"type": "users_select"}, nil), input("where", "Channel", m{"type": "conversations_select"}, nil),
		input("more", "More", several, nil), input("checks", "Checks", checks, m{"optional": true}))})["view"].(m)["id"].(string)
	for field, values := range map[string][]string{"Person": {"@maya"}, "more": {"d"}, "who": {"maya", "rob"}, "where": {"#nowhere"}} {
		require.Error(t, a.ChangeField(t.Context(), "rob", id, field, values...), field)
	}
	for field, values := range map[string][]string{"Person": {"maya"}, "where": {"#payments"}, "more": {"C", "a"}, "checks": {"x"}} {
		require.NoError(t, a.ChangeField(t.Context(), "rob", id, field, values...))
	}
	require.NoError(t, a.ChangeField(t.Context(), "rob", id, "checks"))
	_, err := a.SubmitView(t.Context(), "rob")
	require.NoError(t, err)
	g := a.last()
	require.Equal(t, []any{"U0DEMOMAYA", slack.Payments, "c", []any{}}, []any{
		g.at("view.state.values.who.who.selected_user"), g.at("view.state.values.where.where.selected_conversation"),
		g.at("view.state.values.more.more.selected_options.0.value"), g.at("view.state.values.checks.checks.selected_options"),
	})
}

func TestAClosedFormIsAnnouncedToAnAppThatAsksForIt(t *testing.T) {
	a := withApp(t, slack.Config{})
	view := modal("create", section("x"))
	done(t, a.Server, "views.open", m{"trigger_id": a.trigger(), "view": view})
	before := len(a.all())
	require.NoError(t, a.CloseView(t.Context(), "rob"))
	require.Len(t, a.all(), before)
	view["notify_on_close"] = true
	done(t, a.Server, "views.open", m{"trigger_id": a.trigger(), "view": view})
	require.NoError(t, a.CloseView(t.Context(), "rob"))
	require.Equal(t, "view_closed", a.last().at("type"))
}

func TestHomeIsPublishedAndPressed(t *testing.T) {
	a := withApp(t, slack.Config{})
	require.NoError(t, a.OpenHome(t.Context(), "maya"))
	g := a.last()
	require.Equal(t, []any{"app_home_opened", "U0DEMOMAYA", "home", "D0DEMOMAYA", nil}, []any{g.at("event.type"), g.at("event.user"), g.at("event.tab"), g.at("event.channel"), g.at("event.view")})
	home := m{"type": "home", "blocks": []m{section("Yours"), actions("c1", button("ocp_destroy", "Destroy")), actions("c2", button("ocp_destroy", "Destroy"))}}
	v := done(t, a.Server, "views.publish", m{"user_id": "U0DEMOMAYA", "view": home})["view"].(m)
	require.NoError(t, a.Click(t.Context(), "maya", v["id"].(string), "c2/ocp_destroy"))
	require.Equal(t, []any{"c2", "home", v["id"]}, []any{a.last().at("actions.0.block_id"), a.last().at("view.type"), a.last().at("container.view_id")})
	require.Equal(t, "hash_conflict", call(t, a.Server, "views.publish", m{"user_id": "U0DEMOMAYA", "view": home, "hash": "1.2"})["error"])
	done(t, a.Server, "views.publish", m{"user_id": "U0DEMOMAYA", "view": home, "hash": v["hash"]})
	require.Equal(t, "invalid_arguments", call(t, a.Server, "views.publish", m{"user_id": "U0DEMOMAYA", "view": modal("x", section("x"))})["error"])
	require.Equal(t, "user_not_found", call(t, a.Server, "views.publish", m{"user_id": "U0DEMODEAN", "view": home})["error"])
	require.NoError(t, a.OpenHome(t.Context(), "maya"))
	require.NotNil(t, a.last().at("event.view.hash"))
	require.Error(t, a.OpenHome(t.Context(), "dean"))
}

func TestShortcutsAreSentAsSlackSendsThem(t *testing.T) {
	a := withApp(t, slack.Config{})
	require.NoError(t, a.UseShortcut(t.Context(), "maya", "create", ""))
	g := a.last()
	require.Equal(t, []any{"shortcut", "create", nil}, []any{g.at("type"), g.at("callback_id"), g.at("channel")})
	done(t, a.Server, "views.open", m{"trigger_id": g.at("trigger_id"), "view": modal("create", section("x"))})
	require.NotNil(t, a.Modal("maya"))
	ts, err := a.Write(t.Context(), "rob", slack.Post{Channel: slack.Clusters, Text: "broken since 9"})
	require.NoError(t, err)
	require.NoError(t, a.UseShortcut(t.Context(), "maya", "create_message", ts))
	g = a.last()
	require.Equal(t, []any{"message_action", ts, "broken since 9", slack.Clusters}, []any{g.at("type"), g.at("message_ts"), g.at("message.text"), g.at("channel.id")})
	require.Error(t, a.UseShortcut(t.Context(), "maya", "create_message", "1.2"))
}
