package slack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAKubeconfigIsALinkForOnePersonThatIsNotKept(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	require.Contains(t, h.slack("UMATE", "kubeconfig demo"), "Type `/ocp link`", "who the person is has to be proved")
	h.links("UMATE", proved("saml:mate", "ocpctl-team-platform"))
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "kubeconfig demo"
	require.Regexp(t, `Open <http://127\.0\.0\.1:8080/links/[A-Za-z0-9_-]{40,}> and sign in to get your own kubeconfig of .demo.`, h.slackAs(e))
	kept := func() []string {
		return h.Query(`SELECT concat(person, ' ', channel, ' ', body, ' ', blocks) FROM replies WHERE cause = $1`, "slack:T1:"+e.ID)
	}
	require.True(t, strings.HasPrefix(kept()[0], "UMATE C1 "), "only they see it")
	require.True(t, strings.HasSuffix(kept()[0], " []"), "no blocks")
	h.Query(`UPDATE replies SET blocks = jsonb_build_array(jsonb_build_object('text', body)) WHERE cause = $1 RETURNING id`, "slack:T1:"+e.ID)
	id := h.Query(`SELECT id FROM replies WHERE cause = $1`, "slack:T1:"+e.ID)[0]
	require.NoError(t, h.Store.Outbox.Replied(t.Context(), id, 7))
	require.NotRegexp(t, `/links/[A-Za-z0-9_-]{40,}`, kept()[0], "neither in the text nor in blocks")
	require.Equal(t, 2, strings.Count(kept()[0], "/links/…"))
}

func TestAShareInSlackSaysWhatItsPeopleMayDoInTheCluster(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	require.Contains(t, h.slack("UMATE", "share demo <@UPAY> --role view"), "for use with the role view")
	require.Contains(t, h.slack("UMATE", "share demo --team payments --role root"), "root")
	require.Equal(t, []string{"slack:T1/UPAY use view"}, h.Query(`SELECT concat(grantee, ' ', access, ' ', role) FROM shares`))
	h.links("UPAY", proved("saml:pay", "ocpctl-team-payments"))
	require.Contains(t, h.slack("UPAY", "status demo"), "demo is ready")
	require.Contains(t, h.slack("UPAY", "kubeconfig demo --role admin"), "is shared with you as view, and you asked for admin")
	require.Contains(t, h.slack("UPAY", "kubeconfig demo"), "sign in to get your own kubeconfig")
	require.Equal(t, []string{"view"}, h.Query(`SELECT role FROM access WHERE by_right <> 'role'`))
}

func TestAClusterIsSharedWithTheMembersThatAGroupHasNow(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	h.workspace.groups = map[string][]string{"S1": {"UPAY", "UBOT", "ULEFT", "UOTHER", "UGUEST", "UANY"}}
	require.Contains(t, h.slack("UPAY", "status demo"), "You have no cluster called demo")
	said := h.slack("UMATE", "share demo <!subteam^S1|@oncall>")
	require.Contains(t, said, "`demo` is shared with the current members of the group (2 people)")
	require.Contains(t, said, "People who join the group later are not included")
	require.Equal(t, []string{"slack:T1/UANY", "slack:T1/UPAY"}, h.Query(`SELECT grantee FROM shares ORDER BY 1`))
	require.Len(t, h.Query(`SELECT action FROM audit_events WHERE action = 'shared'`), 2, "one line each")
	require.Contains(t, h.slack("UPAY", "status demo"), "demo is ready")
	require.Contains(t, h.slack("UANY", "status demo"), "demo is ready", "somebody without a role, too")
	require.Contains(t, h.slack("UPAY", "destroy demo"), "demo", "they see it")
	require.Contains(t, h.slack("UMATE", "unshare demo <!subteam^S1>"), "no longer shared with the current members of the group (2 people)")
	require.Empty(t, h.Query(`SELECT grantee FROM shares`))

	most := make([]string, 51)
	for i := range most {
		most[i] = fmt.Sprintf("UMEMBER%d", i)
		h.workspace.people[most[i]] = slack.Person{ID: most[i], Workspace: "T1", Name: "member"}
	}
	h.workspace.groups["S1"] = most
	require.Contains(t, h.slack("UMATE", "share demo <!subteam^S1>"), "This group has 51 members, and a cluster is shared with at most 50 at once")
	h.workspace.groups["S1"] = most[:50]
	require.Contains(t, h.slack("UMATE", "share demo <!subteam^S1>"), "(50 people)")
	h.workspace.groups["S1"] = []string{"UBOT", "ULEFT", "UGUEST"}
	require.Contains(t, h.slack("UMATE", "share demo <!subteam^S1>"), "Nobody in this user group can be given a cluster")
	h.workspace.groups["S1"] = most[:50]
	h.workspace.down = true
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "share demo <!subteam^S1>"
	_, err := h.service.Handle(t.Context(), e)
	require.ErrorIs(t, err, errDown, "it is tried again")
}

