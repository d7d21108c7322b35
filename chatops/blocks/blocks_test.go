package blocks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks/blockstest"
	"github.com/ocpctl/ocpctl/chatops/chatopstest"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/blockkit"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

var (
	start = chatopstest.Start
	ui    = chatops.Links{UI: "https://ocp.example.com"}
)

func approval() chatops.Waiting {
	return chatops.Waiting{ID: "apr_1", Cluster: "pr41-shop", Team: "platform", By: "maya", Why: []string{"it costs more than $10.00"}, Votes: 1, Needs: 2, Until: start.Add(4 * time.Hour)}
}

func TestTheMessageOfAClusterIsGolden(t *testing.T) {
	for name, c := range chatopstest.Lives() {
		t.Run(name, func(t *testing.T) {
			v := ClusterView{Card: c, Links: ui, Asker: "U0MAYA"}
			if c.Phase == lifecycle.AwaitingApproval {
				a := approval()
				v.Approval = &a
			}
			m := Cluster(v)
			goldenMessage(t, "cluster-"+name, m)
			require.NotContains(t, m.Text, "<@", "nobody is mentioned")
			require.Equal(t, m, Cluster(v), "the same values give the same message")
		})
	}
}

func TestWhatAClusterWaitsForIsGolden(t *testing.T) {
	a := approval()
	goldenMessage(t, "cluster-asked", Cluster(ClusterView{Card: chatopstest.Lives()["awaiting-approval"], Links: ui, Approval: &a, Asker: "Maya", Detail: chatops.Detail{
		Approval: "Approved by one of: rob, the team sre-leads, until 2025-01-01 16:00 UTC. Otherwise it counts as refused.\n\n- **price**: It costs more than $10.00. **Next:** Ask for a shorter time.",
		Advice:   "**Worth knowing:**\n\n- **budget**: Team platform has used 80 % of its budget.", Approvers: []string{"rob"}, Mention: []string{"ready"},
	}}))
}

func TestAClustersMessageWithoutPagesIsGolden(t *testing.T) {
	goldenMessage(t, "cluster-without-pages", Cluster(ClusterView{Card: chatopstest.Ready()}))
}

func TestAThreadIsGolden(t *testing.T) {
	news := []Moment{{At: start, What: "installing", Why: "the cluster is being created"}, {At: start.Add(40 * time.Minute), What: "ready"}}
	goldenMessage(t, "thread", Thread(chatopstest.Ready(), news))
	goldenMessage(t, "thread-of-one", Thread(chatopstest.Ready(), news[1:]))
	require.NotEmpty(t, Thread(chatopstest.Ready(), nil).Text)
}

