package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestTheCatalogueInForceJudges(t *testing.T) {
	h := servicetest.New(t)
	h.Catalogue.Quotas = []profiles.Quota{{Name: "none", Scope: profiles.ScopeTeam, Live: 1}}
	h.Labeled("will", servicetest.Label)
	h.Comment(1, "will", "/ocp create aws-standard")
	require.Len(t, h.Clusters(), 1)
	require.Contains(t, h.Replies()[0], "has 1 of the 1 clusters that quota none allows at once")
	h.Catalogue.Quotas = nil
	h.Comment(2, "will", "/ocp create aws-standard")
	require.Len(t, h.Clusters(), 2, "a changed catalogue counts at once")
}
