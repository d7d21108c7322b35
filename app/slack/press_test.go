package slack_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestAButtonDoesWhatTheCommandDoes(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	for _, c := range []struct {
		press blocks.Press
		want  string
	}{
		{blocks.Press{Verb: chatops.VerbExtend, Value: "4h"}, "The lifetime of `demo` now ends"},
		{blocks.Press{Verb: chatops.VerbLogs}, "demo"},
		{blocks.Press{Verb: chatops.VerbStatus}, "demo is ready"},
		{blocks.Press{Verb: chatops.VerbExplain}, "About `demo`"},
		{blocks.Press{Verb: chatops.VerbKubeconfig}, "to link the Slack account `T1/UMATE` to you and get your own kubeconfig of `demo`"},
		{blocks.Press{Verb: chatops.VerbRetry}, "There is nothing to retry"},
		{blocks.Press{Verb: chatops.VerbShare}, "The form could not be shown: Slack lets it open for three seconds only, or its window was closed. Press the button again, or type `/ocp share demo @somebody`"},
		{blocks.Press{Verb: chatops.VerbTransfer}, "or type `/ocp transfer demo @somebody`"},
		{blocks.Press{Verb: chatops.VerbDestroy}, "`demo` is being destroyed"},
		{blocks.Press{Verb: chatops.VerbDestroy}, "`demo` is already being destroyed"},
		{blocks.Press{Verb: chatops.VerbExtend, Value: "4h"}, "already being destroyed"},
	} {
		c.press.Cluster = row.ID
		e := h.pressOf("UMATE", c.press)
		said := h.slackAs(e)
		require.Contains(t, said, c.want, c.press.Verb)
		lines := h.audited()
		h.restart()
		require.Equal(t, said, h.slackAs(e), "sent again")
		require.Equal(t, lines, h.audited(), c.press.Verb)
	}
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbList}), "demo")
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbHelp}), "`/ocp help all` lists every command")
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbHelp, Value: chatops.AllCommands}), "/ocp unhold")
	require.Contains(t, h.press("ULINK", blocks.Press{Verb: chatops.VerbLink}), "/links/")
}

func TestAButtonOfAClusterThatIsGoneSaysSo(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	h.Release(row)
	for verb, want := range map[chatops.Verb]string{
		chatops.VerbExtend: "nothing has been left of it", chatops.VerbDestroy: "demo was destroyed", chatops.VerbShare: "nothing has been left of it", chatops.VerbTransfer: "nothing has been left of it", chatops.VerbKubeconfig: "nothing has been left of it", chatops.VerbStatus: "demo is gone", chatops.VerbExplain: "demo",
	} {
		p := blocks.Press{Verb: verb, Cluster: row.ID}
		if verb == chatops.VerbExtend {
			p.Value = "4h"
		}
		if verb == chatops.VerbKubeconfig {
			h.links("UMATE", proved("saml:mate", "ocpctl-team-platform"))
		}
		require.Contains(t, h.press("UMATE", p), want, verb)
	}
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbExtend, Cluster: "clu_unknown", Value: "4h"}), "because you may not see this cluster")
}

func TestAnUnknownButtonIsAnsweredPolitely(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	for _, value := range []string{"", "approve", `{"v":"explode"}`, `{"v":"create-everything","c":"x"}`, `{"v":"extend"}`, `{"v":"page","x":"["}`, `{"v":"approve"}`,
		`{"v":"accept-handover"}`, `[]`, `{"v":"extend","c":"` + row.ID + `","x":"soon"}`} {
		e := h.asks(inbound.Press, "UMATE")
		e.Action, e.Value = "someone_elses", value
		require.Contains(t, h.slackAs(e), "ocpctl does not know this button", value)
	}
	require.Equal(t, row.Version, h.row(row.ID).Version)
}

