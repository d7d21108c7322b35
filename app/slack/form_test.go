package slack_test

import (
	"strings"
	"testing"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestTheFormFollowsWhatIsChosen(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create", "", "")
	require.Equal(t, blocks.FormCreate, f.view.CallbackID)
	for _, want := range []string{"It would be accepted", "about $0.74 an hour", "us-east-1, $0.74/h", "Such as 8h, 90m or 2d; at most 72 h, by default 24 h", "cert-manager: The cert-manager Operator for Red Hat OpenShift, with", "3 × m6i.xlarge", "AWS standard"} {
		require.Contains(t, f.raw, want)
	}
	for _, absent := range []string{"IBM Cloud", "minted", "offhours", "payments"} {
		require.NotContains(t, f.raw, absent, "what cannot be chosen is not shown")
	}

	require.Regexp(t, "^mate-[a-z2-7]{5}$", f.entered["name"], "a name is proposed")
	h.enters(f, "name", "shop-smoke")
	require.Equal(t, "form updated", h.changes("UMATE", f, "profile", "aws-standard"))
	require.Contains(t, f.raw, "about $1.48 an hour")
	require.Contains(t, f.raw, "Such as 8h, 90m or 2d; at most 7 d, by default 24 h")
	require.Equal(t, []string{"shop-smoke", "us-east-1"}, []string{f.entered["name"], f.entered["region:aws-standard"]})
	h.changes("UMATE", f, "ttl", "500")
	require.Contains(t, f.raw, "It would be refused")
	require.Contains(t, f.raw, "7 d", "what would be accepted stands at the field")
	h.changes("UMATE", f, "ttl", "a day")
	require.Contains(t, f.raw, "is not a duration")
	require.Empty(t, h.Clusters())
}

func TestEveryFieldThatTheVerdictDependsOnRenewsIt(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name taken")
	f := h.opened("UMATE", "ocp_create", "", "")
	live := map[string]bool{}
	for _, b := range f.view.Blocks.BlockSet {
		if input, ok := b.(*api.InputBlock); ok {
			name, _, _ := strings.Cut(input.BlockID, ":")
			live[name] = input.DispatchAction
		}
	}
	require.Equal(t, map[string]bool{
		"name": true, "profile": true, "region": true, "version": true, "baseDomain": true, "ttl": true, "team": true, "owner": true, "costCenter": true,
		"environment": true, "addons": true, "sshPublicKey": false, "extraTags": false, "post": false,
	}, live)
	for _, c := range []struct{ field, wrong, right string }{
		{"name", "taken", "free"}, {"owner", strings.Repeat("x", 300), "Rob"}, {"version", "4.99.1", "4.20.18"},
	} {
		h.changes("UMATE", f, c.field, c.wrong)
		if c.field != "version" { // a choice that is not offered gives way
			require.Contains(t, f.raw, "It would be refused", c.field)
		}
		h.changes("UMATE", f, c.field, c.right)
		require.Contains(t, f.raw, "It would be accepted", c.field)
	}
}

func TestTheFormShowsWhatNobodyCanChoose(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create", "", "")
	for _, want := range []string{
		"ManagedBy, ClusterId, ClusterName, Owner, Team, CostCenter, Environment, TTLExpiry, RequestId, InstallationId on everything in the cloud, set by ocpctl",
	} {
		require.Contains(t, strings.ReplaceAll(f.raw, "\u2060", ""), want)
	}
	for _, b := range f.view.Blocks.BlockSet {
		if input, ok := b.(*api.InputBlock); ok && strings.HasPrefix(input.BlockID, "addons") {
			lines := strings.Split(input.Hint.Text, "\n")
			require.Equal(t, "What the cluster gets besides OpenShift.", lines[0])
			require.Greater(t, len(lines), 2, "a line for each add-on")
			require.Regexp(t, `^cert-manager: .*\.$`, lines[1])
		}
	}
}

func TestASubmittedFormCreatesOneClusterHoweverOftenItComes(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create_message", "C1", "have a look, please")
	h.enters(f, "name", "shop-smoke")
	h.enters(f, "ttl", "12")
	h.enters(f, "extraTags", "Purpose = smoke")
	h.enters(f, "addons", "cert-manager")
	r, note := h.submits("UMATE", f)
	require.Equal(t, "created", note)
	require.Contains(t, f.raw, "`shop-smoke` is accepted. Its message is in #clusters")
	first := f.raw
	row := h.Only()
	require.Equal(t, []any{"shop-smoke", "slack", "mate", "platform", "smoke", []string{"cert-manager"}},
		[]any{row.Name, row.Source, row.Owner, row.Team, row.Tags["Purpose"], row.Addons})
	require.Equal(t, []string{"slack_message T1 C1 UMATE", "slack_thread T1 C1 UMATE"}, h.places(row.ID))

	r.ID = "another delivery of the same submission"
	require.Equal(t, "created", h.handle(r))
	require.Equal(t, first, f.raw, "the same answer")
	require.Len(t, h.Clusters(), 1)
	require.Empty(t, h.answers(r), "the form says it")
}

func TestARefusedFormKeepsWhatWasEntered(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name taken")
	f := h.opened("UMATE", "ocp_create", "", "")
	h.enters(f, "name", "taken")
	h.enters(f, "owner", "Rob")
	h.enters(f, "ttl", "9")
	_, note := h.submits("UMATE", f)
	require.Contains(t, note, "refused: **Name**: The name taken is taken on labs.example.com.")
	require.Contains(t, f.raw, "Nothing was created.")
	require.Contains(t, f.raw, "The name taken is taken on labs.example.com.")
	require.Equal(t, []string{"taken", "Rob", "9"}, []string{f.entered["name"], f.entered["owner"], f.entered["ttl"]})

	h.Release(h.Only())
	h.slack("UMATE", "create aws-minimal-test --name other")
	_, note = h.submits("UMATE", f)
	require.Equal(t, "created", note, "the name is free now, so the same content is another request")

	f = h.opened("UMATE", "ocp_create", "", "")
	h.enters(f, "name", "free")
	h.enters(f, "region", "mars-1") // as a forged submission would
	_, note = h.submits("UMATE", f)
	require.Contains(t, note, "refused: **Region**")
	require.Equal(t, []string{"us-east-1", "free"}, []string{f.entered["region:aws-minimal-test"], f.entered["name"]}, "what is offered, in place of what cannot be")
	require.Len(t, h.Clusters(), 3)
}

func TestTheAnswerToAClosedFormReachesThePerson(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create_message", "C1", "")
	h.enters(f, "name", "shop-smoke")
	r := h.with(inbound.Submission, "UMATE", f)
	f.closed = true
	h.handle(r)
	require.Len(t, h.Clusters(), 1)
	require.Contains(t, h.answers(r)[0], "`shop-smoke` is accepted")
	require.Equal(t, []string{"C1"}, h.Query(`SELECT channel FROM replies WHERE cause = $1`, "slack:T1:"+r.ID))

	f = h.opened("UMATE", "ocp_create", "", "")
	h.enters(f, "name", "shop-smoke")
	r = h.with(inbound.Submission, "UMATE", f)
	f.closed = true
	h.handle(r)
	require.Contains(t, h.answers(r)[0], "The cluster was not created.")
	require.Contains(t, h.answers(r)[0], "is taken")
}

func TestALateAnswerNeverReplacesANewerOne(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create", "", "")
	stored := func(r inbound.Request) inbound.Request {
		_, err := h.Store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: "slack", ID: r.ID, Event: string(r.Kind), Topic: "slack:T1/UMATE", Body: r.Encode()})
		require.NoError(t, err)
		return r
	}
	h.enters(f, "ttl", "3")
	first := stored(h.with(inbound.Change, "UMATE", f))
	h.enters(f, "ttl", "500")
	second := stored(h.with(inbound.Change, "UMATE", f))
	require.Equal(t, "the form was changed again since", h.handle(first))
	require.Equal(t, 1, f.updates, "as it was opened")
	f.updates++ // the answer to an earlier change, of which the second one did not know
	require.Equal(t, "form updated", h.handle(second))
	require.Contains(t, f.raw, "It would be refused")

	third := stored(h.with(inbound.Change, "UMATE", f))
	stored(h.with(inbound.Submission, "UMATE", f))
	f.updates++ // the form that says to wait
	require.Equal(t, "the form was changed again since", h.handle(third), "the submission stays")
	f.closed = true
	require.Equal(t, "the form was closed", h.handle(h.with(inbound.Change, "UMATE", f)))
}

