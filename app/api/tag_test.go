package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestARunnerThatAttachesTagsGetsThemAndNoWayIntoTheCluster(t *testing.T) {
	row := attempts.SpecRow{Kind: lifecycle.Tag}
	row.Row.ID, row.Row.Tags, row.Row.Outputs = "clu_1", map[string]string{"ClusterId": "clu_1"}, &clusters.Outputs{KubeconfigRef: "s3://artifacts/operate/kubeconfig"}
	got := toSpec(row, RunnerSettings{Installation: "test", Bucket: "artifacts"})
	require.Equal(t, "tag", got.Kind)
	require.Equal(t, row.Row.Tags, got.Tags)
	require.Empty(t, got.KubeconfigRef)
	require.Nil(t, got.Scale)
	require.Nil(t, got.Power)
	require.False(t, opensCluster(lifecycle.Tag), "its bucket credentials read no kubeconfig")
}
