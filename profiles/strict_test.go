package profiles

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	pasted = "pullSecret: '{\"auths\":{\"quay.io\":{\"auth\":\"c2VjcmV0\"}}}'\nsshKey: |\n  " + goodKey + "\n  " + goodKey + " second\n"

	goodKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0wKz7lEfhqE8VfUMLxVdIYSQG4mAsXVCGCGIw8rLmF maya"
)

// rendered is a whole standard install-config as the installer gets it.
func rendered(t *testing.T) string {
	t.Helper()
	out, err := get(t, "aws-standard").InstallConfig(input())
	require.NoError(t, err)
	return string(out) + pasted
}

func TestWhatIsRenderedAndPastedIsStrictlyValid(t *testing.T) {
	require.NoError(t, Strict([]byte(rendered(t))))
}

func TestEachThingTheInstallerWouldTakeOrMissIsRefusedWithItsField(t *testing.T) {
	zones := "zones: [us-east-1a, us-east-1b, us-east-1c]"
	for name, c := range map[string]struct{ old, new, field, accept string }{
		"a field the installer does not know":  {"publish: External", "publish: External\nmaxTTL: 3h", "maxTTL", "apiVersion, baseDomain"},
		"a nested field it does not know":      {"lbType: NLB", "lbType: NLB\n    loadBalancer: NLB", "platform.aws.loadBalancer", "userTags"},
		"a field given twice":                  {"publish: External", "publish: External\npublish: Internal", "publish", "one publish"},
		"a field that is missing":              {"publish: External\n", "", "publish", "External, Internal"},
		"another version of the file":          {"apiVersion: v1", "apiVersion: v2", "apiVersion", "v1"},
		"a name with a dot":                    {"name: pr41-shop", "name: pr41.shop", "metadata.name", "dashes"},
		"a name the installer would cut":       {"name: pr41-shop", "name: pr41-shop-and-the-rest", "metadata.name", "at most 21"},
		"a base domain in capitals":            {"baseDomain: labs.example.com", "baseDomain: Labs.example.com", "baseDomain", "lowercase"},
		"a base domain too long":               {"baseDomain: labs.example.com", "baseDomain: " + long(254), "baseDomain", "253"},
		"a name too long with its domain":      {"baseDomain: labs.example.com", "baseDomain: " + long(250), "baseDomain", "at most 253"},
		"no credentials mode":                  {"credentialsMode: Manual", "credentialsMode: \"\"", "credentialsMode", "Manual, Mint"},
		"a mode of another cloud":              {"credentialsMode: Manual", "credentialsMode: STS", "credentialsMode", "Manual, Mint"},
		"two control planes":                   {"name: master\n  replicas: 3", "name: master\n  replicas: 2", "controlPlane.replicas", "1 or 3"},
		"no control plane":                     {"name: master\n  replicas: 3", "name: master\n  replicas: 0", "controlPlane.replicas", "from 1"},
		"a single worker":                      {"name: worker\n    replicas: 3", "name: worker\n    replicas: 1", "compute[0].replicas", "0, or 2 or more"},
		"a pool of another name":               {"name: worker", "name: workers", "compute[0].name", "worker"},
		"no zones":                             {zones, "zones: []", "controlPlane.platform.aws.zones", "at least one"},
		"a zone of another region":             {zones, "zones: [us-west-2a]", "controlPlane.platform.aws.zones[0]", "zones of us-east-1"},
		"a zone of a region that starts alike": {"region: us-east-1\n", "region: us-east\n", "platform.aws.defaultMachinePlatform.zones[0]", "zones of us-east"},
		"a zone twice":                         {zones, "zones: [us-east-1a, us-east-1a]", "controlPlane.platform.aws.zones[1]", "each once"},
		"a local zone":                         {zones, "zones: [us-east-1-bos-1a]", "controlPlane.platform.aws.zones[0]", "a zone such as us-east-1a"},
		"a machine network OVN takes":          {"cidr: 10.0.0.0/16", "cidr: 100.64.0.0/16", "networking.machineNetwork[0].cidr", "100.64.0.0/16"},
		"a cluster network OVN takes":          {"cidr: 10.128.0.0/14", "cidr: 100.88.0.0/14", "networking.clusterNetwork[0].cidr", "100.88.0.0/16"},
		"a network for masquerading":           {"172.30.0.0/16", "169.254.0.0/20", "networking.serviceNetwork[0]", "169.254.0.0/17"},
		"a network of container hosts":         {"172.30.0.0/16", "172.16.0.0/12", "networking.serviceNetwork[0]", "172.17.0.0/16"},
		"networks that overlap":                {"172.30.0.0/16", "10.129.0.0/16", "networking.serviceNetwork[0]", "10.128.0.0/14"},
		"a network with host bits":             {"cidr: 10.0.0.0/16", "cidr: 10.0.0.1/16", "networking.machineNetwork[0].cidr", "an IPv4 network"},
		"a cluster network too small":          {"cidr: 10.128.0.0/14", "cidr: 10.128.0.0/21", "networking.clusterNetwork[0].hostPrefix", "24 or more"},
		"a cluster network below its prefix":   {"hostPrefix: 23", "hostPrefix: 16\n    - cidr: 10.64.0.0/16\n      hostPrefix: 16", "networking.clusterNetwork[1].hostPrefix", "more than the cluster network's 16"},
		"another network type":                 {"networkType: OVNKubernetes", "networkType: OpenShiftSDN", "networking.networkType", "OVNKubernetes"},
		"a tag that is a number":               {"Team: platform", "Team: 7", "platform.aws.userTags.Team", "a string"},
		"a tag without a value":                {"Team: platform", "Team: \"\"", "platform.aws.userTags.Team", "another key or value"},
		"a tag that is the cluster's":          {"Team: platform", "kubernetes.io/cluster/x: owned", "platform.aws.userTags.kubernetes.io/cluster/x", "another key"},
		"a tag that steers the destroyer":      {"Team: platform", "openshiftClusterID: x", "platform.aws.userTags.openshiftClusterID", "another key"},
		"our tag in another spelling":          {"Team: platform", "team: platform", "platform.aws.userTags.team", "another key"},
		"a tag twice":                          {"Team: platform", "Team: platform\n      Team: shop", "platform.aws.userTags.Team", "each key once"},
		"tags that are a list":                 {"userTags:", "userTags: []\n    tags:", "platform.aws.userTags", "a mapping of at most 25"},
		"more tags than the installer takes":   {"Team: platform", many(16), "platform.aws.userTags", "at most 25"},
		"another load balancer":                {"lbType: NLB", "lbType: ALB", "platform.aws.lbType", "Classic, NLB"},
		"another cloud":                        {"platform:\n  aws:\n    region", "platform:\n  gcp:\n    region", "platform.gcp", "aws"},
		"a key of no known type":               {"ssh-ed25519 AAAA", "ssh-dss AAAA", "sshKey", "ssh-ed25519"},
		"a key cut short":                      {goodKey + " second", "ssh-ed25519 AAAA...", "sshKey", "one per line"},
		"a key under another type":             {goodKey + " second", strings.Replace(goodKey, "ssh-ed25519", "ssh-rsa", 1), "sshKey", "one per line"},
		"a pull secret of another form":        {`{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}`, `{"quay.io":{"auth":"c2VjcmV0"}}`, "pullSecret", `{"auths"`},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(rendered(t), c.old, c.new, 1)
			require.NotEqual(t, rendered(t), body)
			var problems Problems
			require.ErrorAs(t, Strict([]byte(body)), &problems)
			i := indexOf(problems, c.field)
			require.GreaterOrEqual(t, i, 0, problems.Error())
			require.Contains(t, problems[i].Accept, c.accept)
			require.Positive(t, problems[i].Line)
			require.NotContains(t, problems.Error(), "c2VjcmV0", "a pull secret is not repeated")
		})
	}
}