func TestAFormThatCannotOpenInTimeIsOffered(t *testing.T) {
	h := screened(t)
	r := h.request(inbound.Shortcut, "UMATE")
	r.Action, r.Channel, r.Trigger, r.Text = "ocp_create_message", "C1", "expired", "please run `/ocp create aws-standard --name shop-smoke --ttl 7h`"
	h.handle(r)
	require.Empty(t, h.open)
	require.Contains(t, h.answers(r)[0], "The form could not be shown")
	value := h.Query(`SELECT b->'elements'->0->>'value' FROM replies, jsonb_array_elements(blocks) b WHERE cause = $1 AND b->>'type' = 'actions'`, "slack:T1:"+r.ID)
	require.Len(t, value, 1)

	press := h.request(inbound.Press, "UMATE")
	press.Action, press.Value, press.Channel, press.Trigger = "ocp_form", value[0], "C1", press.ID
	h.triggers[press.ID] = true
	h.handle(press)
	require.Len(t, h.open, 1)
	f := h.open[0]
	require.Equal(t, []string{"shop-smoke", "aws-standard", "7h", "C1"}, []string{f.entered["name"], f.entered["profile"], f.entered["ttl"], f.entered["post"]})
	h.handle(press)
	require.Len(t, h.open, 1, "its trigger is used up")
}

