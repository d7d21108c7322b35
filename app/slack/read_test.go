package slack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

func TestStatusPostsADeletedMessageAgainWhereItStood(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	require.Contains(t, h.slack("UMATE", "status demo"), "demo is ready", "it stands, so only the person sees the answer")
	h.Query(`UPDATE subscribers SET muted = true, external_id = 7, shown_version = 3 WHERE cluster_id = $1 RETURNING id`, row.ID)
	elsewhere := h.asks(inbound.Command, "UMATE")
	elsewhere.Channel, elsewhere.Text = "C2", "status demo"
	require.Contains(t, h.slackAs(elsewhere), "demo is ready")
	muted := func() []string { return h.Query(`SELECT kind FROM subscribers WHERE muted`) }
	require.Len(t, muted(), 2, "another channel is not its place")
	require.Contains(t, h.slack("UPAY", "status demo"), "You have no cluster called demo.")
	require.Len(t, muted(), 2, "who may not see it shows it to nobody")

	h.Query(`DELETE FROM river_job WHERE kind = 'publish' RETURNING id`)
	e := h.asks(inbound.Command, "UROB")
	e.Text = "status demo"
	said := h.slackAs(e)
	require.Equal(t, "The cluster's message in this channel was deleted. It is being posted again.", said)
	require.Empty(t, muted())
	require.Len(t, h.Query(`SELECT id FROM river_job WHERE kind = 'publish'`), 2, "the message and its thread")
	require.Equal(t, said, h.slackAs(e))
	require.Contains(t, h.slack("UROB", "status demo"), "demo is ready")
}

func TestStatusAndListWithoutAClusterSayHowToGetOne(t *testing.T) {
	h := ours(t)
	require.Contains(t, h.slack("UMATE", "status"), "You have no live cluster")
	require.Contains(t, h.slack("UMATE", "list"), "You have no live cluster. `/ocp create` creates one.")
	require.Contains(t, h.slack("UMATE", "list --team platform --owner <@UROB>"), "with team platform, owner rob")
	require.Contains(t, h.slack("UMATE", "extend 4h"), "You have no cluster, so `/ocp extend` has nothing to act on. `/ocp create` creates one.")
	require.Contains(t, h.slack("UNOBODY", "list"), "`/ocp link`")
}

func TestTheLastLinesOfALogAreShownToOnePerson(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	require.Contains(t, h.slack("UMATE", "logs"), "The newest job of `demo` has no log yet")
	job := h.Query(`SELECT id FROM jobs WHERE cluster_id = $1`, row.ID)[0]
	h.Query(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, closed_at, outcome)
		VALUES ('att_1', $1, $2, 1, 'create', 'tok_1', now(), 'installing', now(), 'succeeded') RETURNING id`, row.ID, job)
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("line %d ```", i))
	}
	h.Query(`INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at) VALUES ('att_1', 1, 'installing', 1, '', now()) RETURNING attempt_id`)
	h.Query(`INSERT INTO log_chunks (attempt_id, seq, body, received_at) VALUES ('att_1', 1, $1, now()) RETURNING attempt_id`, strings.Join(lines, "\n")+"\n")
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "logs demo --lines 3"
	said := h.slackAs(e)
	require.Contains(t, said, "line 299")
	require.Contains(t, said, "line 297")
	require.NotContains(t, said, "line 296")
	require.Equal(t, 2, strings.Count(said, "```"), "one code block, which nothing in it ends")
	require.Equal(t, []string{"UMATE"}, h.Query(`SELECT person FROM replies WHERE cause = $1`, "slack:T1:"+e.ID))
	require.Contains(t, h.slack("UMATE", "logs demo --lines 200"), "line 299")
	require.NotContains(t, h.press("UROB", blocks.Press{Verb: chatops.VerbLogs, Cluster: row.ID}), "line 259", "40 without a number")
}

func TestTheListSaysWhoHasWhatPageByPage(t *testing.T) {
	h := ours(t)
	h.Catalogue.Quotas = nil
	for i := range 12 {
		user := []string{"UMATE", "UROB"}[i%2]
		e := h.asks(inbound.Command, user)
		e.Text = fmt.Sprintf("create aws-minimal-test --name c%02d", i)
		h.slackAs(e)
	}
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "list"
	first := h.slackAs(e)
	require.Contains(t, first, "c11")
	require.NotContains(t, first, "c01")
	next := h.Query(`SELECT b->'elements'->0->>'value' FROM replies, jsonb_array_elements(blocks) b WHERE cause = $1 AND b->>'type' = 'actions'`, "slack:T1:"+e.ID)
	require.Len(t, next, 1)
	press := h.asks(inbound.Press, "UMATE")
	press.Value = next[0]
	second := h.slackAs(press)
	require.Contains(t, second, "c01")
	require.Contains(t, second, "c00")
	require.NotContains(t, second, "c02")
	press.ID, press.User = "stranger's", "UPAY"
	require.Contains(t, h.slackAs(press), "You have no live cluster", "a page is judged for whoever looks")

	robs := h.slack("UMATE", "list --owner <@UROB>")
	require.Contains(t, robs, "c01")
	require.NotContains(t, robs, "c02")
	require.Contains(t, h.slack("UMATE", "list --profile aws-standard"), "with profile aws-standard")
	require.NotContains(t, h.slack("UPAY", "list"), "c01")
	require.Contains(t, h.slack("UAUDIT", "list --team platform"), "c11")
}

func TestTheListHintsAtIdleClustersByStoredFactsAlone(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	require.NotContains(t, h.slack("UMATE", "list"), "Perhaps idle")
	h.Query(`UPDATE clusters SET ready_at = now() - interval '5 hours' WHERE id = $1 RETURNING id`, row.ID)
	require.Regexp(t, `Perhaps idle: ready since .*, and no kubeconfig has been handed out`, h.slack("UMATE", "list"))
}

func TestExplainSaysWhyUntilWhenAndWhatCanBeDone(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	said := h.slack("UMATE", "explain demo")
	for _, want := range []string{"*About `demo`*", "*When it ends, the earliest first*", "*What you can do*", "`/ocp extend demo"} {
		require.Contains(t, said, want)
	}
	require.NotContains(t, said, "ocpctl extend", "the commands are those of Slack")
	require.NotContains(t, h.slack("UAUDIT", "explain demo"), "/ocp destroy", "what the person may not do is not offered")
}

func TestAnAccountIsUnlinkedFromWhereItIs(t *testing.T) {
	h := ours(t)
	require.Contains(t, h.slack("UANY", "unlink"), "This Slack account is not linked to anybody")
	h.links("UANY", proved("saml:any", "ocpctl-team-platform"))
	require.Contains(t, h.slack("UANY", "list"), "You have no live cluster")
	require.Contains(t, h.slack("UANY", "unlink"), "`T1/UANY` is no longer linked")
	require.Contains(t, h.slack("UANY", "approvals"), "`/ocp link`")
	require.Equal(t, []string{"account_unlinked slack:T1/UANY"}, h.Query(`SELECT action || ' ' || actor FROM audit_events WHERE action = 'account_unlinked'`))
}
