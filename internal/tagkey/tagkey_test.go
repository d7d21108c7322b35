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

func TestATagOfAClusterIsToldFromATagOfAnybody(t *testing.T) {
	for _, c := range []struct {
		key, value string
		of         bool
	}{
		{KubernetesCluster + "pr1-shop-x7k2p", Owned, true},
		{KubernetesCluster + "pr1-shop-x7k2p", "shared", false},
		{KubernetesCluster + "pr1-shop-x7k2p", "", true},
		{ProviderCluster + "pr1-shop-x7k2p", Owned, true},
		{CloudCredential + "pr1-shop", Owned, true},
		{OpenShiftClusterID, "any", true},
		{"red-hat-managed", "true", true},
		{"CSIVolumeName", "pvc-1", true},
		{ClusterID, "clu_1", true},
		{"clusterid", "clu_1", true},
		{Installation, "other", true},
		{TTLExpiry, "2026-01-01T00:00:00Z", true},
		{ManagedBy, ControlPlaneName, true},
		{ManagedBy, "terraform", false},
		{Owner, "maya", false},
		{Team, "platform", false},
		{Environment, "dev", false},
		{RequestID, "job_1", false},
		{Name, "pr1-shop-x7k2p-vpc", false},
		{"expirationDate", "2026-01-01", false},
		{"aws:autoscaling:groupName", "web", false},
		{"Purpose", "cluster", false},
	} {
		require.Equal(t, c.of, OfCluster(c.key, c.value), "%s=%s", c.key, c.value)
	}
}
