package artifacts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
)

func TestASnapshotLiesWhereItsAttemptKeepsIt(t *testing.T) {
	const stamp = "20250301T110000.000Z-a2"
	destroy := artifacts.Snapshot{Type: artifacts.Destroy, Key: "clusters/clu_1/create/" + stamp + "/install-dir.tar.zst", ManifestKey: "clusters/clu_1/create/" + stamp + "/manifest.json"}
	operate := artifacts.Snapshot{Type: artifacts.Operate, Key: "operate/clusters/clu_1/" + stamp + "/auth-bundle.tar.zst", ManifestKey: "operate/clusters/clu_1/" + stamp + "/manifest.json"}
	log := artifacts.Snapshot{Type: artifacts.Log, Key: "operate/clusters/clu_1/" + stamp + "/log-bundle-1.tar.gz"}
	for _, good := range []artifacts.Snapshot{destroy, operate, log} {
		require.NoError(t, good.CheckKeys("clu_1", 2))
		require.Error(t, good.CheckKeys("clu_1", 3), "another attempt's")
		require.Error(t, good.CheckKeys("clu_2", 2), "another cluster's")
		require.Error(t, good.CheckKeys("", 2))
	}
	for name, change := range map[string]func(*artifacts.Snapshot){
		"nothing":                func(s *artifacts.Snapshot) { s.Key = "" },
		"another cluster":        func(s *artifacts.Snapshot) { s.Key = "clusters/clu_2/create/" + stamp + "/install-dir.tar.zst" },
		"another cluster's list": func(s *artifacts.Snapshot) { s.ManifestKey = "clusters/clu_2/create/" + stamp + "/manifest.json" },
		"no list":                func(s *artifacts.Snapshot) { s.ManifestKey = "" },
		"a way out": func(s *artifacts.Snapshot) {
			s.Key = "clusters/clu_1/create/../../clu_2/create/" + stamp + "/install-dir.tar.zst"
		},
		"another file":              func(s *artifacts.Snapshot) { s.Key = "clusters/clu_1/create/" + stamp + "/auth-bundle.tar.zst" },
		"an operate bundle's place": func(s *artifacts.Snapshot) { s.Key, s.ManifestKey = operate.Key, operate.ManifestKey },
		"another type":              func(s *artifacts.Snapshot) { s.Type = "METADATA" },
		"a log that is none":        func(s *artifacts.Snapshot) { s.Type = artifacts.Log },
		"no moment":                 func(s *artifacts.Snapshot) { s.Key = "clusters/clu_1/create/x-a2/install-dir.tar.zst" },
		"a moment spelt otherwise":  func(s *artifacts.Snapshot) { s.Key = "clusters/clu_1/create/20250301T110000Z-a2/install-dir.tar.zst" },
	} {
		bad := destroy
		change(&bad)
		require.Error(t, bad.CheckKeys("clu_1", 2), name)
	}
	for _, file := range []string{"", ".", "..", "a/b", ".hidden", "a b", "\n"} {
		require.Error(t, artifacts.Snapshot{Type: artifacts.Log, Key: "operate/clusters/clu_1/" + stamp + "/" + file}.CheckKeys("clu_1", 2), "%q", file)
	}
	log.ManifestKey = destroy.ManifestKey
	require.Error(t, log.CheckKeys("clu_1", 2), "a log has no list of files")
}

func TestACredentialsReferenceIsOfOneCluster(t *testing.T) {
	at := time.Date(2025, 3, 1, 11, 0, 0, 0, time.UTC)
	ref := artifacts.CredentialRef("artifacts", "clu_1", 2, at, artifacts.Kubeconfig)
	require.Equal(t, "s3://artifacts/operate/clusters/clu_1/20250301T110000.000Z-a2/kubeconfig", ref)
	require.Equal(t, "s3://artifacts/clusters/clu_1/outputs/20250301T110000.000Z-a2/metadata.json", artifacts.MetadataRef("artifacts", "clu_1", 2, at))
	require.True(t, artifacts.IsCredentialRef(ref, "clu_1", artifacts.Kubeconfig))
	for _, c := range []struct{ ref, cluster, name string }{
		{ref, "clu_2", artifacts.Kubeconfig},
		{ref, "clu_1", artifacts.Kubeadmin},
		{ref, "", artifacts.Kubeconfig},
		{"", "clu_1", artifacts.Kubeconfig},
		{"s3://artifacts/operate/clusters/clu_1/../clu_2/x/kubeconfig", "clu_1", artifacts.Kubeconfig},
		{"s3://artifacts/operate/clusters/clu_1/../../clu_1/../clu_2/kubeconfig", "clu_2", artifacts.Kubeconfig},
		{"s3://artifacts/operate/clusters/clu_1/a/b/kubeconfig", "clu_1", artifacts.Kubeconfig},
		{"s3://artifacts/clusters/clu_1/x/kubeconfig", "clu_1", artifacts.Kubeconfig},
		{"s3://artifacts/kubeconfig", "clu_1", artifacts.Kubeconfig},
	} {
		require.False(t, artifacts.IsCredentialRef(c.ref, c.cluster, c.name), "%v", c)
	}
}