func TestWhoHasSeveralClustersIsAskedWhichOne(t *testing.T) {
	h := ours(t)
	a, b := h.mate("alpha"), h.mate("beta")
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "extend 3h"
	require.Contains(t, h.slackAs(e), "You have 2 clusters. Which one do you mean by `/ocp extend`?")
	values := h.Query(`SELECT b->'accessory'->>'value' FROM replies, jsonb_array_elements(blocks) b WHERE cause = $1 AND b ? 'accessory'`, "slack:T1:"+e.ID)
	require.Len(t, values, 2)
	press := h.asks(inbound.Press, "UMATE")
	press.Value = values[0]
	require.Contains(t, h.slackAs(press), "The lifetime of `")
	now := []clusters.Row{h.row(a.ID), h.row(b.ID)}
	require.Equal(t, 1, moved(a, now[0])+moved(b, now[1]), "the one that was meant, by 3 hours")
	require.Contains(t, h.slack("UMATE", "extend 3h alpha"), "The lifetime of `alpha`")
}

func TestWhoHasManyClustersIsOfferedTheNewest(t *testing.T) {
	h := ours(t)
	h.Catalogue.Quotas = nil
	for i := range 11 {
		e := h.asks(inbound.Command, "UMATE")
		e.Text = fmt.Sprintf("create aws-minimal-test --name c%02d", i)
		h.slackAs(e)
	}
	said := h.slack("UMATE", "destroy")
	require.Contains(t, said, "You have more than 10 clusters. Which one do you mean by `/ocp destroy`?")
	require.Contains(t, said, "c10")
	require.NotContains(t, said, "c00")
}

// moved is 1 if a cluster's lifetime was extended by three hours.
func moved(before, now clusters.Row) int {
	if now.Ends.TTL.Sub(before.Ends.TTL) == 3*time.Hour {
		return 1
	}
	return 0
}

// extendButton is the first Extend button that a cluster's message shows now.
func extendButton(row clusters.Row, notice string) blocks.Press {
	return blocks.Press{Verb: chatops.VerbExtend, Cluster: row.ID, Notice: notice, Value: "4h", End: row.Ends.TTL.UnixMicro()}
}

func TestOfTwoWhoExtendFromAWarningTheSecondHearsWhoWasFirst(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	id := h.notice(blocks.Expiring, row.ID, blocks.Facts{End: row.DestroyAt, Before: time.Hour, Longest: 48 * time.Hour})
	p := extendButton(row, id)
	first := h.pressOf("UROB", p)
	require.Contains(t, h.slackAs(first), "The lifetime of `demo` now ends")
	facts, _ := h.told(id)
	require.Equal(t, "UROB", facts.DoneBy)
	require.Regexp(t, `^Extended until .* UTC\.$`, facts.Done)
	require.Equal(t, time.Hour, facts.Before, "the rest stays")
	require.Equal(t, []string{"true"}, h.Query(`SELECT (r.xmin = n.xmin)::text FROM replies r, notices n WHERE r.cause = $1`, "slack:T1:"+first.ID), "it shows that from the same moment")

	ends := h.row(row.ID).Ends.TTL
	require.Contains(t, h.press("UMATE", p), "`demo` was already extended by `@rob`")
	require.Equal(t, ends, h.row(row.ID).Ends.TTL)
	facts, _ = h.told(id)
	require.Equal(t, "UROB", facts.DoneBy, "who was first")
	require.Contains(t, h.slack("UMATE", "extend 4h demo"), "The lifetime of `demo` now ends", "the command always extends")
}

