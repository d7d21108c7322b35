package policy

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

const gitHub = "https://github.com"

// workflow is what the token of a job of acme/shop proves.
func workflow(claims ...string) Claims {
	c := Claims{
		Source: profiles.SourceOIDC, Issuer: "https://token.actions.githubusercontent.com", Platform: profiles.IssuerGitHub, Subject: "repo:acme/shop:pull_request",
		Values: map[string][]string{
			"repository": {"acme/shop"}, "repository_id": {"70107786"}, "run_id": {"7001"}, "run_attempt": {"2"}, "workflow": {"e2e"}, "event_name": {"pull_request"},
			"ref": {"refs/pull/41/merge"}, "sha": {"6dcb09b5"}, "actor": {"maya"}, "check_run_id": {"9001"},
		},
	}
	for i := 0; i+1 < len(claims); i += 2 {
		if c.Values[claims[i]] = []string{claims[i+1]}; claims[i+1] == "" {
			delete(c.Values, claims[i])
		}
	}
	return c
}

func TestTheRunIsReadFromTheClaimsOfItsToken(t *testing.T) {
	whole := Run{
		Platform: lifecycle.GitHub, Issuer: "https://token.actions.githubusercontent.com", Scope: "70107786", Key: "7001", Attempt: 2, Repo: "acme/shop", Name: "e2e",
		URL: "https://github.com/acme/shop/actions/runs/7001", Event: "pull_request", Ref: "refs/pull/41/merge", Head: "6dcb09b5", Pull: 41, Actor: "maya", Job: "9001",
	}
	with := func(change func(*Run)) Run {
		out := whole
		change(&out)
		return out
	}
	enterprise := workflow()
	enterprise.Issuer = "https://git.example.com/_services/token"
	other := workflow()
	other.Issuer = "https://actions.example.com"
	for name, c := range map[string]struct {
		claims Claims
		want   Run
	}{
		"a pull request": {workflow(), whole},
		"a push":         {workflow("event_name", "push", "ref", "refs/heads/main"), with(func(r *Run) { r.Event, r.Ref, r.Pull = "push", "refs/heads/main", 0 })},
		"pull_request_target, whose ref is the base's": {workflow("event_name", "pull_request_target", "ref", "refs/heads/main"), with(func(r *Run) { r.Event, r.Ref, r.Pull = "pull_request_target", "refs/heads/main", 0 })},
		"a ref of a pull request in another event":     {workflow("event_name", "workflow_dispatch"), with(func(r *Run) { r.Event, r.Pull = "workflow_dispatch", 0 })},
		"a merge queue":                    {workflow("event_name", "merge_group", "ref", "refs/heads/gh-readonly-queue/main/pr-41-x"), with(func(r *Run) { r.Event, r.Ref, r.Pull = "merge_group", "refs/heads/gh-readonly-queue/main/pr-41-x", 0 })},
		"a token from before check_run_id": {workflow("check_run_id", ""), with(func(r *Run) { r.Job = "" })},
		"GitHub Enterprise Server": {enterprise, with(func(r *Run) {
			r.Issuer, r.URL = enterprise.Issuer, "https://git.example.com/acme/shop/actions/runs/7001"
		})},
		"an issuer that is configured, of the App's GitHub": {other, with(func(r *Run) { r.Issuer = other.Issuer })},
	} {
		run, ok := RunOf(c.claims, PipelineRun{}, gitHub)
		require.True(t, ok, name)
		require.Equal(t, c.want, run, name)
	}
}

