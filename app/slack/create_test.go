package slack_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// places are where a cluster is shown in Slack.
func (h *fixture) places(cluster string) []string {
	h.Helper()
	return h.Query(`SELECT kind || ' ' || workspace || ' ' || channel || ' ' || person FROM subscribers WHERE cluster_id = $1 ORDER BY kind`, cluster)
}

func TestAClusterAskedForInSlackIsShownWhereItWasAskedFor(t *testing.T) {
	h := ours(t)
	require.Contains(t, h.slack("UMATE", "create aws-minimal-test --name demo --ttl 6h"), "`demo` is accepted. Its message shows the progress.")
	row := h.Only()
	require.Equal(t, []string{"demo", "platform", "slack:T1/UMATE", "slack"}, []string{row.Name, row.Team, row.RequestedBy, row.Source})
	require.Equal(t, 6*time.Hour, row.TTL)
	require.Equal(t, []string{"slack_message T1 C1 UMATE", "slack_thread T1 C1 UMATE"}, h.places(row.ID))
	require.Len(t, h.Query(`SELECT kind FROM river_job WHERE kind = 'publish'`), 2, "both are posted")
	require.Equal(t, []string{"true"}, h.Query(`SELECT (r.xmin = c.xmin)::text FROM replies r, cluster_requests c`), "the answer is saved with the cluster")
}

func TestARequestThatIsWorkedTwiceMakesOneCluster(t *testing.T) {
	h := ours(t)
	e := inbound.Request{Kind: inbound.Command, ID: "1.2.3", Workspace: "T1", Channel: "C1", User: "UMATE", Name: "mate", Text: "create aws-minimal-test"}
	first := h.slackAs(e)
	h.restart()
	require.Equal(t, first, h.slackAs(e))
	require.Regexp(t, `^mate-[a-z2-7]{5}$`, h.Only().Name, "a name of its own")
	h.Query(`DELETE FROM replies RETURNING id`) // as if the process died before anything was stored: the cluster's key still stands
	_, err := h.service.Handle(t.Context(), e)
	require.NoError(t, err)
	h.Only()
}

func TestARefusedRequestSaysEveryReason(t *testing.T) {
	h := ours(t)
	said := h.slack("UMATE", "create aws-minimal-test --region mars-1 --version 3.11 --name x")
	for _, want := range []string{"mars-1", "3.11"} {
		require.Contains(t, said, want)
	}
	require.Contains(t, said, "nothing was changed")
	require.Contains(t, h.slack("UMATE", "create aws-minmal-test"), "aws-minimal-test", "what was probably meant")
	require.Contains(t, h.slack("UMATE", "create aws-minimal-test --team payments"), "payments")
	require.Contains(t, h.slack("UMATE", "create aws-minimal-test --name x --off-hours"), "Neither profile aws-minimal-test nor team platform says when people work.")
	require.Contains(t, h.slack("UAUDIT", "create aws-minimal-test"), "you need the role")
	require.Contains(t, h.slack("UNOBODY", "create aws-minimal-test"), "`/ocp link`")
	require.Empty(t, h.Clusters())
}

func TestADryRunInSlackCreatesNothing(t *testing.T) {
	h := ours(t)
	said := h.slack("UMATE", "create aws-minimal-test --dry-run --name demo")
	require.Contains(t, said, "This was a dry run: nothing was created. `demo` would be accepted")
	require.Contains(t, said, "an hour")
	require.Contains(t, h.slack("UMATE", "create aws-minimal-test --dry-run --region mars-1"), "mars-1")
	require.Empty(t, h.Clusters())
	require.Empty(t, h.places(""))
}

func TestWhereOcpctlCannotWriteTheMessageIsADirectOne(t *testing.T) {
	h := ours(t)
	for name, channel := range map[string]string{"not invited": "C2", "private": "CSECRET", "direct": "D9"} {
		e := inbound.Request{Kind: inbound.Command, ID: channel, Workspace: "T1", Channel: channel, User: "UMATE", Text: "create aws-minimal-test --name n-" + name[:3]}
		said := h.slackAs(e)
		require.Equal(t, channel != "D9", h.contains(said, "invite ocpctl to the channel"), name)
		rows := h.Clusters()
		require.Equal(t, []string{"slack_message T1 DUMATE UMATE", "slack_thread T1 DUMATE UMATE"}, h.places(rows[len(rows)-1].ID), name)
	}
	h.workspace.channels["CSHARED"] = slack.Channel{ID: "CSHARED", Name: "partners", Member: true, External: true}
	e := inbound.Request{Kind: inbound.Command, ID: "outside", Workspace: "T1", Channel: "CSHARED", User: "UMATE", Text: "create aws-minimal-test --name outside"}
	require.Contains(t, h.slackAs(e), "because another organization shares this channel")
	rows := h.Clusters()
	require.Equal(t, []string{"slack_message T1 DUMATE UMATE", "slack_thread T1 DUMATE UMATE"}, h.places(rows[len(rows)-1].ID))

	h.workspace.down = true
	e = inbound.Request{Kind: inbound.Command, ID: "later", Workspace: "T1", Channel: "C1", User: "UMATE", Text: "create aws-minimal-test"}
	require.Contains(t, h.slackAs(e), "Nothing was done, because Slack did not say")
	require.Len(t, h.Clusters(), len(rows))
	h.workspace.down = false
	e.ID = "again"
	require.Contains(t, h.slackAs(e), "is accepted")
}