func TestAnExtendButtonExtendsOnceFromTheEndThatItShows(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	ready := h.notice(blocks.Ready, row.ID, blocks.Facts{})
	for place, notice := range map[string]string{"the cluster's message, or Home": "", "the notice that it is ready": ready} {
		before := h.row(row.ID)
		p := extendButton(before, notice)
		var said []string
		var together errgroup.Group
		presses := []inbound.Request{h.pressOf("UMATE", p), h.pressOf("UMATE", p), h.pressOf("UROB", p)}
		for _, e := range presses {
			together.Go(func() error { _, err := h.service.Handle(t.Context(), e); return err })
		}
		require.NoError(t, together.Wait(), place)
		for _, e := range presses {
			said = append(said, h.slackAs(e))
		}
		extended := slices.DeleteFunc(slices.Clone(said), func(text string) bool { return !h.contains(text, "now ends") })
		require.Len(t, extended, 1, "%s: %v", place, said)
		already := slices.DeleteFunc(said, func(text string) bool { return !h.contains(text, "`demo` was already extended by `@") })
		require.Len(t, already, 2, place)
		now := h.row(row.ID)
		require.Equal(t, 4*time.Hour, now.Ends.TTL.Sub(before.Ends.TTL), place)
		require.Contains(t, h.press("UMATE", extendButton(now, notice)), "now ends", "the updated message extends again")
	}
	facts, _ := h.told(ready)
	require.Empty(t, facts.Done, "its other buttons stay")
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbExtend, Cluster: row.ID, Value: "1h"}), "now ends", "a button of an older release says no end")

	// Several are offered: each button of the question extends once, too.
	other := h.mate("other")
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "extend 2h"
	h.slackAs(e)
	values := h.Query(`SELECT b->'accessory'->>'value' FROM replies, jsonb_array_elements(blocks) b WHERE cause = $1 AND b->'accessory'->>'value' LIKE $2`, "slack:T1:"+e.ID, "%"+other.ID+"%")
	for _, want := range []string{"now ends", "was already extended by `@mate`"} {
		press := h.asks(inbound.Press, "UMATE")
		press.Value = values[0]
		require.Contains(t, h.slackAs(press), want)
	}
}