// long is a domain of n characters.
func long(n int) string {
	domain := strings.Repeat(strings.Repeat("a", 49)+".", (n-5)/50)
	return domain + strings.Repeat("b", n-len(domain)-4) + ".com"
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("key-" + strings.Repeat("i", i+1) + ": v\n      ")
	}
	return b.String() + "last: v"
}

func TestWhatIsNoInstallConfigAtAllIsRefused(t *testing.T) {
	for body, text := range map[string]string{"": "an empty file", "- a\n": "a list of 1", "a: [b": "valid YAML", rendered(t) + "---\na: b\n": "more than one document"} {
		require.ErrorContains(t, Strict([]byte(body)), text)
	}
}

func TestAllProblemsOfAnInstallConfigComeAtOnce(t *testing.T) {
	body := strings.NewReplacer("name: pr41-shop", "name: Shop.One", "publish: External", "publish: Public", "hostPrefix: 23", "hostPrefix: 8").Replace(rendered(t))
	var problems Problems
	require.ErrorAs(t, Strict([]byte(body)), &problems)
	require.Len(t, problems, 3)
}

func FuzzStrictNeverPanics(f *testing.F) {
	f.Add("platform: {aws: {userTags: {a: [b]}}}\n")
	f.Add("networking: {clusterNetwork: [{cidr: 10.0.0.0/8, hostPrefix: 28}], machineNetwork: [1], serviceNetwork: [::/0]}\n")
	f.Add("sshKey: ssh-rsa AAAA////\npullSecret: 7\n")
	f.Fuzz(func(t *testing.T, body string) {
		if Strict([]byte(body)) == nil {
			require.Contains(t, body, "v1")
		}
	})
}