// noticed are notices of every event, with what a press makes of them.
func noticed() map[string]NoticeView {
	lives := chatopstest.Lives()
	end := start.Add(24 * time.Hour)
	warning := NoticeView{Event: Expiring, Card: lives["expiring"], Mention: "U0MAYA", Facts: Facts{End: end, Before: time.Hour, Longest: 48 * time.Hour}}
	warning.Card.Ends.TTL = end
	short, over, extended := warning, warning, warning
	short.Facts.Before, short.Facts.Longest = 15*time.Minute, 90*time.Minute
	over.Card = lives["expiring"]
	over.Facts.End, over.Facts.Longest = over.Card.Ends.Max, 0
	extended.Facts.Done, extended.Facts.DoneBy = "Extended until 2025-01-02 16:00 UTC.", "U0ROB"
	ask := NoticeView{Event: HandoverAsk, Card: lives["ready"], Mention: "U0ROB", Facts: Facts{From: "maya", Handover: "hov_1"}}
	taken := ask
	taken.Facts.Done, taken.Facts.DoneBy = "Accepted.", "U0ROB"
	asked := NoticeView{Event: Approval, Card: lives["awaiting-approval"], Facts: Facts{Approval: "apr_1"}}
	half := asked
	half.Facts.Voters = []string{"rob", "ada of <@U0MAYA>", "WILL"}
	approved := asked
	approved.Facts.Done, approved.Facts.Who = "It was approved.", "Maya Weber and @rob"
	again := NoticeView{Event: Failed, Card: lives["create-failed"], Facts: Facts{Done: "It was requested again as `demo`.", DoneBy: "U0ROB"}}
	digest := NoticeView{Event: Failed, Card: lives["create-failed"], Facts: Facts{Runbook: "failed-create"}}
	for i, life := range []string{"create-failed-quota", "create-failed-lost"} {
		one := digest
		one.Card, one.ID, one.Links, one.More = lives[life], fmt.Sprintf("not_%d", i+2), ui, nil
		digest.More = append(digest.More, one)
	}
	findings := NoticeView{Event: Finding, Facts: Facts{Title: "A cluster is past its end", Text: "its end passed an hour ago\n- `a`", Runbook: "overdue"}}
	for _, f := range []Facts{{Title: "A queue job used up its attempts", Text: "`reconcile`: no route", Runbook: "failed-jobs"}, {Title: "A cluster is past its end", Text: "its end passed two hours ago", Runbook: "overdue"}, {Title: "A finding: new kind", Text: "x"}} {
		findings.More = append(findings.More, NoticeView{Event: Finding, Facts: f, Links: ui})
	}
	resting := NoticeView{Event: Resting, Card: lives["ready"], Mention: "U0MAYA", Facts: Facts{End: start.Add(10 * time.Hour)}}
	kept := resting
	kept.Facts.Done, kept.Facts.DoneBy = "It stays awake until 07:00 UTC.", "U0ROB"
	return map[string]NoticeView{
		"idle":            {Event: Idle, Card: lives["ready"], Mention: "U0MAYA", Facts: Facts{Since: start.Add(time.Hour), Sleeps: start.Add(5 * time.Hour), End: start.Add(48 * time.Hour)}},
		"idle-told":       {Event: Idle, Card: lives["ready"], Facts: Facts{Since: start.Add(time.Hour)}},
		"idle-unobserved": {Event: Idle, Card: lives["ready"], Facts: Facts{Since: start.Add(time.Hour), Unobserved: true}},
		"idle-used":       {Event: Idle, Card: lives["ready"], Facts: Facts{Since: start.Add(time.Hour), Done: "It was used again: somebody woke it."}},
		"resting":         resting, "resting-kept-awake": kept,
		"ready": {Event: Ready, Card: lives["ready"], Mention: "U0MAYA"}, "ready-linked": {Event: Ready, Card: lives["linked"]}, "ready-elsewhere": {Event: Ready, Card: lives["ready"]},
		"failed": {Event: Failed, Card: lives["create-failed"], Mention: "U0MAYA"}, "failed-for-admins": {Event: Failed, Card: lives["create-failed-quota"], Facts: Facts{Runbook: "failed-create"}},
		"expiring": warning, "expiring-less-than-a-step": short, "expiring-at-the-maximum": over, "expiring-extended": extended,
		"expiring-closed": {Event: Expiring, Card: lives["ready-closed"], Facts: Facts{End: start.Add(2 * time.Hour), Before: 15 * time.Minute}},
		"blocked":         {Event: Blocked, Card: lives["destroy-blocked"], Facts: Facts{Runbook: "destroy-blocked"}},
		"destroyed":       {Event: Destroyed, Card: lives["destroyed"]}, "approval": asked, "approval-with-votes": half, "approved": approved, "failed-requested-again": again, "handover": ask, "handover-accepted": taken,
		"finding":              {Event: Finding, Facts: Facts{Title: "Resources without a cluster", Text: "3 resources in `us-east-1` belong to no cluster. **Next:** compare them with the runbook, then remove them.", Runbook: "orphans"}},
		"weekly":               {Event: Weekly, Facts: Facts{Title: "Week of 16 to 22 November 2026, team platform", Text: "**Spent:** $184.50 by list prices.\n**What to do:**\n- Look into `VPCLimitExceeded`.", Page: "/reports?from=2026-11-16&team=platform&to=2026-11-23"}},
		"budget":               {Event: Budget, Facts: Facts{Title: "Team payments has used 80 % of its budget", Text: "It has spent $400.00 and promised $120.00, of $650.00 this month.", Runbook: "catalogue"}},
		"finding-of-a-cluster": {Event: Finding, Card: lives["destroy-blocked"], Facts: Facts{Title: "A teardown is blocked", Text: "It was tried 3 times.\n- `vpc-0a1`", Runbook: "destroy-blocked"}},
		"subscription-ended":   {Event: SubscriptionEnded, Facts: Facts{Title: "This channel no longer gets messages about the clusters of team payments", Text: "The person who subscribed this channel has left it. Somebody in this channel who may see these clusters can subscribe it again with `/ocp notify ready --team payments`."}},
		"handover-ended":       {Event: HandoverEnded, Facts: Facts{Title: "Your offer of demo has ended", Text: "Will accepted it just now, but you may no longer transfer the cluster, so it was not handed over. Ask somebody of its team to offer it."}},
		"approval-password":    {Event: Approval, Card: lives["ready"], Facts: Facts{Approval: "apr_2", Title: "The kubeadmin password of pr41-shop is requested", Text: "rob requests it, because **the login is broken**."}},
		"digest":               digest, "digest-of-warnings": warnings(warning), "digest-of-findings": findings, "digest-destroyed": gone(), "unknown": {Event: "something", Card: lives["ready"]},
	}
}