func TestARefusedPressBringsItsNoticeUpToDate(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	id := h.notice(blocks.Expiring, row.ID, blocks.Facts{End: row.DestroyAt})
	h.Query(`UPDATE clusters SET desired = 'absent', desired_why = '{"code":"other","words":"over"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	_, before := h.told(id)
	p := blocks.Press{Verb: chatops.VerbExtend, Cluster: row.ID, Notice: id, Value: "4h"}
	require.Contains(t, h.press("UMATE", p), "already being destroyed")
	facts, now := h.told(id)
	require.Empty(t, facts.DoneBy, "the press did nothing")
	require.Equal(t, before+1, now, "it is shown again as it is now")
	require.Contains(t, h.press("UAUDIT", p), "you need the role")
	_, still := h.told(id)
	require.Equal(t, now, still, "who may not press changes nothing")
}

func TestAVoteByButtonBringsItsNoticeUpToDate(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{Count: 2, By: "requester"})
	a := h.waits()
	id := h.notice(blocks.Approval, a.Cluster, blocks.Facts{Approval: a.ID})
	p := blocks.Press{Verb: chatops.VerbApprove, Approval: a.ID, Notice: id}
	require.Contains(t, h.press("UAUDIT", p), "You are an auditor")
	_, before := h.told(id)
	require.Contains(t, h.press("UMATE", p), "1 of the 2 votes")
	_, half := h.told(id)
	require.Greater(t, half, before, "it shows who approved so far")
	require.Contains(t, h.press("UMATE", p), "You have already voted")
	_, before = h.told(id)
	require.Contains(t, h.press("UBOSS", p), "It starts now")
	_, over := h.told(id)
	require.Greater(t, over, before, "it shows who approved")
	require.Contains(t, h.press("UROB", p), "no longer pending")
}

func TestRefusingByButtonAsksForTheReasonInAForm(t *testing.T) {
	f := inSlack(t, profiles.ApprovalTerms{})
	h := screenedWith(f)
	a := h.waits()
	id := h.notice(blocks.Approval, a.Cluster, blocks.Facts{Approval: a.ID})
	press := h.pressOf("UBOSS", blocks.Press{Verb: chatops.VerbRefuse, Approval: a.ID, Notice: id})
	require.Contains(t, h.slackAs(press), "Add a reason", "without a trigger")
	press = h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbRefuse, Approval: a.ID, Notice: id})
	press.Trigger = press.ID
	h.triggers[press.ID] = true
	h.handle(press)
	require.Contains(t, h.open[0].raw, "You are a requester", "no form for who may not")
	require.Empty(t, h.open[0].entered)

	press = h.pressOf("UBOSS", blocks.Press{Verb: chatops.VerbRefuse, Approval: a.ID, Notice: id})
	press.Trigger = press.ID
	h.triggers[press.ID] = true
	h.handle(press)
	require.Len(t, h.open, 2)
	form := h.open[1]
	require.Equal(t, blocks.FormReason, form.view.CallbackID)
	h.enters(form, "reason", " ")
	empty := h.with(inbound.Submission, "UBOSS", form)
	h.handle(empty)
	require.Equal(t, clusters.ApprovalPending, h.approval(a.ID).State)
	require.Contains(t, form.raw, "Nothing was changed.")

	h.handle(press)
	require.Len(t, h.open, 2, "a form opens once")
	press.ID, press.Trigger = "again", "again"
	h.triggers["again"] = true
	h.handle(press)
	form = h.open[2]
	h.enters(form, "reason", "not this week")
	sent := h.with(inbound.Submission, "UBOSS", form)
	h.handle(sent)
	require.Equal(t, clusters.ApprovalRefused, h.approval(a.ID).State)
	require.Contains(t, form.raw, "Done.")
	require.Contains(t, h.answers(sent)[0], "You refused `"+a.ClusterName+"`")
	require.Equal(t, "answered before", h.handle(sent), "its process died before the form showed it")
	require.Len(t, h.approval(a.ID).Votes, 1)
}

func TestAFailedClusterIsRetriedOnceFromItsNotice(t *testing.T) {
	h := ours(t)
	h.slack("UMATE", "create aws-minimal-test --name demo --ttl 7h")
	row := h.Only()
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'create_failed', desired = 'absent', desired_why = '{"code":"install_failed"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	id := h.notice(blocks.Failed, row.ID, blocks.Facts{})
	p := blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID, Notice: id}
	first := h.pressOf("UROB", p)
	said := h.slackAs(first)
	require.Contains(t, said, "is accepted")
	require.Equal(t, said, h.slackAs(first))
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []any{7 * time.Hour, row.Owner, row.Profile}, []any{rows[1].TTL, rows[1].Owner, rows[1].Profile}, "who helps does not become the owner")
	places := h.Query(`SELECT DISTINCT concat_ws(' ', workspace, channel, person) FROM subscribers WHERE workspace IS NOT NULL`)
	require.Len(t, places, 1, "its message goes where the first one went: %v", places)
	facts, _ := h.told(id)
	require.Equal(t, []string{fmt.Sprintf("Requested again as `%s`.", rows[1].Name), "UROB"}, []string{facts.Done, facts.DoneBy})
	require.Contains(t, h.press("UMATE", p), "`demo` was already requested again by `@rob`, as `"+rows[1].Name+"`")
	admins := h.notice(blocks.Failed, row.ID, blocks.Facts{Title: "of another channel"})
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID, Notice: admins}), "as `"+rows[1].Name+"`", "wherever it is pressed")
	require.Len(t, h.Clusters(), 2)
	require.Contains(t, h.slack("UMATE", "retry demo"), "is accepted", "the command always does")
}

func TestAClusterThatIsOnlySharedIsNotRequestedAgain(t *testing.T) {
	h := ours(t)
	h.slack("UMATE", "create aws-minimal-test --name demo")
	h.links("UPAY", proved("saml:pay", "ocpctl-team-payments"))
	require.Contains(t, h.slack("UMATE", "share demo --team payments"), "payments")
	row := h.Only()
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'create_failed', fail_reason = 'QuotaExceeded', desired = 'absent', desired_why = '{"code":"install_failed"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	const refused = "To retry it you need the role"
	require.Contains(t, h.slack("UPAY", "retry demo"), refused)
	require.Contains(t, h.press("UPAY", blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID}), refused)
	require.Len(t, h.Clusters(), 1)
}

func TestARetryButtonMeansItOnceWhoeverPressesIt(t *testing.T) {
	h := ours(t)
	h.slack("UMATE", "create aws-minimal-test --name demo")
	row := h.Only()
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'create_failed', fail_reason = 'QuotaExceeded', desired = 'absent', desired_why = '{"code":"install_failed"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	require.Contains(t, chatops.SummaryOf(h.row(row.ID).Card, chatops.Detail{}, chatops.Links{}).Acts, chatops.VerbRetry)
	before := h.row(row.ID).Version
	p := blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID} // of the cluster's own message, or of Home
	people := []string{"UMATE", "UROB", "UMATE", "UROB"}
	presses := make([]inbound.Request, len(people))
	for i, user := range people {
		presses[i] = h.pressOf(user, p)
	}
	var together errgroup.Group
	for _, e := range presses {
		together.Go(func() error { _, err := h.service.Handle(t.Context(), e); return err })
	}
	require.NoError(t, together.Wait())
	rows := h.Clusters()
	require.Len(t, rows, 2)
	accepted := 0
	for _, e := range presses {
		if said := h.slackAs(e); h.contains(said, "is accepted") {
			accepted++
		} else {
			require.Contains(t, said, "`demo` was already requested again by `@")
			require.Contains(t, said, ", as `"+rows[1].Name+"`. Nothing was changed.")
		}
	}
	require.Equal(t, 1, accepted)
	failed := h.row(row.ID)
	require.Equal(t, rows[1].Name, failed.ReplacedBy)
	require.Greater(t, failed.Version, before, "its message is updated")
	require.NotContains(t, chatops.SummaryOf(failed.Card, chatops.Detail{}, chatops.Links{}).Acts, chatops.VerbRetry, "the button is gone")
	require.Contains(t, h.slack("UMATE", "retry demo"), "is accepted", "the command always does")
	require.Len(t, h.Clusters(), 3)
}

