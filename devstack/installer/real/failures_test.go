//go:build installer

package real_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/faults"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	runner "github.com/ocpctl/ocpctl/runner/installer"
)

var update = flag.Bool("update", false, "write what the real programs said to the fixtures")

// recorded are the real runs that failed, which the runner's own tests read.
const recorded = "../../../runner/installer/testdata/real.yaml"

// ending is one failing run, as in the runner's testdata/lines.yaml.
type ending struct {
	Name     string   `yaml:"name"`
	Program  string   `yaml:"program,omitempty"` // empty: openshift-install
	Exit     int      `yaml:"exit"`
	TimedOut bool     `yaml:"timedOut,omitempty"`
	Reason   string   `yaml:"reason"`
	Whose    string   `yaml:"whose"`
	Retried  bool     `yaml:"retried"`
	Lines    []string `yaml:"lines"`
}

// failing is a run that has to fail.
type failing struct {
	name   string
	change [2]string      // of the install-config: replace the first by the second
	spoil  func(w *world) // what is wrong in the cloud or the environment
	then   string         // the command; empty: create manifests
	ibm    bool           // on IBM Cloud
	cco    bool           // ccoctl creates the credentials, instead of a command of openshift-install
	hangs  bool           // it would go on for an hour, and is told to end
}

func refuse(call, code string) func(*world) {
	return func(w *world) { w.faults().Refuse(call, -1, code) }
}

// throttle makes the cloud answer a call with its error for too many requests, for good.
func throttle(call string) func(*world) {
	return func(w *world) { w.faults().Throttle(call, 0, 1) }
}

