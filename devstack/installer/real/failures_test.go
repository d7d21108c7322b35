//go:build installer

package real_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	runner "github.com/ocpctl/ocpctl/runner/installer"
)

var update = flag.Bool("update", false, "write what the real programs said to the fixtures")

// recorded are the real runs that failed, which the runner's own tests read.
const recorded = "../../../runner/installer/testdata/real.yaml"

// ending is one failing run, as in the runner's testdata/lines.yaml.
type ending struct {
	Name    string   `yaml:"name"`
	Exit    int      `yaml:"exit"`
	Reason  string   `yaml:"reason"`
	Whose   string   `yaml:"whose"`
	Retried bool     `yaml:"retried"`
	Lines   []string `yaml:"lines"`
}

// failing is a run that has to fail.
type failing struct {
	name   string
	change [2]string      // of the install-config: replace the first by the second
	spoil  func(w *world) // what is wrong in the cloud or the environment
	then   string         // the command; empty: create manifests
	ibm    bool           // on IBM Cloud
}

func refuse(call, code string) func(*world) {
	return func(w *world) {
		if w.IBM != nil {
			w.IBM.Refuse(call, -1, code)
			return
		}
		w.AWS.Refuse(call, -1, code)
	}
}

func limit(code string) func(*world) {
	return func(w *world) { require.NoError(w.t, w.AWS.SetLimit(code, 0)) }
}

// setenv sets or, with an empty value, removes a variable of the programs.
func setenv(name, value string) func(*world) {
	return func(w *world) {
		w.env = slices.DeleteFunc(w.env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
		if value != "" {
			w.env = append(w.env, name+"="+value)
		}
	}
}

// failures are runs that end within a minute. With credentials that have expired, a proxy that is down or a certificate that is not trusted,
// the real installer tries a call on AWS again for many minutes.
func failures() []failing {
	const cluster = "create cluster"
	return []failing{
		{name: "a key that AWS does not know", spoil: setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN000000000")},
		{name: "a secret that is not the key's", spoil: setenv("AWS_SECRET_ACCESS_KEY", "another-secret")},
		{name: "no right to list zones", spoil: refuse("ec2:DescribeAvailabilityZones", aws.Denied)},
		{name: "no right to list instance types", spoil: refuse("ec2:DescribeInstanceTypes", aws.Denied)},
		{name: "no right to list hosted zones", spoil: refuse("route53:ListHostedZones", aws.Denied)},
		{name: "everything denied by the organization", spoil: refuse("*", aws.DeniedBySCP)},
		{name: "everything denied by a boundary", spoil: refuse("*", aws.DeniedByBoundary)},
		{name: "a region that is not enabled", spoil: refuse("us-east-2/*", "OptInRequired")},
		{name: "a blocked account", spoil: refuse("*", "Blocked")},
		{name: "an account that is being verified", spoil: refuse("*", "PendingVerification")},
		{name: "a type that does not exist", change: [2]string{"m6i.xlarge", "m9i.xlarge"}},
		{name: "a type that is too small", change: [2]string{"m6i.xlarge", "t3.medium"}},
		{name: "a zone that does not exist", change: [2]string{"us-east-2a", "us-east-2z"}},
		{name: "a region that does not exist", change: [2]string{"region: us-east-2", "region: us-moon-1"}},
		{name: "a base domain without a zone", change: [2]string{"labs.example.com", "nowhere.example.org"}},
		{name: "a base domain that is none", change: [2]string{"labs.example.com", "labs_example"}},
		{name: "a pull secret that is not JSON", change: [2]string{installertest.PullSecret, "not-json"}},
		{name: "a pull secret without credentials", change: [2]string{installertest.PullSecret, `{"auths":{}}`}},
		{name: "a tag with a refused character", change: [2]string{"ManagedBy: cluster-control-plane", `ManagedBy: "a|b"`}},
		{name: "a reserved tag", change: [2]string{"ManagedBy:", "kubernetes.io/owner:"}},
		{name: "an SSH key that is none", change: [2]string{"sshKey: ssh-ed25519 A", "sshKey: ssh-dsa B"}},
		{name: "a credentials mode that does not exist", change: [2]string{"credentialsMode: Manual", "credentialsMode: Automatic"}},
		{name: "no machines in the control plane", change: [2]string{"replicas: 3", "replicas: 0"}},
		{name: "a name with capitals", change: [2]string{"name: shop", "name: Shop"}},
		{name: "a session that AWS does not know", spoil: setenv("AWS_SESSION_TOKEN", "a-token")},
		{name: "records of the name exist", then: cluster, spoil: func(w *world) { w.takeName() }},
		{name: "too few processors", then: cluster, spoil: limit("L-1216C47A")},
		{name: "too few networks", then: cluster, spoil: limit("L-F678F1CE")},
		{name: "too few addresses", then: cluster, spoil: limit("L-0263D0A3")},
		{name: "no right to list quotas", then: cluster, spoil: refuse("servicequotas:ListServiceQuotas", aws.Denied)},
		{name: "a controller that does not start", then: cluster},

		{name: "an API key that IBM Cloud does not know", ibm: true, spoil: setenv("IC_API_KEY", "another-key")},
		{name: "everything denied on IBM Cloud", ibm: true, spoil: refuse("*", ibmcloud.Denied)},
		{name: "a token that has expired", ibm: true, spoil: refuse("*", ibmcloud.Expired)},
		{name: "no right to read networks", ibm: true, spoil: refuse("vpc:*", ibmcloud.Denied)},
		{name: "no right to read DNS zones", ibm: true, spoil: refuse("cis:*", ibmcloud.Denied)},
		{name: "IBM Cloud's networks are unavailable", ibm: true, spoil: refuse("vpc:*", ibmcloud.Broken)},
		{name: "a resource group that does not exist", ibm: true, change: [2]string{"region: us-east\n", "region: us-east\n    resourceGroupName: nowhere\n"}},
		{name: "a profile that does not exist", ibm: true, change: [2]string{"bx2-4x16", "bx9-4x16"}},
		{name: "a zone that does not exist there", ibm: true, change: [2]string{"us-east-1", "us-east-9"}},
		{name: "a zone of another region", ibm: true, change: [2]string{"us-east-1", "us-south-1"}},
		{name: "an IBM region that does not exist", ibm: true, change: [2]string{"region: us-east\n", "region: us-moon\n"}},
		{name: "a base domain without a CIS zone", ibm: true, change: [2]string{"labs.example.com", "nowhere.example.org"}},
		{name: "a credentials mode that IBM Cloud has not", ibm: true, change: [2]string{"credentialsMode: Manual", "credentialsMode: Mint"}},
		{name: "a proxy that is down before IBM Cloud", ibm: true, spoil: setenv("HTTPS_PROXY", "http://127.0.0.1:1")},
		{name: "a controller that does not start on IBM Cloud", ibm: true, then: cluster},
	}
}

// takeName makes a record of the cluster's name in the public zone.
func (w *world) takeName() {
	cfg, err := config.LoadDefaultConfig(w.t.Context(), config.WithRegion("us-east-1"))
	require.NoError(w.t, err)
	client := route53.NewFromConfig(cfg)
	zones, err := client.ListHostedZones(w.t.Context(), &route53.ListHostedZonesInput{})
	require.NoError(w.t, err)
	_, err = client.ChangeResourceRecordSets(w.t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: zones.HostedZones[0].Id, ChangeBatch: &types.ChangeBatch{
		Changes: []types.Change{{Action: types.ChangeActionCreate, ResourceRecordSet: &types.ResourceRecordSet{
			Name: sdk.String("api.shop.labs.example.com"), Type: types.RRTypeA, TTL: sdk.Int64(60), ResourceRecords: []types.ResourceRecord{{Value: sdk.String("192.0.2.1")}},
		}}},
	}})
	require.NoError(w.t, err)
}

// differs is what differs in each run: times, ids, ports, folders.
var differs = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|127\.0\.0\.1:\d{2,}|/tmp/[^\s",:]+|\d{8}T\d{6}Z|shop-[a-z0-9]{5}\b`)

// fail runs the real installer directly, where no stand-in takes a command from it, and returns what it said.
func (w *world) fail(f failing, config string) ending {
	w.t.Helper()
	dir := installertest.Dir(w.t, config)
	if f.then != "" { // the cloud is in order until then
		w.direct(dir, "create", "manifests")
		w.direct(dir, "create", "ignition-configs")
	}
	if f.spoil != nil {
		f.spoil(w)
	}
	then := f.then
	if then == "" {
		then = "create manifests"
	}
	code, lines := w.direct(dir, strings.Fields(then)...)
	heard := runner.Explain(runner.Exit{Code: code}, lines...)
	return ending{Name: f.name, Exit: code, Reason: heard.Reason, Whose: heard.Whose, Retried: heard.Retryable, Lines: lines}
}

func (w *world) direct(dir string, args ...string) (code int, lines []string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(w.t), "openshift-install"), append(args, "--dir", dir)...)
	cmd.Env, cmd.Dir = append(slices.Clone(w.env), "OPENSHIFT_INSTALL_DATA="+filepath.Join(programs(w.t), "data")), dir
	out, _ := cmd.CombinedOutput() // the exit code says how it ended
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "level=error") || strings.HasPrefix(line, "level=fatal") || strings.HasPrefix(line, "level=warning") {
			lines = append(lines, differs.ReplaceAllString(line, "…"))
		}
	}
	return cmd.ProcessState.ExitCode(), lines
}