// warnings are those of four clusters of two owners, one of which was extended since.
func warnings(warning NoticeView) NoticeView {
	all := warning
	for i, mention := range []string{"U0ROB", "U0MAYA", ""} {
		one := warning
		one.ID, one.Mention, one.Links, one.Card.ID, one.Card.Name = fmt.Sprintf("not_%d", i+2), mention, ui, fmt.Sprintf("clu_%d", i+2), fmt.Sprintf("demo-%d", i+2)
		all.More = append(all.More, one)
	}
	all.More[0].Facts.Done, all.More[0].Facts.DoneBy = "Extended until 2025-01-02 16:00 UTC.", "U0ROB"
	return all
}

// gone are clusters that are gone: there is nothing to press.
func gone() NoticeView {
	v := NoticeView{Event: Destroyed, Card: chatopstest.Lives()["destroyed"], Links: ui}
	v.More = []NoticeView{v, v, v}
	return v
}

func TestADigestOfWarningsExtendsEachClusterByItsOwnButtons(t *testing.T) {
	v := warnings(noticed()["expiring"])
	v.ID, v.Links = "not_1", ui
	m := Notice(v)
	require.Empty(t, blockkit.Message(encoded(t, m)))
	pressed := map[string]string{}
	for _, b := range m.Blocks {
		if row, ok := b.(*api.ActionBlock); ok {
			for _, p := range presses(t, []api.Block{row}) {
				require.Equal(t, chatops.VerbExtend, p.Verb)
				pressed[p.Cluster] = p.Notice
			}
		}
	}
	require.Equal(t, map[string]string{"clu_1": "not_1", "clu_3": "not_3", "clu_4": "not_4"}, pressed, "but for the one that was extended")
	require.Contains(t, m.Text, "<@U0MAYA>, <@U0ROB>: this is about your clusters.")
	for range 100 {
		v.More = append(v.More, v.More[1])
	}
	require.Empty(t, blockkit.Message(encoded(t, Notice(v))), "however many there are")
}

func TestNoticesAreGolden(t *testing.T) {
	for name, v := range noticed() {
		t.Run(name, func(t *testing.T) {
			v.ID, v.Links = "not_1", ui
			m := Notice(v)
			goldenMessage(t, "notice-"+name, m)
			if v.Facts.Done != "" && v.More == nil {
				require.Empty(t, presses(t, m.Blocks), "what is done cannot be pressed again")
			}
		})
	}
	for event := range kinds {
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Values(noticed())), func(v NoticeView) bool { return v.Event == event }), "no golden file shows %s", event)
	}
}

func TestOnlySixEventsMentionSomebody(t *testing.T) {
	for event := range kinds {
		v := NoticeView{Event: event, ID: "not_1", Card: chatopstest.Ready(), Mention: "U0MAYA", Links: ui, Facts: Facts{From: "<@U0ROB>", End: start}}
		mentions := strings.Count(Notice(v).Text, "<@")
		if slices.Contains([]Event{Ready, Failed, Expiring, Resting, Idle, HandoverAsk}, event) {
			require.Equal(t, 1, mentions, event)
		} else {
			require.Zero(t, mentions, event)
		}
		v.Facts.Done, v.Facts.DoneBy = "It was done.", "U0ROB"
		require.Equal(t, 1, strings.Count(Notice(v).Text, "<@"), event)
		v.Mention, v.Facts.Done = "U1> <!channel", ""
		require.NotContains(t, Notice(v).Text, "<@", event)
	}
}

