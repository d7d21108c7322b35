package artifacts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
)

func TestTracesTellWhatAttemptsStored(t *testing.T) {
	s, _, bucket := newStore(t)
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for key, body := range map[string]string{
		artifacts.AttemptKey("clu_1", "create", 1, at):                                 `{"number": 1}`,
		artifacts.MetadataKey("clu_1", 1, at.Add(time.Minute)):                         "{}",
		artifacts.CredentialKey("clu_1", 1, at.Add(time.Minute), artifacts.Kubeconfig): "secret",
		artifacts.AttemptKey("clu_1", "destroy", 2, at.Add(time.Hour)):                 `{"number": 2}`,
		"clusters/clu_1/create/yesterday-a1/attempt.json":                              "{}",
		"clusters/clu_1/create/20260304T120000.000Z-aX/attempt.json":                   "{}",
		artifacts.SpoolKey("att_1", 1, "report"):                                       "{}",
	} {
		_, err := s.PutOnce(t.Context(), key, []byte(body))
		require.NoError(t, err)
	}
	found, err := s.Traces(t.Context(), time.Time{})
	require.NoError(t, err)
	require.Equal(t, []artifacts.Trace{
		{Cluster: "clu_1", Attempt: 1, At: at, Kind: "create", Content: artifacts.AttemptContent, Ref: "s3://" + bucket + "/" + artifacts.AttemptKey("clu_1", "create", 1, at)},
		{Cluster: "clu_1", Attempt: 2, At: at.Add(time.Hour), Kind: "destroy", Content: artifacts.AttemptContent, Ref: "s3://" + bucket + "/" + artifacts.AttemptKey("clu_1", "destroy", 2, at.Add(time.Hour))},
		{Cluster: "clu_1", Attempt: 1, At: at.Add(time.Minute), Kind: "create", Content: artifacts.OutputsContent, Ref: "s3://" + bucket + "/" + artifacts.MetadataKey("clu_1", 1, at.Add(time.Minute))},
		{Cluster: "clu_1", Attempt: 1, At: at.Add(time.Minute), Kind: "create", Content: artifacts.KubeconfigContent, Ref: artifacts.CredentialRef(bucket, "clu_1", 1, at.Add(time.Minute), artifacts.Kubeconfig)},
	}, found)

	found, err = s.Traces(t.Context(), at.Add(30*time.Minute))
	require.NoError(t, err)
	require.Len(t, found, 1, "what is older is left out")
}

func TestASnapshotIsReadFromItsManifestAndItsRecordFromTheArchive(t *testing.T) {
	s, _, _ := newStore(t)
	saved, err := s.Save(t.Context(), artifacts.Bundle{Type: artifacts.Destroy, Cluster: "clu_1", Attempt: 3, InfraID: "shop-abcde", Dir: installDir(t)})
	require.NoError(t, err)
	found, err := s.Traces(t.Context(), time.Time{})
	require.NoError(t, err)
	var manifest artifacts.Trace
	for _, trace := range found {
		if trace.Content == artifacts.ManifestContent {
			manifest = trace
		}
	}
	read, err := s.SnapshotAt(t.Context(), manifest)
	require.NoError(t, err)
	require.Equal(t, saved, read)

	manifest.Cluster = "clu_2"
	_, err = s.SnapshotAt(t.Context(), manifest)
	require.ErrorIs(t, err, artifacts.ErrCorrupt, "another cluster's archive is not taken")
	require.ErrorIs(t, s.RecordIn(t.Context(), []artifacts.Snapshot{saved}, &struct{}{}), artifacts.ErrCorrupt, "this archive has no record")
}
