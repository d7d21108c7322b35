package policy

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// gitLabJob are the claims of a job of GitLab CI, in the form of its documentation.
func gitLabJob(change map[string][]string) Claims {
	values := map[string][]string{
		"namespace_id": {"72"}, "namespace_path": {"acme/web"}, "project_id": {"20"}, "project_path": {"acme/web/shop"}, "user_login": {"maya"}, "pipeline_id": {"574"},
		"pipeline_source": {"push"}, "job_id": {"302"}, "ref": {"main"}, "ref_type": {"branch"}, "ref_path": {"refs/heads/main"}, "ref_protected": {"true"},
		"sha": {"714a629c0b401fdce83e847fc9589983fc6f46bc"},
	}
	maps.Copy(values, change)
	return Claims{Source: profiles.SourceOIDC, Issuer: "https://gitlab.com", Platform: profiles.IssuerGitLab, Subject: "project_path:acme/web/shop:ref_type:branch:ref:main", Values: values}
}

func TestTheClaimsOfAGitLabJobNameItsPipeline(t *testing.T) {
	run, ok := RunOf(gitLabJob(nil), PipelineRun{}, "https://github.com")
	require.True(t, ok)
	require.Equal(t, Run{
		Platform: lifecycle.GitLab, Issuer: "https://gitlab.com", Scope: "20", Key: "574", Attempt: 1, Repo: "acme/web/shop", Name: "pipeline 574",
		URL: "https://gitlab.com/acme/web/shop/-/pipelines/574", Event: "push", Ref: "refs/heads/main", Head: "714a629c0b401fdce83e847fc9589983fc6f46bc", Actor: "maya",
	}, run)
}

func TestClaimsWithoutASoundPipelineAreOfNoRun(t *testing.T) {
	for name, c := range map[string]Claims{
		"no pipeline":               gitLabJob(map[string][]string{"pipeline_id": nil}),
		"two pipelines":             gitLabJob(map[string][]string{"pipeline_id": {"1", "2"}}),
		"a pipeline that is a path": gitLabJob(map[string][]string{"pipeline_id": {"../1"}}),
		"no project":                gitLabJob(map[string][]string{"project_id": {""}}),
		"a path that is none":       gitLabJob(map[string][]string{"project_path": {"acme/../x"}}),
		"a path with a query":       gitLabJob(map[string][]string{"project_path": {"acme/shop?x"}}),
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := RunOf(c, PipelineRun{}, "")
			require.False(t, ok)
		})
	}
	of := gitLabJob(nil)
	of.Platform = ""
	_, ok := RunOf(of, PipelineRun{}, "")
	require.False(t, ok, "an issuer whose platform is not known")
}