func (w *world) faults() *faults.Set {
	if w.IBM != nil {
		return w.IBM.Set
	}
	return w.AWS.Set
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

// failures are runs of openshift-install that end by themselves.
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
		{name: "keys of another account", spoil: func(w *world) { require.NoError(w.t, w.AWS.SetAccount("210987654321")) }},
		{name: "records of the name exist", then: cluster, spoil: func(w *world) { w.takeName() }},
		{name: "too few processors", then: cluster, spoil: limit("L-1216C47A")},
		{name: "too few networks", then: cluster, spoil: limit("L-F678F1CE")},
		{name: "too few addresses", then: cluster, spoil: limit("L-0263D0A3")},
		{name: "no right to list quotas", then: cluster, spoil: refuse("servicequotas:ListServiceQuotas", aws.Denied)},
		{name: "a controller that does not start", then: cluster},

		{name: "an API key that IBM Cloud does not know", ibm: true, spoil: setenv("IC_API_KEY", "another-key")},
		{name: "everything denied on IBM Cloud", ibm: true, spoil: refuse("*", ibmcloud.Denied)},
		{name: "a token that has expired", ibm: true, spoil: refuse("*", ibmcloud.Expired)},
		{name: "IBM Cloud throttles", ibm: true, spoil: throttle("*")},
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

// moments begin ccoctl's lines.
var moments = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `)

// prepared is a failing run before it begins: by the real program, which no stand-in takes the command from, or by the stand-in.
type prepared struct {
	failing
	w   *world
	cmd *exec.Cmd
}

// begin prepares a run, up to the command that has to fail.
func (w *world) begin(f failing, config string, real bool) prepared {
	w.t.Helper()
	version, dir := installer.Versions()[0], installertest.Dir(w.t, config)
	if real {
		version = installer.RealVersion
	}
	program, args := "openshift-install", append(strings.Fields(cmp.Or(f.then, "create manifests")), "--dir", dir)
	if f.then != "" { // the cloud is in order until then
		for _, target := range []string{"manifests", "ignition-configs"} {
			w.must(version, "openshift-install", "create", target, "--dir", dir)
		}
	}
	if f.cco {
		program, args = "ccoctl", []string{"aws", "create-all", "--name", ccoName, "--region", "us-east-2", "--credentials-requests-dir", w.requests(version, config), "--output-dir", dir}
		if f.ibm {
			args = []string{"ibmcloud", "create-service-id", "--name", ccoName, "--credentials-requests-dir", args[7], "--output-dir", dir}
		}
	}
	if real {
		return prepared{f, w, w.command(program, args...)}
	}
	return prepared{f, w, exec.Command(filepath.Join(w.dir, version, program), args...)}
}

// command prepares a call of a real program itself.
func (w *world) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs(w.t), program), args...)
	cmd.Env = w.environment()
	return cmd
}

// environment is the programs', at this moment.
func (w *world) environment() []string {
	return append(slices.Clone(w.env), "OPENSHIFT_INSTALL_DATA="+filepath.Join(programs(w.t), "data"))
}

// end runs the program and returns what it said, and what ocpctl makes of it.
func (p prepared) end(patience time.Duration) ending {
	p.w.t.Helper()
	var out bytes.Buffer
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.w.environment(), &out, &out // with what was spoiled since
	require.NoError(p.w.t, p.cmd.Start())
	guard := time.AfterFunc(patience, func() { _ = p.cmd.Process.Signal(syscall.SIGTERM) })
	defer guard.Stop()
	_ = p.cmd.Wait() // the exit code says how it ended
	e := ending{Name: p.name, Exit: p.cmd.ProcessState.ExitCode(), TimedOut: p.hangs}
	if p.cco {
		e.Program, e.Lines = "ccoctl", linesOfCcoctl(out.String())
		heard, _ := runner.ExplainCCO(e.Lines...)
		e.Reason, e.Whose, e.Retried = heard.Reason, heard.Whose, heard.Retryable
		return e
	}
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "level=error") || strings.HasPrefix(line, "level=fatal") || strings.HasPrefix(line, "level=warning") {
			e.Lines = append(e.Lines, differs.ReplaceAllString(line, "…"))
		}
	}
	heard := runner.Explain(runner.Exit{Code: e.Exit, TimedOut: p.hangs}, e.Lines...)
	e.Reason, e.Whose, e.Retried = heard.Reason, heard.Whose, heard.Retryable
	return e
}

// linesOfCcoctl returns the error with which ccoctl ended, and the lines that follow it.
func linesOfCcoctl(output string) (lines []string) {
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			lines = nil
		}
		lines = append(lines, differs.ReplaceAllString(moments.ReplaceAllString(line, "2026/11/29 12:00:00 "), "…"))
	}
	return lines
}

func (f failing) start(t *testing.T) (*world, string) {
	t.Helper()
	start, install := installertest.Start, strings.Replace(installertest.InstallConfig("shop", "us-east-2", 0), "Mint", "Manual", 1)
	if f.ibm {
		start, install = installertest.StartIBMCloud, installertest.IBMConfig("shop", "", 0)
	}
	if f.change[0] != "" {
		require.Contains(t, install, f.change[0])
		install = strings.ReplaceAll(install, f.change[0], f.change[1])
	}
	return newWorld(t, start(t)), install
}

// Every run really fails, and the product says of it what the fixtures say, which the runner's tests read without the real programs. The
// stand-ins end with the same exit code for the same reason, but for what the golden file lists.
func TestTheRealProgramsFailures(t *testing.T) {
	var got []ending
	var others []string
	for _, f := range append(failures(), failuresOfCcoctl()...) {
		t.Run(f.name, func(t *testing.T) {
			w, config := f.start(t)
			runs := []prepared{w.begin(f, config, true), w.begin(f, config, false)}
			if f.spoil != nil {
				f.spoil(w)
			}
			real, standIn := runs[0].end(patience), runs[1].end(patience)
			require.NotZero(t, real.Exit, "it succeeded")
			got = append(got, real)
			if real.Exit != standIn.Exit || real.Reason != standIn.Reason {
				others = append(others, fmt.Sprintf("%s: real %d %s, stand-in %d %s", f.name, real.Exit, real.Reason, standIn.Exit, standIn.Reason))
			}
		})
	}
	got = append(got, hang(t)...)
	requireRecorded(t, got)
	requireGolden(t, "failures.differences", others)
}

// requireRecorded compares runs with the fixtures.
func requireRecorded(t *testing.T, got []ending) {
	t.Helper()
	if *update {
		var raw bytes.Buffer
		raw.WriteString("# What the real openshift-install 4.19.0-ec.5 and ccoctl printed in runs that failed against the stand-in clouds (make test-installer), and what ocpctl makes of it.\n")
		encoder := yaml.NewEncoder(&raw)
		require.NoError(t, encoder.Encode(got))
		require.NoError(t, os.WriteFile(recorded, raw.Bytes(), 0o644))
	}
	kept, err := os.ReadFile(recorded)
	require.NoError(t, err)
	var want []ending
	require.NoError(t, yaml.Unmarshal(kept, &want))
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Name, got[i].Name)
		require.Equal(t, want[i].Reason, got[i].Reason, want[i].Name)
		require.Equal(t, want[i].Exit, got[i].Exit, want[i].Name)
	}
}
