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
	require.NoError(t, Strict([]byte(renderedIBM(t))))
}

// renderedIBM is a whole standard install-config for IBM Cloud as the installer gets it.
func renderedIBM(t *testing.T) string {
	t.Helper()
	in := input()
	in.Region = "us-south"
	out, err := get(t, "ibm-standard").InstallConfig(in)
	require.NoError(t, err)
	return strings.Replace(string(out), "region: us-south\n", "region: us-south\n    resourceGroupName: clu-1-a1\n", 1) + pasted
}

func TestEachThingTheInstallerWouldTakeOrMissIsRefusedWithItsField(t *testing.T) {
	zones := "zones: [us-east-1a, us-east-1b, us-east-1c]"
	for name, c := range map[string]struct{ old, new, field, accept string }{
		"a field the installer does not know": {"publish: External", "publish: External\nmaxTTL: 3h", "maxTTL", "apiVersion, baseDomain"},
		"a nested field it does not know":     {"lbType: NLB", "lbType: NLB\n    loadBalancer: NLB", "platform.aws.loadBalancer", "userTags"},
		"a field given twice":                 {"publish: External", "publish: External\npublish: Internal", "publish", "one publish"},
		"a field that is missing":             {"publish: External\n", "", "publish", "External, Internal"},
		"another version of the file":         {"apiVersion: v1", "apiVersion: v2", "apiVersion", "v1"},
		"a name with a dot":                   {"name: pr41-shop", "name: pr41.shop", "metadata.name", "dashes"},
		"a name the installer would cut":      {"name: pr41-shop", "name: pr41-shop-and-the-rest", "metadata.name", "at most 21"},
		"a base domain in capitals":           {"baseDomain: labs.example.com", "baseDomain: Labs.example.com", "baseDomain", "lowercase"},
		"a base domain too long":              {"baseDomain: labs.example.com", "baseDomain: " + long(254), "baseDomain", "253"},
		"a name too long with its domain":     {"baseDomain: labs.example.com", "baseDomain: " + long(250), "baseDomain", "at most 253"},
		"no credentials mode":                 {"credentialsMode: Manual", "credentialsMode: \"\"", "credentialsMode", "Manual, Mint"},
		"a mode of another cloud":             {"credentialsMode: Manual", "credentialsMode: STS", "credentialsMode", "Manual, Mint"},
		"two control planes":                  {"name: master\n  replicas: 3", "name: master\n  replicas: 2", "controlPlane.replicas", "1 or 3"},
		"no control plane":                    {"name: master\n  replicas: 3", "name: master\n  replicas: 0", "controlPlane.replicas", "from 1"},
		"a single worker":                     {"name: worker\n    replicas: 3", "name: worker\n    replicas: 1", "compute[0].replicas", "0, or 2 or more"},
		"a pool of another name":              {"name: worker", "name: workers", "compute[0].name", "worker"},
		"no zones":                            {zones, "zones: []", "controlPlane.platform.aws.zones", "at least one"},
		"a zone of another region":            {zones, "zones: [us-west-2a]", "controlPlane.platform.aws.zones[0]", "zones of us-east-1"},
		"a region without its number":         {"region: us-east-1\n", "region: us-east\n", "platform.aws.region", "a region such as us-east-1"},
		"a zone twice":                        {zones, "zones: [us-east-1a, us-east-1a]", "controlPlane.platform.aws.zones[1]", "each once"},
		"a local zone":                        {zones, "zones: [us-east-1-bos-1a]", "controlPlane.platform.aws.zones[0]", "a zone such as us-east-1a"},
		"a machine network OVN takes":         {"cidr: 10.0.0.0/16", "cidr: 100.64.0.0/16", "networking.machineNetwork[0].cidr", "100.64.0.0/16"},
		"a cluster network OVN takes":         {"cidr: 10.128.0.0/14", "cidr: 100.88.0.0/14", "networking.clusterNetwork[0].cidr", "100.88.0.0/16"},
		"a network for masquerading":          {"172.30.0.0/16", "169.254.0.0/20", "networking.serviceNetwork[0]", "169.254.0.0/17"},
		"a network of container hosts":        {"172.30.0.0/16", "172.16.0.0/12", "networking.serviceNetwork[0]", "172.17.0.0/16"},
		"networks that overlap":               {"172.30.0.0/16", "10.129.0.0/16", "networking.serviceNetwork[0]", "10.128.0.0/14"},
		"a network with host bits":            {"cidr: 10.0.0.0/16", "cidr: 10.0.0.1/16", "networking.machineNetwork[0].cidr", "an IPv4 network"},
		"a cluster network too small":         {"cidr: 10.128.0.0/14", "cidr: 10.128.0.0/21", "networking.clusterNetwork[0].hostPrefix", "24 or more"},
		"a cluster network below its prefix":  {"hostPrefix: 23", "hostPrefix: 16\n    - cidr: 10.64.0.0/16\n      hostPrefix: 16", "networking.clusterNetwork[1].hostPrefix", "more than the cluster network's 16"},
		"another network type":                {"networkType: OVNKubernetes", "networkType: OpenShiftSDN", "networking.networkType", "OVNKubernetes"},
		"a tag that is a number":              {"Team: platform", "Team: 7", "platform.aws.userTags.Team", "a string"},
		"a tag without a value":               {"Team: platform", "Team: \"\"", "platform.aws.userTags.Team", "another key or value"},
		"a tag that is the cluster's":         {"Team: platform", "kubernetes.io/cluster/x: owned", "platform.aws.userTags.kubernetes.io/cluster/x", "another key"},
		"a tag that steers the destroyer":     {"Team: platform", "openshiftClusterID: x", "platform.aws.userTags.openshiftClusterID", "another key"},
		"our tag in another spelling":         {"Team: platform", "team: platform", "platform.aws.userTags.team", "another key"},
		"a tag twice":                         {"Team: platform", "Team: platform\n      Team: shop", "platform.aws.userTags.Team", "each key once"},
		"tags that are a list":                {"userTags:", "userTags: []\n    tags:", "platform.aws.userTags", "a mapping of at most 25"},
		"more tags than the installer takes":  {"Team: platform", many(16), "platform.aws.userTags", "at most 25"},
		"another load balancer":               {"lbType: NLB", "lbType: ALB", "platform.aws.lbType", "Classic, NLB"},
		"another cloud":                       {"platform:\n  aws:\n    region", "platform:\n  gcp:\n    region", "platform.gcp", "aws, ibmcloud"},
		"a second cloud":                      {"platform:\n  aws:\n    region", "platform:\n  ibmcloud: {}\n  aws:\n    region", "platform", "one of aws, ibmcloud"},
		"a pool of another cloud":             {"platform:\n    aws:", "platform:\n    ibmcloud:", "controlPlane.platform.ibmcloud", "aws"},
		"an instance type of another cloud":   {"type: m6i.xlarge", "type: bx2-4x16", "controlPlane.platform.aws.type", "m6i.xlarge"},
		"a resource group on AWS":             {"lbType: NLB", "lbType: NLB\n    resourceGroupName: x", "platform.aws.resourceGroupName", "userTags"},
		"a key of no known type":              {"ssh-ed25519 AAAA", "ssh-dss AAAA", "sshKey", "ssh-ed25519"},
		"a key cut short":                     {goodKey + " second", "ssh-ed25519 AAAA...", "sshKey", "one per line"},
		"a key under another type":            {goodKey + " second", strings.Replace(goodKey, "ssh-ed25519", "ssh-rsa", 1), "sshKey", "one per line"},
		"a pull secret of another form":       {`{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}`, `{"quay.io":{"auth":"c2VjcmV0"}}`, "pullSecret", `{"auths"`},
	} {
		t.Run(name, func(t *testing.T) { refusedAs(t, rendered(t), c.old, c.new, c.field, c.accept) })
	}
}