func TestABlockedTeardownIsRetriedFromItsNotice(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked', desired = 'absent', desired_why = '{"code":"other","words":"over"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	id := h.notice(blocks.Blocked, row.ID, blocks.Facts{})
	require.Contains(t, h.press("UROB", blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID, Notice: id}), "is tried again now")
	facts, _ := h.told(id)
	require.Equal(t, []string{"The teardown was tried again.", "UROB"}, []string{facts.Done, facts.DoneBy})
	require.Equal(t, lifecycle.Absent, h.row(row.ID).Desired)
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID, Notice: id}), "`@rob` already had the teardown of `demo` tried again")
}

func TestAnOfferedClusterIsTakenOrDeclinedByButton(t *testing.T) {
	for name, c := range map[string]struct {
		verb              chatops.Verb
		said, done, owner string
	}{
		"accept":  {chatops.VerbAcceptHandover, "its owner is now rob", "Accepted.", "rob"},
		"decline": {chatops.VerbDeclineHandover, "demo", "Declined.", "mate"},
	} {
		t.Run(name, func(t *testing.T) {
			h := ours(t)
			row := h.mate("demo")
			require.Contains(t, h.slack("UMATE", "transfer demo <@UROB>"), "demo is offered to rob")
			offer := h.Query(`SELECT id FROM handovers`)[0]
			id := h.notice(blocks.HandoverAsk, row.ID, blocks.Facts{Handover: offer})
			p := blocks.Press{Verb: c.verb, Cluster: row.ID, Notice: id, Value: offer}
			require.Contains(t, h.press("UPAY", p), "you may not see this cluster", "it is not theirs")
			facts, _ := h.told(id)
			require.Empty(t, facts.Done)
			e := h.pressOf("UROB", p)
			require.Contains(t, h.slackAs(e), c.said)
			require.Equal(t, c.owner, h.row(row.ID).Owner)
			facts, _ = h.told(id)
			require.Equal(t, []string{c.done, "UROB"}, []string{facts.Done, facts.DoneBy})
			lines := h.audited()
			h.Query(`DELETE FROM replies WHERE cause = $1 RETURNING id`, "slack:T1:"+e.ID)
			h.restart()
			h.slackAs(e)
			require.Equal(t, lines, h.audited(), "a process that died before the answer")
		})
	}
}