func TestRetryInSlackAsksForTheSameAgain(t *testing.T) {
	h := ours(t)
	h.slack("UMATE", "create aws-minimal-test --name demo --ttl 7h")
	require.Contains(t, h.slack("UMATE", "retry"), "nothing to retry")
	h.Release(h.Only())
	e := inbound.Request{Kind: inbound.Command, ID: "again", Workspace: "T1", Channel: "C1", User: "UMATE", Text: "retry"}
	require.Contains(t, h.slackAs(e), "`demo` is accepted")
	h.slackAs(e)
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []any{"demo", 7 * time.Hour}, []any{rows[1].Name, rows[1].TTL})
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked', desired = 'absent', desired_why = '{"code":"other","words":"over"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, rows[1].ID)
	require.Contains(t, h.slack("UROB", "retry demo"), "is tried again now")
	require.Len(t, h.Clusters(), 2)
	require.Equal(t, lifecycle.Absent, h.Clusters()[1].Desired)
}

func TestRetryInSlackKeepsTheChoiceAboutOffHours(t *testing.T) {
	standard, err := fs.ReadFile(profiles.EmbeddedFiles(), "profiles/aws-standard.yaml")
	require.NoError(t, err)
	b := servicetest.Catalogue(t, map[string]string{
		"profiles/sleeper.yaml": strings.Replace(string(standard), "name: aws-standard\n", "name: sleeper\n", 1) + "\noffHours: {default: true}\n",
		"teams/platform.yaml":   "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\nworkHours: {timeZone: UTC, hours: [\"Mon-Fri 07:00-19:00\"]}\n",
	})
	b.Identities = append(b.Identities, seats()...)
	h := with(servicetest.With(t, b))
	for _, request := range []string{"aws-standard --name chosen --off-hours", "sleeper --name refused --off-hours=false", "sleeper --name silent"} {
		require.Contains(t, h.slack("UMATE", "create "+request), "is accepted")
	}
	for i, row := range h.Clusters() {
		chosen := row.Name != "refused"
		require.Equal(t, chosen, row.OffHours, row.Name)
		h.Release(row)
		require.Contains(t, h.slack("UMATE", "retry "+row.Name), "is accepted")
		require.Equal(t, chosen, h.Clusters()[3+i].OffHours, row.Name)
	}
	row := h.Clusters()[4]
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'create_failed', desired = 'absent', desired_why = '{"code":"install_failed"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	pressed := blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID, Notice: h.notice(blocks.Failed, row.ID, blocks.Facts{})}
	require.Contains(t, h.press("UROB", pressed), "is accepted")
	require.Equal(t, []any{"sleeper", false}, []any{h.Clusters()[6].Profile, h.Clusters()[6].OffHours})
}

func TestCreateAloneOpensTheForm(t *testing.T) {
	h := screenedWith(ours(t))
	typed := h.asks(inbound.Command, "UMATE")
	typed.Text, typed.Trigger = "create --name shop-smoke --ttl 7h", typed.ID
	h.triggers[typed.ID] = true
	h.handle(typed)
	require.Len(t, h.open, 1)
	require.Equal(t, []string{"shop-smoke", "7h", "C1"}, []string{h.open[0].entered["name"], h.open[0].entered["ttl"], h.open[0].entered["post"]})
	for _, value := range []string{`{"v":"form","x":"create"}`, `{"v":"form"}`} { // of the help and Home, and of a prefilled form that was too long
		press := h.asks(inbound.Press, "UMATE")
		press.Value, press.Trigger = value, press.ID
		h.triggers[press.ID] = true
		h.handle(press)
	}
	require.Len(t, h.open, 3)
	require.NotEqual(t, h.open[1].entered["name"], h.open[2].entered["name"], "each form proposes a name of its own")
	h.open[1].entered["name"] = h.open[2].entered["name"]
	require.Equal(t, h.open[1].entered, h.open[2].entered)
	require.NotEqual(t, "create", h.open[1].entered["profile"])
	require.Contains(t, h.open[1].raw, "It would be accepted")
	require.Empty(t, h.Clusters())
}