func TestAShareCountsForThePersonWhoLinkedTheAccount(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	h.links("UANY", proved("saml:any", "nothing-here"))
	require.Contains(t, h.slack("UMATE", "share demo <@UANY>"), "shared with `@any`")
	require.Equal(t, []string{"saml:any"}, h.Query(`SELECT grantee FROM shares`))
}

func TestAFormSharesAndHandsOver(t *testing.T) {
	h := screenedWith(ours(t))
	row := h.mate("demo")
	opens := func(verb chatops.Verb) *form {
		press := h.pressOf("UMATE", blocks.Press{Verb: verb, Cluster: row.ID})
		press.Trigger = press.ID
		h.triggers[press.ID] = true
		h.handle(press)
		return h.open[len(h.open)-1]
	}
	f := opens(chatops.VerbShare)
	require.Contains(t, f.raw, "Cluster `demo`")
	for _, c := range []struct{ person, team, want string }{
		{"", "", "Choose a person or name a team, one of them."}, {"UROB", "payments", "Choose a person or name a team, one of them."},
		{"UGUEST", "", "is a guest of this workspace"}, {"UBOT", "", "That is an app"}, {"", "nowhere", "nowhere"},
	} {
		h.enters(f, "person", c.person)
		h.enters(f, "team", c.team)
		r, note := h.submits("UMATE", f)
		require.Equal(t, "share: refused", note)
		require.Contains(t, f.raw, "Nothing was changed.")
		require.Contains(t, f.raw, c.want)
		require.Equal(t, []string{c.person, c.team}, []string{f.entered["person"], f.entered["team"]}, "what was entered stays")
		require.Equal(t, blocks.FormShare, f.view.CallbackID, "and can be corrected")
		require.Empty(t, h.answers(r))
	}
	require.Empty(t, h.Query(`SELECT grantee FROM shares`))
	h.enters(f, "person", "")
	h.enters(f, "team", "payments")
	r, _ := h.submits("UMATE", f)
	require.Contains(t, f.raw, "Done.")
	require.Contains(t, h.answers(r)[0], "shared with team `payments`")

	f = opens(chatops.VerbTransfer)
	h.enters(f, "person", "UMATE")
	h.submits("UMATE", f)
	require.Contains(t, f.raw, "to yourself")
	require.Equal(t, "UMATE", f.entered["person"])
	h.enters(f, "person", "UROB")
	h.submits("UMATE", f)
	require.Contains(t, f.raw, "is offered to rob")
	require.Equal(t, []string{"offered slack:T1/UROB"}, h.Query(`SELECT state || ' ' || to_account FROM handovers`))

	f = opens(chatops.VerbShare)
	r = h.with(inbound.Submission, "UMATE", f)
	r.View.Metadata = `{"press":{"v":"destroy","c":"` + row.ID + `"}}`
	h.handle(r)
	require.Contains(t, f.raw, "does not know this button", "a form does what its callback says")
	require.Equal(t, lifecycle.Present, h.row(row.ID).Desired)
}