// Every run really fails, and the product says of it what the fixtures say, which the runner's tests read without the real programs.
func TestTheRealInstallersFailures(t *testing.T) {
	var got []ending
	for _, f := range failures() {
		t.Run(f.name, func(t *testing.T) {
			start, install := installertest.Start, strings.Replace(installertest.InstallConfig("shop", "us-east-2", 0), "Mint", "Manual", 1)
			if f.ibm {
				start, install = installertest.StartIBMCloud, installertest.IBMConfig("shop", "", 0)
			}
			if f.change[0] != "" {
				require.Contains(t, install, f.change[0])
				install = strings.ReplaceAll(install, f.change[0], f.change[1])
			}
			e := newWorld(t, start(t)).fail(f, install)
			require.NotZero(t, e.Exit, "it succeeded")
			got = append(got, e)
		})
	}
	raw, err := yaml.Marshal(got)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(recorded, append([]byte("# What the real openshift-install 4.19.0-ec.5 printed in runs that failed against the stand-in clouds (make test-installer), and what ocpctl makes of it.\n"), raw...), 0o644))
	}
	kept, err := os.ReadFile(recorded)
	require.NoError(t, err)
	var want []ending
	require.NoError(t, yaml.Unmarshal(kept, &want))
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Reason, got[i].Reason, want[i].Name)
		require.Equal(t, want[i].Exit, got[i].Exit, want[i].Name)
	}
}
