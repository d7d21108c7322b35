package github

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

func TestARunIsStartedWatchedCancelledAndRunAgainWithFormsAlone(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on schedule\nbuild:\n"))
	b := open(t, s)
	require.Contains(t, b.get("/playground/runs"), "No workflow has run yet")
	b.post("/playground/runs/start/schedule", nil)
	build := engine.running(t, "build")
	command := func(name, text string) workflow.Line {
		return workflow.Line{Kind: workflow.Command, Text: text, Params: map[string]string{"command": name, "title": "Bad <b>"}}
	}
	build.says(
		workflow.Line{Kind: workflow.Began, Text: "Work"}, command("group", "Folded"), workflow.Line{Kind: workflow.Output, Text: "inside \x1b[31mred\x1b[0m"},
		command("endgroup", ""), workflow.Line{Kind: workflow.Output, Text: "<script>outside</script>"}, command("error", "It broke."),
		workflow.Line{Kind: workflow.Summary, Text: "| a | b |\n|---|---|\n| 1 | 2 |"},
	)
	run := lastRun(t, s, func(run Run) bool { return len(run.Jobs) == 1 && run.Jobs[0].Status == runs.InProgress })
	address := "/playground/runs/" + itoa(run.ID)
	require.Contains(t, b.get("/playground/runs"), address)
	page := b.get("/acme/shop/actions/runs/" + itoa(run.ID) + "/job/" + itoa(run.Jobs[0].ID))
	for _, want := range []string{
		"<b>Folded</b>", "inside red", "&lt;script&gt;outside", "Error: It broke.", "Bad &lt;b&gt;", "<td>1</td>", "Cancel run", "What differs from GitHub",
	} {
		require.Contains(t, page, want)
	}
	require.Contains(t, b.get(address+"/live"), `id="live-jobs"`)

	b.post("/playground/as", url.Values{"login": {"rita"}, "back": {address}})
	require.Contains(t, b.get(address), "disabled>Cancel run")
	require.Contains(t, b.post(address+"/cancel", nil), "rita may not do that here")
	b.post("/playground/as", url.Values{"login": {"will"}, "back": {address}})
	require.Contains(t, b.post(address+"/cancel", nil), "Force cancel")
	<-build.cancelled
	build.end("failure", nil)
	lastRun(t, s, completedRun)
	require.Contains(t, b.get(address), "Re-run failed jobs")
	require.Contains(t, b.get("/playground/logs/"+itoa(run.Jobs[0].ID)), "##[error]It broke.")
	b.post(address+"/failed", nil)
	again := lastRun(t, s, func(run Run) bool { return run.Attempt == 2 })
	require.Equal(t, "will", again.Triggering)
	page = b.get(address + "?attempt=1")
	require.Contains(t, page, "It broke.")
	require.NotContains(t, b.get(address), "It broke.", "the second attempt has its own log")
	require.Contains(t, page, `aria-current="page">Attempt 1`)
	require.NoError(t, s.Runs().ForceCancel(run.ID, "maya"))
	require.Contains(t, b.post(address+"/delete", nil), "No workflow has run yet")
}

func TestEveryWayToStartWorkflowsIsOnThePage(t *testing.T) {
	s, _, _ := withEngine(t)
	events := []string{"push", "pull_request", "schedule", "merge_group", "workflow_dispatch", "repository_dispatch"}
	require.NoError(t, s.Commit(scriptPath, "on "+strings.Join(events, "\non ")+"\nbuild:\n"))
	b := open(t, s)
	for how, form := range map[string]url.Values{
		"push": {}, "pull": {"pull": {"41"}}, "queue": {"pull": {"47"}}, "schedule": {},
		"workflow": {"workflow": {scriptPath}, "inputs": {"name = value"}}, "dispatch": {"type": {"ready"}, "payload": {`{"a":1}`}},
	} {
		require.NotContains(t, b.post("/playground/runs/start/"+how, form), "role=\"alert\"", how)
	}
	require.Eventually(t, func() bool {
		seen := map[string]bool{}
		for _, run := range s.Runs().List() {
			seen[run.Event] = true
		}
		for _, event := range events {
			if !seen[event] {
				return false
			}
		}
		return true
	}, 10*time.Second, time.Millisecond)
	require.Contains(t, b.post("/playground/runs/start/dispatch", url.Values{"type": {"x"}, "payload": {"{"}}), "GitHub would not take that")
	require.Contains(t, b.get("/playground/pulls/41"), "Workflow runs", "the pull request shows its runs")
}

func TestTheEnvironmentARunWaitsForIsReviewedOnItsPage(t *testing.T) {
	s := start(t, Config{})
	b := open(t, s)
	require.NoError(t, s.Protect("ocp/aws", true, "maya"))
	run, err := s.Runs().Start(NewRun{Jobs: []NewJob{{Key: "e2e", Environment: "ocp/aws"}}})
	require.NoError(t, err)
	address := "/playground/runs/" + itoa(run.ID)
	page := b.get(address)
	require.Contains(t, page, "Approve as maya")
	require.Contains(t, page, Bot)
	require.NotContains(t, b.post(address+"/review", url.Values{"environment": {"ocp/aws"}, "state": {"approved"}, "comment": {"go on"}}), "Approve as maya")
	run, _ = s.Runs().Get(run.ID)
	require.Equal(t, runs.Waiting, run.Status, "the App has not decided")
	require.Contains(t, b.get("/playground/runs"), "Nothing starts by itself here")
}
