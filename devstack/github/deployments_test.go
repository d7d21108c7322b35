package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADeploymentIsTakenOnlyAsGitHubTakesIt(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	pr, _ := s.PullRequest(41)
	body := func(more string) string { return `{"ref":"` + pr.HeadSHA + `","auto_merge":false` + more + `}` }
	at := "POST /repos/acme/shop/deployments"
	in.want(422, at, `{"ref":"no-such-branch","required_contexts":[]}`)
	in.want(422, at, `{"environment":"x"}`)
	in.want(400, at, `{`)
	first := in.want(201, at, body(`,"required_contexts":[]`))
	require.Equal(t, "production", first["environment"])
	require.Equal(t, "deploy", first["task"])
	require.Equal(t, true, first["production_environment"])

	in.want(201, "POST /repos/acme/shop/check-runs", `{"name":"ocpctl","head_sha":"`+pr.HeadSHA+`","status":"in_progress"}`)
	require.Contains(t, in.want(409, at, body(""))["message"], "Commit status checks failed", "every check has to be green unless none is asked for")
	in.want(409, at, body(`,"required_contexts":["build"]`))
	in.want(201, at, body(`,"required_contexts":[],"environment":"ocp/x"`))
	require.NoError(t, s.Commit("new.txt", "x"))
	require.Contains(t, in.want(409, at, `{"ref":"`+pr.HeadSHA+`","required_contexts":[]}`)["message"], "Conflict merging main")

	require.Len(t, in.list("GET /repos/acme/shop/deployments"), 2)
	require.Len(t, in.list("GET /repos/acme/shop/deployments?environment=ocp%2Fx"), 1)
	require.Empty(t, in.list("GET /repos/acme/shop/deployments?environment=ocp%2Fx&task=other"))
	require.Len(t, in.list("GET /repos/acme/shop/deployments?sha="+pr.HeadSHA+"&ref="+pr.HeadSHA), 2)
	in.want(404, "GET /repos/acme/shop/deployments/1", "")
}

func TestASuccessMakesTheEarlierDeploymentsOfItsEnvironmentInactive(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	pr, _ := s.PullRequest(41)
	deploy := func(environment, more string) string {
		t.Helper()
		body := fmt.Sprintf(`{"ref":%q,"auto_merge":false,"required_contexts":[],"environment":%q%s}`, pr.HeadSHA, environment, more)
		return num(in.want(201, "POST /repos/acme/shop/deployments", body)["id"])
	}
	say := func(id, state, more string) {
		t.Helper()
		in.want(201, "POST /repos/acme/shop/deployments/"+id+"/statuses", `{"state":"`+state+`"`+more+`}`)
	}
	old, running, other, transient := deploy("ocp/x", ""), deploy("ocp/x", ""), deploy("ocp/y", ""), deploy("ocp/x", `,"transient_environment":true`)
	for _, id := range []string{old, other} {
		say(id, "success", "")
	}
	say(transient, "success", `,"auto_inactive":false`)
	say(running, "in_progress", "")
	newest := deploy("ocp/x", "")
	say(newest, "success", "")
	states := func() (out []string) {
		for _, d := range s.Deployments() {
			out = append(out, d.State())
		}
		return out
	}
	require.Equal(t, []string{"inactive", "in_progress", "success", "success", "success"}, states())
	last := deploy("ocp/x", "")
	say(last, "success", `,"auto_inactive":false`)
	require.Equal(t, "success", states()[4], "it was asked to leave the others alone")

	at := "POST /repos/acme/shop/deployments/" + newest + "/statuses"
	in.want(422, at, `{"state":"finished"}`)
	in.want(422, at, `{"state":"success","description":"`+strings.Repeat("x", 141)+`"}`)
	in.want(422, at, `{"state":"success","environment_url":"javascript:alert(1)"}`)
	in.want(404, "POST /repos/acme/shop/deployments/1/statuses", `{"state":"success"}`)
	in.want(422, "DELETE /repos/acme/shop/deployments/"+newest, "")
	say(newest, "inactive", "")
	in.want(204, "DELETE /repos/acme/shop/deployments/"+newest, "")
	require.Equal(t, "inactive", in.list("GET /repos/acme/shop/deployments/" + old + "/statuses")[0].(object)["state"], "the newest first")
}
