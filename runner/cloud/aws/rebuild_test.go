package aws_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	house "github.com/ocpctl/ocpctl/internal/house/aws"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
)

func TestRebuiltMetadataDestroysTheCluster(t *testing.T) {
	s := newScene(t, "rebuilt", "us-east-2")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	recorded := s.target.Identities[0]

	same, err := s.client.Rebuild(t.Context(), recorded, s.target)
	require.NoError(t, err)
	require.Equal(t, recorded.Metadata, string(same), "the recorded document is the best")

	fromRow := recorded
	fromRow.Metadata = ""
	raw, err := s.client.Rebuild(t.Context(), fromRow, s.target)
	require.NoError(t, err)
	require.JSONEq(t, recorded.Metadata, string(raw), "the row's names suffice")

	raw, err = s.client.Rebuild(t.Context(), contract.Identity{}, s.target)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"infraID":"`+recorded.InfraID+`"`, "our tag leads to the infraID")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), raw, 0o600))
	s.Must(t, dir, "destroy cluster")
	require.Empty(t, s.Left(t, "rebuilt"))
	_, err = s.client.Rebuild(t.Context(), contract.Identity{}, cloud.Target{Region: "us-east-2", Cluster: "clu_nobody"})
	require.ErrorContains(t, err, "0 infraIDs carry the tag")
}

func TestEveryPartOfARowIsEnoughToRebuildFrom(t *testing.T) {
	s := newScene(t, "partial", "us-east-2")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	whole := s.target.Identities[0]
	s.plant(t, house.Resource{Service: "ec2", Type: "volume", Region: "us-east-2", Tags: map[string]string{"kubernetes.io/cluster/" + whole.InfraID: "owned", "openshiftClusterID": whole.ClusterUUID}})
	read := func(id contract.Identity, target cloud.Target) map[string]any {
		raw, err := s.client.Rebuild(t.Context(), id, target)
		require.NoError(t, err)
		var m map[string]any
		require.NoError(t, json.Unmarshal(raw, &m))
		return m
	}
	nameless := s.target
	nameless.Name, nameless.BaseDomain = "", ""
	for name, c := range map[string]struct {
		id     contract.Identity
		target cloud.Target
	}{
		"the infraID alone":                        {contract.Identity{InfraID: whole.InfraID}, s.target},
		"no clusterID":                             {contract.Identity{InfraID: whole.InfraID, Region: whole.Region}, s.target},
		"the domain comes from the private zone":   {contract.Identity{InfraID: whole.InfraID, Region: whole.Region}, nameless},
		"nothing but our own tag":                  {contract.Identity{}, s.target},
		"another cluster's metadata":               {contract.Identity{InfraID: whole.InfraID, Metadata: `{"infraID":"other-x7k2p","aws":{"region":"us-east-2"}}`}, s.target},
		"metadata of another region is not usable": {contract.Identity{InfraID: whole.InfraID, Metadata: `{"infraID":"` + whole.InfraID + `","aws":{"region":"us-west-2"}}`}, s.target},
	} {
		t.Run(name, func(t *testing.T) {
			m := read(c.id, c.target)
			require.Equal(t, whole.InfraID, m["infraID"])
			require.Equal(t, whole.ClusterUUID, m["clusterID"])
			aws, _ := m["aws"].(map[string]any)
			require.Equal(t, "us-east-2", aws["region"])
			require.Equal(t, "partial.labs.example.com", aws["clusterDomain"])
			require.Equal(t, []any{
				map[string]any{"kubernetes.io/cluster/" + whole.InfraID: "owned"}, map[string]any{"openshiftClusterID": whole.ClusterUUID},
				map[string]any{"sigs.k8s.io/cluster-api-provider-aws/cluster/" + whole.InfraID: "owned"},
			}, aws["identifier"])
		})
	}

	s.AWS.Refuse("tagging:GetResources", -1, "AccessDeniedException")
	m := read(contract.Identity{InfraID: whole.InfraID}, s.target)
	require.Empty(t, m["clusterID"], "what destroy can do without stops nothing")
	_, err := s.client.Rebuild(t.Context(), contract.Identity{}, s.target)
	require.ErrorContains(t, err, "AccessDenied")
}
