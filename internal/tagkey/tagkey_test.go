package tagkey

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysThatSteerATeardownAreReservedInAnyCase(t *testing.T) {
	for _, key := range []string{
		OpenShiftClusterID, Name, KubernetesCluster + "pr1-shop-x7k2p", ProviderCluster + "pr1-shop-x7k2p", CloudCredential + "pr1-shop",
		"kubernetes.io/created-for/pvc/name", "node.kubernetes.io/x", "sigs.k8s.io/x", "k8s.io/cluster-autoscaler/enabled", "cluster.x-k8s.io/cluster-name",
		"service.k8s.aws/stack", "ebs.csi.aws.com/cluster", "hive.openshift.io/x", "api.openshift.com/id", "KubernetesCluster", "CSIVolumeName",
		"openshift_creationDate", "openshift", "red-hat-managed", "red-hat-clustertype", "ocpctl", "ocpctl-standin/replicas", "ocpctl.io/cluster",
		"expirationDate", "aws:cloudformation:stack-name", "kubernetes-io-cluster-pr1-shop-x7k2p",
	} {
		for _, spelt := range []string{key, strings.ToLower(key), strings.ToUpper(key)} {
			require.NotEmpty(t, Foreign(spelt), spelt)
			require.True(t, Reserved(spelt), spelt)
			require.Empty(t, ControlPlane(spelt), spelt)
		}
	}
}

func TestTheControlPlanesOwnKeysAreReservedInAnyCase(t *testing.T) {
	for _, key := range []string{ManagedBy, ClusterID, ClusterName, Owner, Team, CostCenter, Environment, TTLExpiry, RequestID, Installation, "Platform", "Profile"} {
		for _, spelt := range []string{key, strings.ToLower(key), strings.ToUpper(key)} {
			require.Equal(t, key, ControlPlane(spelt))
			require.True(t, Reserved(spelt), spelt)
			require.Empty(t, Foreign(spelt), "nothing else would stop the control plane from setting it")
		}
	}
}

func TestOtherKeysAreFree(t *testing.T) {
	for _, key := range []string{"RequestSource", "Purpose", "kubernetes", "mykubernetes.io/x", "example.com/openshift", "red-hat", "expiration", "team-name", "a.b/c"} {
		require.False(t, Reserved(key), key)
	}
}