// presses are the presses of all buttons, by label.
func presses(t *testing.T, blocks []api.Block) map[string]Press {
	t.Helper()
	all := map[string]Press{}
	for _, b := range blocks {
		var elements []api.BlockElement
		switch b := b.(type) {
		case *api.ActionBlock:
			elements = b.Elements.ElementSet
		case *api.SectionBlock:
			if b.Accessory != nil {
				elements = append(elements, b.Accessory.ButtonElement)
			}
		}
		for _, e := range elements {
			button := e.(*api.ButtonBlockElement)
			p, err := DecodePress(button.Value)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(button.ActionID, "ocp_"+string(p.Verb)))
			require.Equal(t, p.Verb == chatops.VerbDestroy, button.Confirm != nil)
			all[button.Text.Text] = p
		}
	}
	return all
}

func TestAWarningOffersWhatTheMaximumAllows(t *testing.T) {
	v := noticed()["expiring"]
	v.ID = "not_1"
	end := v.Card.Ends.TTL.UnixMicro()
	require.Equal(t, map[string]Press{
		"Extend 4 h":                            {Verb: chatops.VerbExtend, Cluster: "clu_1", Notice: "not_1", End: end, Value: "4h"},
		"Extend to the maximum (Sat 12:00 UTC)": {Verb: chatops.VerbExtend, Cluster: "clu_1", Notice: "not_1", End: end, Value: "48h"},
	}, presses(t, Notice(v).Blocks))
	v.Facts.Longest = 4 * time.Hour
	require.Len(t, presses(t, Notice(v).Blocks), 1, "two buttons that do the same are one")
	v.Facts.Longest = 90*time.Minute + 20*time.Second
	require.Equal(t, "1h31m", presses(t, Notice(v).Blocks)["Extend to the maximum (Thu 13:30 UTC)"].Value)
	v.Facts.Longest = 0
	require.Empty(t, presses(t, Notice(v).Blocks))
	require.Contains(t, Notice(v).Text, "It cannot be extended.")
}

func TestTheButtonsOfAClusterFitItsState(t *testing.T) {
	lives := chatopstest.Lives()
	for name, want := range map[string][]string{
		"installing":        {"Destroy", "Extend 4 h", "Hand over…", "Logs", "Share…"},
		"ready":             {"Destroy", "Extend 4 h", "Hand over…", "Kubeconfig", "Logs", "Open console", "Share…"},
		"expiring":          {"Destroy", "Hand over…", "Kubeconfig", "Logs", "Open console", "Share…"},
		"destroy-blocked":   {"Logs", "Retry"},
		"create-failed":     {"Logs", "Retry"},
		"awaiting-approval": {"Approve", "Destroy", "Extend 4 h", "Hand over…", "Refuse…", "Share…"},
		"pending":           {"Destroy", "Extend 4 h", "Hand over…", "Share…"},
		"destroyed":         {},
	} {
		a := approval()
		m := Cluster(ClusterView{Card: lives[name], Links: ui, Approval: &a})
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(presses(t, m.Blocks))), name)
	}
	require.NotContains(t, presses(t, Cluster(ClusterView{Card: lives["awaiting-approval"]}).Blocks), "Approve", "nobody knows which approval")
}

func listed(n int) (rows []Listed) {
	names := slices.Sorted(maps.Keys(chatopstest.Lives()))
	for i := range n {
		c := chatopstest.Lives()[names[i%len(names)]]
		c.ID, c.Name = fmt.Sprintf("clu_%d", i), fmt.Sprintf("shop-%d", i)
		rows = append(rows, Listed{Card: c})
	}
	return rows
}

func TestAListIsGolden(t *testing.T) {
	v := ListView{Rows: listed(12), Filter: "team platform", Next: "clu_12", Links: ui, Now: start.Add(90 * time.Minute)}
	v.Rows[11].Idle = "no kubeconfig has been handed out since yesterday" // it is ready
	goldenMessage(t, "list", List(v))
	goldenMessage(t, "list-empty", List(ListView{Links: ui}))
	long := List(ListView{Rows: listed(200), Links: ui})
	require.Empty(t, blockkit.Message(encoded(t, long)))
	require.Contains(t, blockstest.Readable(long.Blocks), "shop-199", "all of 200 clusters fit")
}

