package profiles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func input() InstallInput {
	return InstallInput{
		Name: "pr41-shop", BaseDomain: "labs.example.com", Region: "us-east-1", Version: "4.20.3",
		Tags: map[string]string{
			"ManagedBy": "cluster-control-plane", "ClusterId": "clu_1", "ClusterName": "pr41-shop", "Owner": "maya", "Team": "platform",
			"CostCenter": "cc-100", "Environment": "test", "TTLExpiry": "2025-01-04T12:00:00Z", "RequestId": "job_1", "InstallationId": "demo",
		},
	}
}

func TestInstallConfigOfEveryEnabledProfileIsGolden(t *testing.T) {
	for _, name := range []string{"aws-minimal-mint", "aws-minimal-test", "aws-standard"} {
		out, err := get(t, name).InstallConfig(input())
		require.NoError(t, err)
		golden(t, name+".install-config.yaml", string(out))
		require.NotContains(t, string(out), "pullSecret")
		require.NotContains(t, string(out), "sshKey")
	}
}

func TestEveryPoolNamesItsZones(t *testing.T) {
	in := input()
	in.Zones = []string{"us-east-1b"}
	out, err := get(t, "aws-standard").InstallConfig(in)
	require.NoError(t, err)
	var c installConfig
	require.NoError(t, yaml.Unmarshal(out, &c))
	require.Equal(t, in.Zones, c.ControlPlane.Platform.AWS.Zones)
	require.Equal(t, in.Zones, c.Compute[0].Platform.AWS.Zones)
	require.Equal(t, in.Zones, c.Platform.AWS.Default.Zones)
	require.Equal(t, in.Tags, c.Platform.AWS.UserTags)
}

func TestWhatTheInstallerWouldOnlyWarnAboutIsRefusedAllAtOnce(t *testing.T) {
	in := InstallInput{
		Name: "Shop.one", BaseDomain: "example.org", Region: "us-east-1", Version: "4.19.9", Zones: []string{"us-west-2a"},
		Tags: map[string]string{"Name": "x", "aws:x": "y", "a.kubernetes.io/b": "c", "Empty": ""},
	}
	for i := range MaxTags {
		in.Tags[fmt.Sprintf("k%d", i)] = "v"
	}
	_, err := get(t, "aws-minimal-test").InstallConfig(in)
	for _, part := range []string{"Shop.one", "example.org", "4.19.9", "us-west-2a", "29 tags", "userTags.Name: ", "userTags.aws:x: ", "userTags.a.kubernetes.io/b: ", "userTags.Empty: "} {
		require.ErrorContains(t, err, part)
	}
	_, err = get(t, "ibm-standard").InstallConfig(input())
	require.ErrorContains(t, err, "not enabled yet")
}

func TestTagProblemFollowsTheInstallersLimits(t *testing.T) {
	for _, fine := range [][2]string{{"Team", "a"}, {"purpose", "a"}, {"a.b/c", "x y"}, {"kubernetes", "io"}, {"mykubernetes.io/x", "y"}, {strings.Repeat("k", 128), strings.Repeat("v", 256)}, {"mail", "a+b@example.com"}} {
		require.Empty(t, TagProblem(fine[0], fine[1]), fine[0])
	}
	for _, bad := range [][2]string{
		{"", "v"}, {"k", ""}, {strings.Repeat("k", 129), "v"}, {"k", strings.Repeat("v", 257)}, {"NAME", "v"}, {"AWS:x", "v"}, {"kubernetes.io/cluster/x", "owned"},
		{"x.OpenShift.io/y", "v"}, {"k;", "v"}, {"k", "v<"}, {"k", "a\nb"}, {" k", "v"}, {"k", "v "}, {"ключ", "v"},
		{"team", "a"}, {"openshiftClusterID", "v"}, {"OpenShift-x", "v"}, {"sigs.k8s.io/cluster-api-provider-aws/cluster/x", "owned"}, {"red-hat-managed", "true"},
		{"expirationDate", "v"}, {"ocpctl-x", "v"},
	} {
		require.NotEmpty(t, TagProblem(bad[0], bad[1]), bad[0])
	}
}
