package runner_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestAnAttemptCanBeReadFromTheBucketAlone(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.Accepted = &contract.Accepted{Profile: "standard", PullRequest: &contract.PullRequest{Repo: "acme/shop", Number: 7}}
	require.NoError(t, w.run(t.Context()))
	store := storeOf(t, w)
	found, err := store.Traces(t.Context(), time.Time{})
	require.NoError(t, err)
	byContent := map[artifacts.Content]artifacts.Trace{}
	for _, trace := range found {
		require.Equal(t, []any{"clu_1", 3, "create"}, []any{trace.Cluster, trace.Attempt, trace.Kind}, trace.Ref)
		byContent[trace.Content] = trace
	}
	raw, err := store.Read(t.Context(), byContent[artifacts.AttemptContent].Ref)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "CANARY")
	var record contract.AttemptRecord
	require.NoError(t, json.Unmarshal(raw, &record))
	require.Equal(t, "shop", record.Name)
	require.Equal(t, account, record.Account)
	require.Equal(t, 7, record.Accepted.PullRequest.Number)
	require.Nil(t, record.Identity)

	snapshot, err := store.SnapshotAt(t.Context(), byContent[artifacts.ManifestContent])
	require.NoError(t, err)
	var archived contract.AttemptRecord
	require.NoError(t, store.RecordIn(t.Context(), []artifacts.Snapshot{snapshot}, &archived))
	require.Equal(t, "shop-00001", archived.Identity.InfraID)
	require.Equal(t, record.Accepted, archived.Accepted)
	require.Equal(t, byContent[artifacts.OutputsContent].At, byContent[artifacts.KubeconfigContent].At, "both are stored under one time")
}