func TestNobodySeesAFormThatTheyMayNotSubmit(t *testing.T) {
	h := screened(t)
	for user, want := range map[string]string{"UNOBODY": "`/ocp link`", "UAUDIT": "you need the role"} {
		r := h.request(inbound.Shortcut, user)
		r.Action, r.Trigger = "ocp_create", r.ID
		h.triggers[r.ID] = true
		h.handle(r)
		f := h.open[len(h.open)-1]
		require.Contains(t, f.raw, want, "its window says why")
		require.Empty(t, f.entered, user)
		require.Empty(t, f.view.Submit, user)
		require.Empty(t, h.answers(r), "which is answer enough")
	}
	f := h.opened("UMATE", "ocp_create", "", "")
	h.changes("UAUDIT", f, "ttl", "3")
	require.Contains(t, f.raw, "you need the role", "the preview is judged for whoever looks")
	h.enters(f, "name", "shop-smoke")
	r := h.with(inbound.Submission, "UNOBODY", f)
	h.handle(r)
	require.Contains(t, f.raw, "This Slack account has no role.")
	require.Empty(t, h.Clusters())
}

func TestAFormIsJudgedLikeAnyRequestWhateverItCarries(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create", "", "")
	h.enters(f, "name", "shop-smoke")
	r := h.with(inbound.Submission, "UMATE", f)
	r.View.Metadata = `{"c":"C999","team":"payments"`
	r.View.Values["team"] = map[string]string{"team": "payments"}
	r.View.Values["nonsense"] = map[string]string{"nonsense": "x"}
	require.Contains(t, h.handle(r), "refused")
	require.Empty(t, h.Clusters())
	require.LessOrEqual(t, len(f.view.PrivateMetadata), 3000)
}

