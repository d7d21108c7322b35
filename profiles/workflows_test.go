package profiles

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIdentityThatAnybodysWorkflowFitsIsRefused(t *testing.T) {
	for _, c := range []struct {
		issuer string
		match  map[string][]string
		open   bool
	}{
		{gitHubActions, map[string][]string{"ref": {"refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"environment": {"production"}, "actor": {"maya"}}, true},
		{gitHubActions, map[string][]string{"repository": {"*"}}, true},
		{gitHubActions, map[string][]string{"repository": {"acme/shop", "*/shop"}}, true},
		{gitHubActions, map[string][]string{"repository_owner": {"ac*"}}, true},
		{gitHubActions, map[string][]string{"repository_id": {"*"}, "ref": {"refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repo:*:ref:refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repo:ac*/shop:ref:refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"job_workflow_ref": {"acme/pipelines/.github/workflows/e2e.yml@refs/heads/main"}}, true},
		{gitHubActions + "/", map[string][]string{"groups": {"x"}}, true},
		{gitHubActions + "/acme-enterprise", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"https://git.example.com/_services/token", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"https://token.actions.acme.ghe.com", map[string][]string{"environment": {"prod"}}, true},
		{"https://actions.example.com", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"https://git.example.com/_services/token", map[string][]string{"repository": {"acme/*"}}, false},
		{"", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"", map[string][]string{"sub": {"*"}}, true},
		{gitHubActions, map[string][]string{"repository": {"acme/*"}}, false},
		{gitHubActions, map[string][]string{"repository_owner": {"acme"}, "ref": {"*"}}, false},
		{gitHubActions, map[string][]string{"repository_id": {"70107786"}}, false},
		{gitHubActions, map[string][]string{"sub": {"repo:acme/*:ref:refs/heads/main", "repo:acme/shop:environment:prod"}}, false},
		{gitHubActions, map[string][]string{"workflow_ref": {"acme/shop/.github/workflows/x.yml@*"}}, false},
		{"", map[string][]string{"sub": {"x"}}, false},
		{"", map[string][]string{"groups": {"*"}}, false},
		{"", map[string][]string{"kubernetes.io.namespace": {"ci"}, "sub": {"*"}}, false},
		{"https://issuer.example.com", map[string][]string{"ref": {"*"}}, false},
	} {
		i := Identity{Source: SourceOIDC, Issuer: c.issuer, Match: c.match}
		require.Equal(t, c.open, i.strangersFit([]string{"https://actions.example.com"}), "%q %v", c.issuer, c.match)
	}
	require.False(t, Identity{Source: SourceSAML, Match: map[string][]string{"ref": {"*"}}}.strangersFit(nil))
}
