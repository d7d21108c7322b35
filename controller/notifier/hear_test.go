package notifier

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/notices"
)

// places are where the notices of an event stand, e.g. "C1" for a channel, "C1/thread @U1" for a thread in which U1 is mentioned, and "U1"
// for a direct message.
func places(e event, admins string) (all []string) {
	for _, n := range noticesFor(e, "T1", admins) {
		at := n.Channel + n.Person
		if n.Workspace != "T1" {
			at = n.Workspace + ":" + at
		}
		if n.Thread != "" {
			at += "/thread"
		}
		if n.Mention != "" {
			at += " @" + n.Mention
		}
		all = append(all, at)
	}
	return all
}

func TestWhoHearsOfWhat(t *testing.T) {
	asked := &notices.SlackMessage{Subscriber: "sub_1", Workspace: "T1", Channel: "C1", Person: "UASKER", Timestamp: 1}
	deleted := &notices.SlackMessage{Subscriber: "sub_1", Workspace: "T1", Channel: "C1", Person: "UASKER", Muted: true}
	asker, maya := person{"T1", "UASKER"}, person{"T1", "UMAYA"}
	wants := func(channels ...string) (list []notices.Subscription) {
		for _, c := range channels {
			list = append(list, notices.Subscription{Workspace: "T1", Channel: c})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		e      event
		admins string
		want   []string
	}{
		{"ready: the thread, and the asker", event{kind: blocks.Ready, message: asked, owner: asker}, "CADMIN", []string{"C1/thread @UASKER"}},
		{"ready: also who subscribed, but not the channel that shows it", event{kind: blocks.Ready, message: asked, owner: asker, subscribed: wants("C1", "C2", "C2")}, "", []string{"C1/thread @UASKER", "C2"}},
		{"ready: one from a pull request is told to nobody who did not ask", event{kind: blocks.Ready, owner: maya}, "CADMIN", nil},
		{"failed: the admins too", event{kind: blocks.Failed, message: asked, owner: asker}, "CADMIN", []string{"C1/thread @UASKER", "CADMIN"}},
		{"failed: asked for in the admin channel, it is told once", event{kind: blocks.Failed, message: asked, owner: asker}, "C1", []string{"C1/thread @UASKER"}},
		{"failed: admins who subscribed as well hear it once", event{kind: blocks.Failed, subscribed: wants("CADMIN")}, "CADMIN", []string{"CADMIN"}},
		{"expiring: the asker in the thread", event{kind: blocks.Expiring, message: asked, owner: asker}, "CADMIN", []string{"C1/thread @UASKER"}},
		{"expiring: asked for in Slack by somebody who is not linked", event{kind: blocks.Expiring, message: asked}, "", []string{"C1/thread @UASKER"}},
		{"expiring: the owner of one from a pull request, alone", event{kind: blocks.Expiring, owner: maya, subscribed: wants("C2")}, "", []string{"UMAYA", "C2"}},
		{"expiring: an owner who is not linked hears nothing in Slack", event{kind: blocks.Expiring}, "CADMIN", nil},
		{"expiring: after it was handed over the new owner, not the asker", event{kind: blocks.Expiring, message: asked, owner: maya}, "", []string{"C1/thread", "UMAYA"}},
		{"expiring: the message was deleted, so the notice stands alone", event{kind: blocks.Expiring, message: deleted, owner: asker, subscribed: wants("C1")}, "", []string{"C1 @UASKER"}},
		{"blocked: nobody is mentioned", event{kind: blocks.Blocked, message: asked, owner: asker, subscribed: wants("C2")}, "CADMIN", []string{"C1/thread", "C2", "CADMIN"}},
		{"destroyed: the message shows it, and who subscribed", event{kind: blocks.Destroyed, message: asked, owner: asker, subscribed: wants("C1", "C2")}, "CADMIN", []string{"C2"}},
		{"approval: the admins, unless its message is there", event{kind: blocks.Approval}, "CADMIN", []string{"CADMIN"}},
		{"approval: its message has the buttons", event{kind: blocks.Approval, message: asked}, "C1", nil},
		{"finding: the admins", event{kind: blocks.Finding}, "CADMIN", []string{"CADMIN"}},
		{"finding: of a cluster that is shown there", event{kind: blocks.Finding, message: asked}, "C1", []string{"C1"}},
		{"budget: without an admin channel nobody", event{kind: blocks.Budget}, "", nil},
		{"handover: the one who is asked, alone", event{kind: blocks.HandoverAsk, message: asked, owner: asker, to: maya}, "CADMIN", []string{"UMAYA"}},
		{"handover: to somebody who is not in Slack", event{kind: blocks.HandoverAsk}, "CADMIN", nil},
		{"a repository's file names channels of the bot's workspace", event{kind: blocks.Ready, named: []string{"C7"}, subscribed: wants("C7")}, "", []string{"C7"}},
		{"resting: the asker in the thread", event{kind: blocks.Resting, message: asked, owner: asker}, "CADMIN", []string{"C1/thread @UASKER"}},
		{"resting: the owner of one from a pull request, alone", event{kind: blocks.Resting, owner: maya}, "", []string{"UMAYA"}},
		{"somebody in another workspace", event{kind: blocks.Expiring, owner: person{"T2", "UMAYA"}}, "", []string{"T2:UMAYA"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.cause, c.e.cluster = "clu_1:x", "clu_1"
			require.Equal(t, c.want, places(c.e, c.admins))
			for _, n := range noticesFor(c.e, "T1", c.admins) {
				require.Equal(t, []any{"clu_1:x", string(c.e.kind), "clu_1"}, []any{n.Cause, n.Kind, n.Cluster})
			}
		})
	}
}

func TestAFindingNamesItsRunbookAndItsEvidence(t *testing.T) {
	f := told{Finding: lifecycle.Overdue, Why: "its end passed an hour ago", Evidence: []string{"a", "b`c", "d", "e", "f", "g", "h"}}.toFacts(blocks.Finding)
	require.Equal(t, blocks.Facts{
		Title: "A cluster is past its end", Runbook: "overdue",
		Text: "its end passed an hour ago\n- `a`\n- `b'c`\n- `d`\n- `e`\n- `f`\n- and 2 more",
	}, f)
	require.Equal(t, "A finding: new kind", told{Finding: "new_kind"}.toFacts(blocks.Finding).Title)
	require.Equal(t, blocks.Facts{
		Title: "Team shop has reached 80 % of its budget", Runbook: "budget", Text: "Spent this month and promised to its clusters: $850.00 of $1,000.00.",
	}, told{Team: "shop", Percent: 80, Cents: 85_000, Budget: 100_000}.toFacts(blocks.Budget))
}

func TestFourOfAKindAreToldTogether(t *testing.T) {
	posting := time.Unix(1, 0)
	list := func(kinds ...string) (all []notices.Notice) {
		for i, k := range kinds {
			n := notices.Notice{ID: fmt.Sprint(i), Kind: k}
			if k[0] == '!' {
				n.Kind, n.PostingAt = k[1:], &posting
			}
			all = append(all, n)
		}
		return all
	}
	for _, c := range []struct {
		name string
		list []notices.Notice
		want []string
	}{
		{"three", list("ready", "ready", "ready"), []string{"0"}},
		{"four", list("ready", "ready", "failed", "ready", "ready"), []string{"0", "1", "3", "4"}},
		{"four in which a person is asked something", list("handover", "handover", "handover", "handover"), []string{"0"}},
		{"what may be posted together stays together", list("!ready", "!ready", "ready", "ready", "ready"), []string{"0", "1"}},
		{"what may be posted is not told again with others", list("!ready", "ready", "ready", "ready", "ready"), []string{"0"}},
	} {
		require.Equal(t, c.want, idsOf(nextTogether(c.list)), c.name)
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = "ready"
	}
	require.Len(t, nextTogether(list(many...)), mostTogether)
}

func TestHowFarAnEndCanBeExtended(t *testing.T) {
	at := func(hours int) time.Time { return time.Date(2026, 11, 20, hours, 0, 0, 0, time.UTC) }
	for want, ends := range map[time.Duration]lifecycle.Ends{
		4 * time.Hour: {TTL: at(8), Max: at(12)},
		0:             {TTL: at(12), Max: at(12)},
		3 * time.Hour: {TTL: at(8), Hold: at(9), Max: at(12)},
	} {
		require.Equal(t, want, longestExtension(lifecycle.Cluster{Ends: ends}))
	}
	require.Zero(t, longestExtension(lifecycle.Cluster{Ends: lifecycle.Ends{TTL: at(8), PRClosed: at(2), Max: at(12)}}), "the closed pull request ends it all the same")
}

func TestEveryRunbookThatIsNamedExists(t *testing.T) {
	var pages []string
	for _, page := range runbooks {
		pages = append(pages, page)
	}
	for _, page := range findingRunbooks {
		pages = append(pages, page)
	}
	for _, page := range pages {
		require.FileExists(t, "../../docs/runbooks/"+page+".md")
	}
	for kind := range findingTitles {
		require.NotEmpty(t, findingRunbooks[kind], kind)
	}
}

func TestAChannelIsToldWhichSubscriptionEndedAndWhoCanRenewIt(t *testing.T) {
	for why, want := range map[notices.Ending]string{
		notices.EndedNoMember: "no longer a full member of the workspace. Somebody in this channel", notices.EndedNoRole: "may no longer see these clusters. Somebody in this channel",
		notices.EndedNotInChannel: "has left it. Somebody in this channel", notices.EndedOutside: "is not a platform admin. A platform admin in this channel",
	} {
		f := told{Ended: why, Team: "shop", Events: []string{"failed", "ready"}}.toFacts(blocks.SubscriptionEnded)
		require.Equal(t, "This channel no longer gets messages about the clusters of team shop", f.Title)
		require.Contains(t, f.Text, want)
		require.Contains(t, f.Text, "`/ocp notify failed,ready --team shop`")
	}
	f := told{Ended: notices.EndedNoRole, Team: "shop", Repo: "acme/shop", Events: []string{"ready"}}.toFacts(blocks.SubscriptionEnded)
	require.Contains(t, f.Title, "of the repository acme/shop")
	require.Contains(t, f.Text, "`/ocp notify ready --repo acme/shop --team shop`")
	require.Contains(t, told{Ended: notices.EndedNoRole}.toFacts(blocks.SubscriptionEnded).Title, "about all clusters")
}