func TestTheShortcutForMyClustersShowsThem(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name mine")
	h.slack("UROB", "create aws-minimal-test --name robs")
	f := h.opened("UMATE", "ocp_clusters", "", "")
	require.Contains(t, f.raw, "mine")
	require.NotContains(t, f.raw, "robs")

	r := h.request(inbound.Shortcut, "UMATE")
	r.Action, r.Trigger = "ocp_clusters", "expired"
	h.handle(r)
	require.Contains(t, strings.Join(h.answers(r), ""), "mine")
	r = h.request(inbound.Shortcut, "UMATE")
	r.Action = "ocp_from_tomorrow"
	h.handle(r)
	require.Contains(t, h.answers(r)[0], "does not know this shortcut")
}

func TestAClusterIsShownDirectlyWhereOcpctlIsNotAMember(t *testing.T) {
	h := screened(t)
	f := h.opened("UMATE", "ocp_create_message", "C2", "")
	h.enters(f, "name", "shop-smoke")
	h.handle(h.with(inbound.Submission, "UMATE", f))
	require.Contains(t, f.raw, "in your direct messages with ocpctl, because ocpctl is not a member of the channel that you chose")
	require.Equal(t, []string{"slack_message T1 DUMATE UMATE", "slack_thread T1 DUMATE UMATE"}, h.places(h.Only().ID))
}

func TestTheFormPostsOnlyWhereThePersonIsAndOutsideOnlyForAdmins(t *testing.T) {
	h := screened(t)
	h.fixture.workspace.channels["CSHARED"] = slack.Channel{ID: "CSHARED", Name: "partners", Member: true, External: true}
	h.fixture.workspace.channels["C3"] = slack.Channel{ID: "C3", Name: "payments", Member: true}
	h.fixture.workspace.channels["COLD"] = slack.Channel{ID: "COLD", Name: "old", Member: true, Archived: true}
	h.fixture.workspace.absent["C3"] = []string{"UMATE"}
	f := h.opened("UMATE", "ocp_create", "", "")
	h.enters(f, "name", "shop-smoke")
	for channel, want := range map[string]string{"C3": "You are not in this channel", "CSHARED": "only a platform admin", "COLD": "This channel is archived"} {
		h.enters(f, "post", channel)
		_, note := h.submits("UMATE", f)
		require.Contains(t, note, "refused: **Post updates in**: ", channel)
		require.Contains(t, f.raw, want, channel)
		require.Equal(t, []string{channel, "shop-smoke"}, []string{f.entered["post"], f.entered["name"]})
	}
	require.Empty(t, h.Clusters())
	h.enters(f, "post", "C1")
	_, note := h.submits("UMATE", f)
	require.Equal(t, "created", note)

	f = h.opened("UBOSS", "ocp_create", "", "")
	h.enters(f, "name", "shown-outside")
	h.enters(f, "post", "CSHARED")
	_, note = h.submits("UBOSS", f)
	require.Equal(t, "created", note)
}

func TestASubmittedFormWaitsForTheProofOfItsAccount(t *testing.T) {
	h := screened(t)
	one := profiles.Account{Name: "one", Platform: "aws", Number: "111111111111"}
	h.Catalogue.Accounts = []profiles.Account{one}
	f := h.opened("UMATE", "ocp_create_message", "C1", "have a look, please")
	h.enters(f, "name", "shop-smoke")
	_, note := h.submits("UMATE", f)
	require.Equal(t, "created", note, f.raw)
	row := h.Only()
	require.Empty(t, storetest.Step(t, h.Store, row.ID).Open)
	require.Equal(t, lifecycle.Proof, storetest.Read(t, h.Store, row.ID).Why.Brake.Kind)
	storetest.Prove(t, h.Store, one.Platform, one.Number, one.Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	require.Equal(t, lifecycle.Create, storetest.Step(t, h.Store, row.ID).Open)
}