func TestWhatIsNoRunsTokenGivesNoRun(t *testing.T) {
	twice := workflow()
	twice.Values["run_id"] = []string{"7001", "7002"}
	unknown := workflow()
	unknown.Platform = ""
	person := workflow()
	person.Source = profiles.SourceGitHub
	kubernetes := Claims{Source: profiles.SourceOIDC, Issuer: "https://k8s", Values: map[string][]string{"kubernetes.io.namespace": {"ci"}}}
	for name, c := range map[string]Claims{
		"no run":                 workflow("run_id", ""),
		"no repository":          workflow("repository_id", ""),
		"a repository's name":    workflow("repository_id", "acme/shop"),
		"no attempt":             workflow("run_attempt", ""),
		"attempt 0":              workflow("run_attempt", "0"),
		"a negative run":         workflow("run_id", "-1"),
		"two runs":               twice,
		"an unknown issuer":      unknown,
		"a person on GitHub":     person,
		"an unnamed PipelineRun": kubernetes,
		"nothing":                {},
	} {
		_, ok := RunOf(c, PipelineRun{}, gitHub)
		require.False(t, ok, name)
	}
}

func TestAPipelineRunIsNamedInTheNamespaceOfTheToken(t *testing.T) {
	c := Claims{Source: profiles.SourceOIDC, Issuer: "https://k8s.example.com", Values: map[string][]string{
		"kubernetes.io.namespace": {"ci"}, "kubernetes.io.serviceaccount.name": {"builder"},
	}}
	named := PipelineRun{Kind: "PipelineRun", Name: "e2e-x7k2p", UID: "6a1b2c3d-0000-4000-8000-000000000001"}
	run, ok := RunOf(c, named, gitHub)
	require.True(t, ok)
	require.Equal(t, Run{Platform: lifecycle.Tekton, Issuer: c.Issuer, Scope: "ci", Key: named.Name + "/" + named.UID, Attempt: 1, Name: named.Name, Actor: "builder"}, run)
	for _, wrong := range []PipelineRun{{}, {Kind: "Job", Name: named.Name, UID: named.UID}, {Kind: named.Kind, UID: named.UID}, {Kind: named.Kind, Name: "X", UID: named.UID}, {Kind: named.Kind, Name: named.Name, UID: "a b"}} {
		_, ok := RunOf(c, wrong, gitHub)
		require.False(t, ok, "%+v", wrong)
	}
}

// Whatever a token claims, a run that is read from it is of the token's own issuer, and its numbers are numbers.
func TestARunNeverNamesMoreThanItsTokenProves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9]{1,20}`), rapid.SampledFrom([]string{"", "0", "-1", "refs/pull/7/merge", "refs/pull/0/merge", "acme/shop", "1e3", " 7"}))
		c := Claims{Source: profiles.SourceOIDC, Issuer: rapid.String().Draw(t, "issuer"), Platform: profiles.IssuerGitHub, Values: map[string][]string{}}
		for _, name := range []string{"repository", "repository_id", "run_id", "run_attempt", "event_name", "ref", "check_run_id"} {
			c.Values[name] = rapid.SliceOfN(text, 0, 2).Draw(t, name)
		}
		if rapid.Bool().Draw(t, "of a pull request") {
			c.Values["event_name"], c.Values["ref"] = []string{"pull_request"}, []string{fmt.Sprintf("refs/pull/%d/merge", rapid.IntRange(0, 1<<40).Draw(t, "number"))}
		}
		run, ok := RunOf(c, PipelineRun{Kind: KindPipelineRun, Name: "x", UID: "y"}, gitHub)
		if !ok {
			require.Zero(t, run)
			return
		}
		require.Equal(t, []any{lifecycle.GitHub, c.Issuer, c.Values["repository_id"][0], c.Values["run_id"][0]}, []any{run.Platform, run.Issuer, run.Scope, run.Key})
		for _, number := range []string{run.Scope, run.Key} {
			_, err := strconv.ParseUint(number, 10, 64)
			require.NoError(t, err)
		}
		require.Positive(t, run.Attempt)
		require.GreaterOrEqual(t, run.Pull, 0)
		if run.Pull > 0 {
			require.Equal(t, fmt.Sprintf("refs/pull/%d/merge", run.Pull), c.Values["ref"][0])
			require.Equal(t, "pull_request", run.Event)
		}
	})
}
