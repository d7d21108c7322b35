package chatops

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestARepositorysFileIsCheckedWithAMessage(t *testing.T) {
	const path = ".github/ocpctl.yaml"
	problems := []Annotation{
		{Path: path, Line: 3, Level: "failure", Title: "ttl", Message: "200h is more than the 72h that aws-standard gives at most. Write at most 72h."},
		{Message: "profiles: there is no profile aws-minmal. There are: aws-minimal-test, aws-standard."},
	}
	golden(t, "config.md", shownCheck(ConfigCheck(path, nil))+"\n---\n\n"+shownCheck(ConfigCheck(path, problems))+"\n---\n\n"+shownCheck(ConfigGone(path)))
	many := ConfigCheck(path, make([]Annotation, 5000))
	require.Len(t, many.Annotations, maxProblems)
	require.Contains(t, many.Title, "5000 problems")
	require.Contains(t, many.Summary, "and 4900 more")
}

func TestACheckOnAnOldCommitSaysWhereTheClusterIs(t *testing.T) {
	golden(t, "check-left.md", shownCheck(LeftCheck(ready(), "6dcb09b5b57875f334f61aebed695e2e4193db5e")))
}

func TestButtonsAreThoseThatDoSomethingNow(t *testing.T) {
	all := lives()
	longest := ready()
	longest.Ends.TTL = longest.Ends.Max
	all["longest"] = longest
	undone := all["create-failed"]
	undone.Ends.PRClosed = start
	all["failed-closed"] = undone
	for name, want := range map[string]string{
		"pending": "destroy", "awaiting-capacity": "destroy", "installing": "destroy", "cleaning": "destroy", "awaiting-approval": "approve",
		"ready": "extend destroy", "degraded": "extend destroy", "longest": "destroy", "ready-closed": "destroy", "expiring": "destroy",
		"create-failed": "retry", "destroyed-never-ready": "retry", "failed-closed": "", "destroy-blocked": "retry", "verifying": "", "destroyed": "", "abandoned": "",
	} {
		var got []string
		for _, a := range Check(all[name], ui).Actions {
			require.LessOrEqual(t, len(a.Label), 20)
			require.LessOrEqual(t, len(a.Description), 40)
			require.LessOrEqual(t, len(a.Identifier), 20)
			got = append(got, a.Identifier)
		}
		require.Equal(t, want, strings.Join(got, " "), name)
		require.LessOrEqual(t, len(got), 3)
	}
}

func TestOnlyTheRequesterIsCalledAndOnlyWhereTheFileWantsIt(t *testing.T) {
	when := []string{"ready", "failed", "expiring"}
	for name, want := range map[string]string{
		"ready": "@maya, your cluster is ready.", "expiring": "@maya, your cluster ends soon.", "create-failed": "@maya, your cluster could not be created.",
		"destroy-blocked": "@maya, your cluster cannot be destroyed yet.", "installing": "", "pending": "", "verifying": "", "destroyed": "",
	} {
		c := lives()[name]
		body := Comment(c, Detail{Requester: "maya", Mention: when}, ui)
		require.Contains(t, body, want, name)
		require.Equal(t, want != "", strings.Contains(body, "@"), name)
		require.NotContains(t, Comment(c, Detail{}, ui), "@", name)
		for _, by := range []string{"saml:maya", "acme/platform", "dependabot[bot]", ""} {
			require.NotContains(t, Comment(c, Detail{Requester: by, Mention: when}, ui), "@", "%s by %s", name, by)
		}
	}
	require.NotContains(t, Comment(ready(), Detail{Requester: "maya", Mention: []string{"failed", "expiring"}}, ui), "@")
}

func TestADeploymentFollowsALife(t *testing.T) {
	cancelled := lives()["pending"]
	cancelled.Desired = lifecycle.Absent
	require.Equal(t, "inactive", DeploymentOf(cancelled, ui).State)
	for name, c := range lives() {
		d := DeploymentOf(c, ui)
		require.Equal(t, "ocpctl/aws-minimal-test", d.Environment)
		require.LessOrEqual(t, len([]rune(d.Description)), 140, name)
		require.Equal(t, d.State == "success" && !isAsleep(c), d.EnvironmentURL != "", "%s: an address where one can go, and no other", name)
	}
	c := lives()["create-failed"]
	c.FailMessage = strings.Repeat("ä @acme/x\n", 4000)
	require.LessOrEqual(t, len([]rune(DeploymentOf(c, ui).Description)), 140)
	c = ready()
	c.ConsoleURL = "https://user:pass@evil"
	require.Empty(t, DeploymentOf(c, Links{}).EnvironmentURL)
	require.Empty(t, DeploymentOf(c, Links{}).LogURL)
}

func TestWarningsAloneFailNothing(t *testing.T) {
	doubt := Annotation{Line: 2, Level: "warning", Title: "ttl", Message: "700h, which is cut"}
	run := ConfigCheck(".github/ocpctl.yaml", []Annotation{doubt})
	require.Equal(t, []string{"completed", "neutral"}, []string{run.Status, run.Conclusion})
	require.Contains(t, run.Summary, "is valid")
	require.Equal(t, "warning", run.Annotations[0].Level)
	wrong := doubt
	wrong.Level = ""
	require.Equal(t, "failure", ConfigCheck(".github/ocpctl.yaml", []Annotation{doubt, wrong}).Conclusion)
}
