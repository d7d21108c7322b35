package slack_test

import (
	"testing"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
)

func TestWhoSomebodyIsAndWhoseMemberTheyAre(t *testing.T) {
	const home, org = `{"ok":true,"team_id":"T1","user":"ocpctl"}`, `{"ok":true,"team_id":"T1","enterprise_id":"E1","user":"ocpctl"}`
	for name, c := range map[string]struct {
		home, user string
		want       slack.Person
	}{
		"a member": {home, `{"id":"U1","team_id":"T1","name":"maya","profile":{"display_name":"Maya","email":"Maya@Example.com"}}`,
			slack.Person{ID: "U1", Workspace: "T1", Name: "Maya", Email: "maya@example.com"}},
		"one without a display name": {home, `{"id":"U1","team_id":"T1","name":"maya","real_name":"Maya N","profile":{}}`,
			slack.Person{ID: "U1", Workspace: "T1", Name: "Maya N"}},
		"a guest":           {home, `{"id":"U1","team_id":"T1","name":"g","is_restricted":true}`, slack.Person{ID: "U1", Workspace: "T1", Name: "g", Guest: true}},
		"a guest of one":    {home, `{"id":"U1","team_id":"T1","name":"g","is_ultra_restricted":true}`, slack.Person{ID: "U1", Workspace: "T1", Name: "g", Guest: true}},
		"a deactivated one": {home, `{"id":"U1","team_id":"T1","name":"d","deleted":true}`, slack.Person{ID: "U1", Workspace: "T1", Name: "d", Deactivated: true}},
		"a bot":             {home, `{"id":"U1","team_id":"T1","name":"b","is_bot":true}`, slack.Person{ID: "U1", Workspace: "T1", Name: "b", Bot: true}},
		"Slackbot":          {home, `{"id":"USLACKBOT","team_id":"T1","name":"b"}`, slack.Person{ID: "USLACKBOT", Workspace: "T1", Name: "b", Bot: true}},
		"a stranger":        {home, `{"id":"U1","team_id":"T9","name":"s","is_stranger":true}`, slack.Person{ID: "U1", Workspace: "T9", Name: "s", Stranger: true}},
		"one through a shared channel, whom Slack calls no stranger": {home, `{"id":"U1","team_id":"T9","name":"s","is_stranger":false}`,
			slack.Person{ID: "U1", Workspace: "T9", Name: "s", Stranger: true}},
		"one of another workspace of the organization": {org, `{"id":"W1","team_id":"T2","name":"o","enterprise_user":{"id":"W1","enterprise_id":"E1"}}`,
			slack.Person{ID: "W1", Workspace: "T2", Org: "E1", Name: "o"}},
		"one of another organization": {org, `{"id":"W1","team_id":"T9","name":"o","enterprise_user":{"id":"W1","enterprise_id":"E9"}}`,
			slack.Person{ID: "W1", Workspace: "T9", Org: "E9", Name: "o", Stranger: true}},
	} {
		client, s := scripted(t, map[string]string{"auth.test": c.home, "users.info": `{"ok":true,"user":` + c.user + `}`})
		for range 2 {
			got, err := client.Person(t.Context(), c.want.ID)
			require.NoError(t, err, name)
			require.Equal(t, c.want, got, name)
		}
		require.Len(t, s.asked, 3, "whose token it is, is asked once")
	}
}

func TestWhatSlackKnowsOfAChannelAndAGroup(t *testing.T) {
	c, _ := scripted(t, map[string]string{
		"conversations.info":    `{"ok":true,"channel":{"id":"C1","name":"clusters","is_member":true,"is_archived":true,"is_ext_shared":true}}`,
		"usergroups.users.list": `{"ok":true,"users":["U1","U2"]}`,
	})
	channel, err := c.Channel(t.Context(), "C1")
	require.NoError(t, err)
	require.Equal(t, slack.Channel{ID: "C1", Name: "clusters", Member: true, Archived: true, External: true}, channel)
	members, err := c.GroupMembers(t.Context(), "S1")
	require.NoError(t, err)
	require.Equal(t, []string{"U1", "U2"}, members)
}

func TestWhoIsInAChannelIsLookedForPageByPage(t *testing.T) {
	for name, c := range map[string]struct {
		cursor string
		asked  int
		is     error
	}{"not among them": {"", 1, nil}, "too many": {"more", 20, slack.ErrTooMany}} {
		client, s := scripted(t, map[string]string{"conversations.members": `{"ok":true,"members":["U1","U2"],"response_metadata":{"next_cursor":"` + c.cursor + `"}}`})
		in, err := client.InChannel(t.Context(), "C1", "U2")
		require.NoError(t, err, name)
		require.True(t, in, name)
		in, err = client.InChannel(t.Context(), "C1", "U3")
		require.ErrorIs(t, err, c.is, name)
		require.False(t, in, name)
		require.Len(t, s.asked, 1+c.asked, name)
	}
	client, _ := scripted(t, map[string]string{"conversations.members": `{"ok":false,"error":"channel_not_found"}`, "conversations.info": `{"ok":true,"channel":{"id":"C1","is_pending_ext_shared":true}}`})
	_, err := client.InChannel(t.Context(), "C1", "U3")
	require.ErrorIs(t, err, slack.ErrChannel)
	invited, err := client.Channel(t.Context(), "C1")
	require.NoError(t, err)
	require.True(t, invited.External)
}

func TestAFormIsOpenedAndReplaced(t *testing.T) {
	c, s := scripted(t, map[string]string{"views.open": `{"ok":true,"view":{"id":"V1"}}`, "views.update": `{"ok":true,"view":{"id":"V1"}}`, "views.publish": `{"ok":true,"view":{"id":"V2"}}`})
	form := api.ModalViewRequest{Type: api.VTModal, Title: api.NewTextBlockObject(api.PlainTextType, "Create", false, false), CallbackID: "create"}
	id, err := c.OpenForm(t.Context(), "1.2.3", form)
	require.NoError(t, err)
	require.Equal(t, "V1", id)
	require.NoError(t, c.UpdateForm(t.Context(), "V1", "hash", form))
	require.NoError(t, c.ShowHome(t.Context(), "U1", api.HomeTabViewRequest{Type: api.VTHomeTab}))
	require.Contains(t, s.asked[0].body, `"trigger_id":"1.2.3"`)
	require.Contains(t, s.asked[1].body, `"hash":"hash"`)
	require.Contains(t, s.asked[2].body, `"user_id":"U1"`)
}