func TestEachThingThatIBMCloudDoesNotHaveIsRefusedWithItsField(t *testing.T) {
	zones, region := "zones: [us-south-1, us-south-2, us-south-3]", "region: us-south\n"
	for name, c := range map[string]struct{ old, new, field, accept string }{
		"keys in the cluster":               {"credentialsMode: Manual", "credentialsMode: Mint", "credentialsMode", "Manual"},
		"no credentials mode":               {"credentialsMode: Manual\n", "", "credentialsMode", "Manual"},
		"tags":                              {region, region + "    userTags: {Team: platform}\n", "platform.ibmcloud.userTags", "region, resourceGroupName, defaultMachinePlatform"},
		"a load balancer":                   {region, region + "    lbType: NLB\n", "platform.ibmcloud.lbType", "region"},
		"propagated tags":                   {region, region + "    propagateUserTags: true\n", "platform.ibmcloud.propagateUserTags", "region"},
		"a VPC that is there":               {region, region + "    vpcName: shared\n", "platform.ibmcloud.vpcName", "region"},
		"subnets that are there":            {region, region + "    computeSubnets: [a]\n", "platform.ibmcloud.computeSubnets", "region"},
		"other endpoints":                   {region, region + "    serviceEndpoints: []\n", "platform.ibmcloud.serviceEndpoints", "region"},
		"a resource group without a name":   {"resourceGroupName: clu-1-a1", "resourceGroupName: \"\"", "platform.ibmcloud.resourceGroupName", "at most 40"},
		"a region of AWS":                   {region, "region: us-south-1\n", "platform.ibmcloud.region", "us-south"},
		"a zone of another region":          {zones, "zones: [us-east-1]", "controlPlane.platform.ibmcloud.zones[0]", "zones of us-south"},
		"a zone of AWS":                     {zones, "zones: [us-south-1a]", "controlPlane.platform.ibmcloud.zones[0]", "a zone such as us-south-1"},
		"a zone twice":                      {zones, "zones: [us-south-1, us-south-1]", "controlPlane.platform.ibmcloud.zones[1]", "each once"},
		"no zones":                          {zones, "zones: []", "controlPlane.platform.ibmcloud.zones", "at least one"},
		"an instance type of another cloud": {"type: bx2-4x16", "type: m6i.xlarge", "controlPlane.platform.ibmcloud.type", "bx2-4x16"},
		"an encrypted boot volume":          {"type: bx2-4x16", "bootVolume: {encryptionKey: x}\n      type: bx2-4x16", "controlPlane.platform.ibmcloud.bootVolume", "type, zones"},
		"a pool of another cloud":           {"platform:\n    ibmcloud:", "platform:\n    aws:", "controlPlane.platform.aws", "ibmcloud"},
		"a second cloud":                    {"platform:\n  ibmcloud:\n    region", "platform:\n  aws: {}\n  ibmcloud:\n    region", "platform", "one of aws, ibmcloud"},
		"no cloud":                          {"platform:\n  ibmcloud:\n    region", "platform: {}\nother:\n  ibmcloud:\n    region", "platform", "one of aws, ibmcloud"},
	} {
		t.Run(name, func(t *testing.T) { refusedAs(t, renderedIBM(t), c.old, c.new, c.field, c.accept) })
	}
}

// refusedAs checks that an install-config with a text replaced has a problem in a field.
func refusedAs(t *testing.T, whole, before, after, field, accept string) {
	t.Helper()
	body := strings.Replace(whole, before, after, 1)
	require.NotEqual(t, whole, body)
	var problems Problems
	require.ErrorAs(t, Strict([]byte(body)), &problems)
	i := indexOf(problems, field)
	require.GreaterOrEqual(t, i, 0, problems.Error())
	require.Contains(t, problems[i].Accept, accept)
	require.Positive(t, problems[i].Line)
	require.NotContains(t, problems.Error(), "c2VjcmV0", "a pull secret is not repeated")
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
