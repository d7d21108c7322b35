package profiles

import (
	"fmt"
	"maps"
	"os"
	"slices"
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
	for _, name := range []string{"aws-minimal-mint", "aws-minimal-test", "aws-standard", "ibm-minimal-test", "ibm-standard"} {
		in := input()
		in.Region = get(t, name).DefaultRegion
		out, err := get(t, name).InstallConfig(in)
		require.NoError(t, err)
		golden(t, name+".install-config.yaml", string(out))
		require.NotContains(t, string(out), "pullSecret")
		require.NotContains(t, string(out), "sshKey")
	}
}

func TestTheInstallerHasEveryFieldThatIsRendered(t *testing.T) {
	raw, err := os.ReadFile("testdata/installer-fields.yaml")
	require.NoError(t, err)
	var fields any
	require.NoError(t, yaml.Unmarshal(raw, &fields))
	for name, body := range map[string]string{"aws-standard": rendered(t), "ibm-standard": renderedIBM(t)} {
		var config any
		require.NoError(t, yaml.Unmarshal([]byte(body), &config))
		require.Empty(t, unknownTo(fields, config, ""), name)
	}
	require.Equal(t, []string{".platform.ibmcloud.userTags", ".publishing"},
		unknownTo(fields, map[string]any{"publishing": 1, "platform": map[string]any{"ibmcloud": map[string]any{"userTags": nil}}}, ""), "and it would tell")
}

