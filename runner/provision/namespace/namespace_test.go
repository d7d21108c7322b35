package namespace_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/namespace"
)

// What a namespace keeps its users from: pods that could take over nodes, and load balancers that the hub's owner pays for.
func TestANamespaceKeepsItsUsersFromTheHubsNodesAndMoney(t *testing.T) {
	for name, c := range map[string]struct{ more, balancers, ports string }{
		"frozen before there was the field": {"", "0", "0"},
		"as many as the profile allows":     {", loadBalancers: 2", "2", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			o := provision.Order{Cluster: "clu_1", InfraID: "shop-abcde", Text: "quota: {cpu: \"4\", memory: 8Gi, storage: 20Gi, pods: 20" + c.more + "}\nlimits: {cpu: 500m, memory: 512Mi}\nisolated: true\n"}
			files, err := namespace.New(nil).Render(o)
			require.NoError(t, err)
			var made struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct{ Hard map[string]string }
			}
			require.NoError(t, yaml.Unmarshal(files["01-namespace.yaml"], &made))
			require.Equal(t, map[string]string{"ocpctl.io/cluster": "clu_1", "ocpctl.io/infra-id": "shop-abcde", "pod-security.kubernetes.io/enforce": "baseline"}, made.Metadata.Labels)
			require.NoError(t, yaml.Unmarshal(files["02-resourcequota-ocpctl.yaml"], &made))
			require.Equal(t, []string{c.balancers, c.ports}, []string{made.Spec.Hard["services.loadbalancers"], made.Spec.Hard["services.nodeports"]})
			require.False(t, namespace.New(nil).NeedsPull(o))
		})
	}
}