func TestAQuestionWhichClusterIsGolden(t *testing.T) {
	cards := []lifecycle.Card{chatopstest.Ready(), chatopstest.Lives()["installing"]}
	cards[1].ID, cards[1].Name = "clu_2", "demo"
	goldenMessage(t, "choose-destroy", Choose("You have 2 clusters. Which one do you want to destroy?", cards, Press{Verb: chatops.VerbDestroy}))
	m := Choose("Which one?", cards, Press{Verb: chatops.VerbExtend, Value: "4h"})
	require.Equal(t, Press{Verb: chatops.VerbExtend, Cluster: "clu_2", End: cards[1].Ends.TTL.UnixMicro(), Value: "4h"}, presses(t, m.Blocks[2:])["Extend"])
	many := Choose("Which one?", slices.Repeat(cards, 50), Press{Verb: chatops.VerbLogs})
	require.Empty(t, blockkit.Message(encoded(t, many)))
	require.Contains(t, many.Text, "There are 60 more.")
}

func TestApprovalsAreGolden(t *testing.T) {
	own := approval()
	own.ID, own.WhyNot, own.Secret, own.Head = "apr_2", "You asked for it yourself.", "kubeadmin password", "0123456789abcdef"
	goldenMessage(t, "approvals", Approvals([]chatops.Waiting{approval(), own}, true, ui))
	goldenMessage(t, "approvals-none", Approvals(nil, false, ui))
	require.Empty(t, blockkit.Message(encoded(t, Approvals(slices.Repeat([]chatops.Waiting{approval()}, 60), false, ui))))
}

func TestAnswersAreGolden(t *testing.T) {
	goldenMessage(t, "help", Help(""))
	goldenMessage(t, "answer", Answer("**shop** is `ready` until 2025-01-02 12:00 UTC.\n- [its page](https://ocp.example.com/clusters/clu_1)"))
	goldenMessage(t, "answer-logs", Answer(chatops.LogReply("U0MAYA", chatopstest.Ready(), []string{"level=info <b> & `x`", "@here done"}, 1, ui)))
	require.Equal(t, slack.Message{Text: "–"}, Answer(" \n"))
}

func TestALongAnswerIsSplitAndKeepsItsCode(t *testing.T) {
	log := strings.Repeat("level=info msg=\"waiting\" <a & b>\n", 60)
	m := Answer(strings.Repeat("Some words to begin with.\n", 60) + "```\n" + log + "```\nThe end.")
	require.Empty(t, blockkit.Message(encoded(t, m)))
	require.Len(t, m.Blocks, 2, "the code block moved to the second section as a whole")
	for _, b := range m.Blocks {
		require.Zero(t, strings.Count(b.(*api.SectionBlock).Text.Text, "```")%2)
	}
	m = Answer("```\n" + strings.Repeat(log, 4) + "```")
	require.Empty(t, blockkit.Message(encoded(t, m)))
	require.Greater(t, len(m.Blocks), 2)
	for _, b := range m.Blocks {
		require.True(t, strings.HasPrefix(b.(*api.SectionBlock).Text.Text, "```\n") && strings.HasSuffix(b.(*api.SectionBlock).Text.Text, "\n```"))
	}
}

func TestAPressSurvivesItsButton(t *testing.T) {
	p := Press{Verb: chatops.VerbExtend, Cluster: "clu_1", Approval: "apr_1", Notice: "not_1", Value: "4h"}
	got, err := DecodePress(p.Encode())
	require.NoError(t, err)
	require.Equal(t, p, got)
	for _, bad := range []string{"", "{}", "x", `{"v": 1}`, `[]`} {
		_, err := DecodePress(bad)
		require.Error(t, err, bad)
	}
}

func TestAnAnswerOffersWhatItsReaderMayDo(t *testing.T) {
	c := chatopstest.Ready()
	all, err := json.Marshal(Cluster(ClusterView{Card: c}).Blocks)
	require.NoError(t, err)
	mine, err := json.Marshal(Cluster(ClusterView{Card: c, Acts: []chatops.Verb{chatops.VerbLogs}, Now: c.UpdatedAt.Add(10 * time.Hour)}).Blocks)
	require.NoError(t, err)
	require.Contains(t, string(all), "ocp_destroy")
	require.NotContains(t, string(mine), "ocp_destroy")
	require.Contains(t, string(mine), "ocp_logs")
	require.Contains(t, string(mine), "about "+price.Dollars(c.Meter.Spent(c.UpdatedAt.Add(10*time.Hour)))+" so far")
}