// unknownTo lists the fields of a document that are not among the given ones.
func unknownTo(fields, doc any, at string) (unknown []string) {
	if fields == "any" {
		return nil
	}
	switch doc := doc.(type) {
	case []any:
		for _, item := range doc {
			unknown = append(unknown, unknownTo(fields, item, at)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(doc)) {
			if inner, known := fields.(map[string]any)[key]; known {
				unknown = append(unknown, unknownTo(inner, doc[key], at+"."+key)...)
			} else {
				unknown = append(unknown, at+"."+key)
			}
		}
	default:
		unknown = append(unknown, at+" is a value")
	}
	return unknown
}

func TestEveryPoolNamesItsZones(t *testing.T) {
	in := input()
	in.Zones = []string{"us-east-1b"}
	out, err := get(t, "aws-standard").InstallConfig(in)
	require.NoError(t, err)
	var c installConfig
	require.NoError(t, yaml.Unmarshal(out, &c))
	require.Equal(t, in.Zones, c.ControlPlane.zones("aws"))
	require.Equal(t, in.Zones, c.Compute[0].zones("aws"))
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
}

func TestATemplateRendersWhatTheProfileRenders(t *testing.T) {
	var configs InstallConfigs
	same := func(profile string, p Profile, in InstallInput) {
		t.Helper()
		want, wrong := p.InstallConfig(in)
		out, err := configs.Render(profile, p, in)
		require.Equal(t, wrong, err)
		require.Equal(t, string(want), string(out))
	}
	for _, profile := range []string{"aws-minimal-mint", "aws-standard", "ibm-standard"} {
		p, in := get(t, profile), input()
		in.Region = p.DefaultRegion
		for _, name := range []string{"shop", "null", "yes", "y", "off", "true", "name-of-cluster", "Shop.one", strings.Repeat("x", MaxName+1)} {
			in.Name = name
			same(profile, p, in)
		}
		in.Name = "shop"
		for _, tags := range []map[string]string{nil, {"Team": "yes"}, {"Team": "a: b"}, {"1e3": "= x", "Team": ""}, {"tags-of-cluster": "x"}} {
			in.Tags = tags
			same(profile, p, in)
		}
		in.Tags, in.Zones = map[string]string{"Team": "a"}, []string{"elsewhere-1"}
		same(profile, p, in)
	}
	changed := get(t, "aws-standard")
	changed.Workers.Replicas++
	same("another catalogue", changed, input())
}

func TestTagProblemFollowsTheInstallersLimits(t *testing.T) {
	for _, fine := range [][2]string{{"Team", "a"}, {"purpose", "a"}, {"a.b/c", "x y"}, {"kubernetes", "io"}, {"mykubernetes.io/x", "y"}, {strings.Repeat("k", 128), strings.Repeat("v", 256)}, {"mail", "a+b@example.com"}} {
		require.Empty(t, TagProblem("aws", fine[0], fine[1]), fine[0])
	}
	for _, bad := range [][2]string{
		{"", "v"}, {"k", ""}, {strings.Repeat("k", 129), "v"}, {"k", strings.Repeat("v", 257)}, {"NAME", "v"}, {"AWS:x", "v"}, {"kubernetes.io/cluster/x", "owned"},
		{"x.OpenShift.io/y", "v"}, {"k;", "v"}, {"k", "v<"}, {"k", "a\nb"}, {" k", "v"}, {"k", "v "}, {"ключ", "v"},
		{"team", "a"}, {"openshiftClusterID", "v"}, {"OpenShift-x", "v"}, {"sigs.k8s.io/cluster-api-provider-aws/cluster/x", "owned"}, {"red-hat-managed", "true"},
		{"expirationDate", "v"}, {"ocpctl-x", "v"},
	} {
		require.NotEmpty(t, TagProblem("aws", bad[0], bad[1]), bad[0])
	}
}

func TestIBMCloudIsRenderedWithWhatItsInstallerHas(t *testing.T) {
	in := input()
	in.Region, in.Zones = "us-south", []string{"us-south-2", "us-south-3"}
	out, err := get(t, "ibm-standard").InstallConfig(in)
	require.NoError(t, err)
	var c struct {
		ControlPlane struct{ Platform map[string]map[string]any } `yaml:"controlPlane"`
		Compute      []struct{ Platform map[string]map[string]any }
		Platform     map[string]map[string]any
	}
	require.NoError(t, yaml.Unmarshal(out, &c))
	zones := []any{"us-south-2", "us-south-3"}
	machines := map[string]map[string]any{"ibmcloud": {"type": "bx2-4x16", "zones": zones}}
	require.Equal(t, machines, c.ControlPlane.Platform)
	require.Equal(t, machines, c.Compute[0].Platform)
	require.Equal(t, map[string]map[string]any{"ibmcloud": {"region": "us-south", "defaultMachinePlatform": map[string]any{"zones": zones}}}, c.Platform,
		"no tags, no load balancer, and no resource group, which is made for one attempt")

	in.Zones = []string{"us-east-1"}
	_, err = get(t, "ibm-standard").InstallConfig(in)
	require.ErrorContains(t, err, `platform.ibmcloud.defaultMachinePlatform.zones[0]: "us-east-1"; accepted: zones of us-south, each once`)
}

func TestTagProblemFollowsIBMClouds(t *testing.T) {
	for _, fine := range [][2]string{
		{"purpose", "load test"}, {"a.b", "x_y-z"}, {"time", "12:30"}, {strings.Repeat("k", 100), strings.Repeat("v", 27)}, {"Team", "a"},
	} {
		require.Empty(t, TagProblem("ibmcloud", fine[0], fine[1]), fine[0])
	}
	for _, bad := range []struct{ key, value, why string }{
		{"mail", "a@example.com", "letters, digits, spaces and _ - . and the value also :"}, {"a/b", "v", "letters, digits"}, {"k", "a+b", "letters, digits"},
		{"k", "a=b", "letters, digits"}, {"a:b", "v", "ends at the first colon"}, {strings.Repeat("k", 100), strings.Repeat("v", 28), "at most 128"},
		{"k", "", "1 to 256"}, {"openshift-x", "v", "OpenShift"}, {"team", "a", "ocpctl sets Team"},
	} {
		require.Contains(t, TagProblem("ibmcloud", bad.key, bad.value), bad.why, bad.key)
	}
}
