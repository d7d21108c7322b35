package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestARunnerThatLooksInsideGetsTheKubeconfigAndNothingElseOfTheCluster(t *testing.T) {
	ref := artifacts.CredentialRef("artifacts", "clu_1", 1, time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC), artifacts.Kubeconfig)
	row := attempts.SpecRow{Kind: lifecycle.Observe}
	row.Row.ID, row.Row.Outputs = "clu_1", &clusters.Outputs{KubeconfigRef: ref}
	got := toSpec(row, RunnerSettings{Installation: "test", Bucket: "artifacts"})
	require.Equal(t, []any{"observe", ref}, []any{got.Kind, got.KubeconfigRef})
	require.Nil(t, got.Scale)
	require.Nil(t, got.Power)
	require.True(t, opensCluster(lifecycle.Observe), "its bucket credentials read that kubeconfig")
}
