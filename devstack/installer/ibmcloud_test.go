package installer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// ibmCredentials makes the operators' service IDs and returns the folders with the requests and with ccoctl's output.
func ibmCredentials(t *testing.T, w *installertest.World, name, group string) (requests, output string) {
	t.Helper()
	requests, output = t.TempDir(), t.TempDir()
	pull := filepath.Join(t.TempDir(), "pull.json")
	require.NoError(t, os.WriteFile(pull, []byte(installertest.PullSecret), 0o600))
	out := w.Tool(t, "oc", t.TempDir(), "adm", "release", "extract", "--credentials-requests", "--cloud=ibmcloud", "-a", pull, "--to", requests, "quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64")
	require.Zero(t, out.Code, out.Stderr)
	args := []string{"ibmcloud", "create-service-id", "--name", name, "--credentials-requests-dir", requests, "--output-dir", output}
	if group != "" {
		args = append(args, "--resource-group-name", group)
	}
	out = w.Tool(t, "ccoctl", t.TempDir(), args...)
	require.Zero(t, out.Code, out.Stderr)
	return requests, output
}

// ibmInstall installs a cluster with credentials of its own and returns its directory.
func ibmInstall(t *testing.T, w *installertest.World, name, group string, faults installer.Faults) string {
	t.Helper()
	_, cc := ibmCredentials(t, w, "cco-"+name, group)
	dir := installertest.Dir(t, installertest.IBMConfig(name, group, 1))
	w.Must(t, dir, "create manifests")
	bring(t, cc, dir)
	require.NoError(t, installer.WriteFaults(w.Faults, faults))
	w.Must(t, dir, "create ignition-configs")
	return dir
}

func ofGroup(t *testing.T, w *installertest.World, name string) {
	t.Helper()
	_, err := w.IBM.Plant(ibmcloud.Resource{Service: "resource-controller", Type: "resource-group", Name: name, State: "ACTIVE"})
	require.NoError(t, err)
}

// standing are the kinds of what is left of a cluster, without what nobody but ccoctl and the removal removes.
func standing(w *installertest.World, t *testing.T, name string) map[string]int {
	left := kinds(w.Left(t, name))
	for _, kind := range []string{"serviceid", "apikey", "policy", "resource-group", "tag", "network-acl", "routing-table"} {
		delete(left, kind)
	}
	return left
}

func ibmMetadata(t *testing.T, dir string) (infraID string, ibm map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	var m struct {
		InfraID string            `json:"infraID"`
		IBM     map[string]string `json:"ibmcloud"`
	}
	require.NoError(t, json.Unmarshal(raw, &m))
	return m.InfraID, m.IBM
}

func TestOnIBMCloudAnInstallMakesWhatTheRealOneMakes(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	lines := trace(t)
	ofGroup(t, w, "cco-made")
	dir := ibmInstall(t, w, "made", "cco-made", nil)
	infraID, m := ibmMetadata(t, dir)
	require.Equal(t, w.IBM.Account(), m["accountID"])
	require.Contains(t, m["cisInstanceCRN"], ":internet-svcs:")
	require.Equal(t, "cco-made", m["resourceGroupName"])
	require.Empty(t, standing(w, t, infraID), "nothing before the installer creates the cluster")

	out := w.Must(t, dir, "create cluster")
	inOrder(t, out.Stderr, "Creating infrastructure resources...", "Created manifest *v1beta2.IBMVPCCluster", "for network infrastructure to become ready", "Created DNS records",
		"Created manifest *v1beta2.IBMVPCMachine", "Control-plane machines are ready", "Destroying the bootstrap resources", "Install complete!")
	var names []string
	for _, r := range w.IBM.Resources("made") {
		names = append(names, r.Type+" "+r.Name)
	}
	for _, want := range []string{
		"instance " + infraID + "-cos", "bucket " + infraID + "-vsi-image", "vpc " + infraID + "-vpc", "image " + infraID + "-rhcos", "public-gateway " + infraID + "-pgateway-us-east-1",
		"subnet " + infraID + "-subnet-control-plane-us-east-1", "subnet " + infraID + "-subnet-compute-us-east-1", "security-group " + infraID + "-sg-control-plane",
		"load-balancer " + infraID + "-kubernetes-api-private", "load-balancer " + infraID + "-kubernetes-api-public", "instance " + infraID + "-master-2",
		"instance " + infraID + "-image-registry", "dns-record api.made.labs.example.com", "dns-record api-int.made.labs.example.com", "dns-record *.apps.made.labs.example.com",
	} {
		require.Contains(t, names, want)
	}
	require.NotContains(t, names, "instance "+infraID+"-bootstrap")
	require.NotContains(t, names, "bucket "+infraID+"-bootstrap-ignition")
	all := writes(lines(), "create")
	require.Greater(t, len(all), 40)
	require.Equal(t, []string{"rc:create_resource_instance", "cos:create_bucket", "cos:put_object", "iam:create_v2_policy", "tags:create_tag", "vpc:create_vpc"}, all[:6])
	w.Must(t, dir, "wait-for install-complete")

	w.Must(t, dir, "destroy cluster", "--log-level=debug")
	require.Empty(t, standing(w, t, infraID))
	require.NoFileExists(t, filepath.Join(dir, "metadata.json"))
	require.Equal(t, 1, kinds(w.Left(t, "cco-made"))["resource-group"], "the destroyer keeps a group that it did not make")
	require.Equal(t, 5, kinds(w.Left(t, "cco-made"))["serviceid"], "nor does it look at service IDs")
}

func TestOnIBMCloudTheInstallersOwnGroupGoesLast(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	dir := ibmInstall(t, w, "owngroup", "", nil)
	w.Must(t, dir, "create cluster")
	infraID, _ := ibmMetadata(t, dir)
	metadata, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	require.Equal(t, 1, kinds(w.Left(t, infraID))["resource-group"])
	w.Must(t, dir, "destroy cluster")
	require.Zero(t, kinds(w.Left(t, infraID))["resource-group"])

	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), metadata, 0o600))
	out := w.Run(t, dir, "destroy cluster")
	require.Equal(t, 1, out.Code, "without the group it fails before it does anything")
	require.Contains(t, out.Stderr, "ResourceGroup '"+`"`+infraID+`"`+"' not found")
}

func TestOnIBMCloudAKilledInstallIsDestroyed(t *testing.T) {
	for _, n := range []int{2, 6, 13, 21, 28, 34} {
		w := installertest.StartIBMCloud(t)
		ofGroup(t, w, "cco-cut")
		dir := ibmInstall(t, w, "cut", "cco-cut", installer.Faults{"create": {AfterWrites: n, Kill: true, Times: 1}})
		require.Equal(t, -1, w.Run(t, dir, "create cluster").Code)
		infraID, _ := ibmMetadata(t, dir)
		require.NotEmpty(t, standing(w, t, infraID), n)
		w.Must(t, dir, "destroy cluster", "--log-level=debug")
		require.Empty(t, standing(w, t, infraID), n)
	}
}

// leftOnIBM are what a class leaves after a destroy that exited 0.
var leftOnIBM = map[string][]string{
	installer.LeakMetadata: {"dns-record"}, installer.LeakBucket: nil, installer.LeakBalancer: nil, installer.LeakVolume: {"volume"}, installer.LeakSnapshot: {"snapshot"},
	installer.LeakDNS: {"dns-record"}, installer.LeakNetwork: {"permitted-network"}, installer.LeakAddress: {"floating-ip"}, installer.LeakKey: {"key"}, installer.LeakGhost: {"image"},
	installer.LeakReclamation: {"reclamation", "instance", "bucket", "object"}, installer.LeakAuthorization: {"policy"}, installer.LeakPage: {"dns-record"}, installer.LeakImage: {"image"},
}

func TestOnIBMCloudEachClassOfLeaksIsLeft(t *testing.T) {
	for _, leak := range installer.LeaksOn("ibmcloud") {
		if leak.Class == installer.LeakIdentity || leak.Class == installer.LeakForeignBalancer {
			continue // have tests of their own
		}
		t.Run(leak.Class, func(t *testing.T) {
			want, known := leftOnIBM[leak.Class]
			require.True(t, known, "a class nobody tests")
			w := installertest.StartIBMCloud(t)
			group := "cco-leak"
			ofGroup(t, w, group)
			before := len(w.IBM.Resources(""))
			dir := installertest.Dir(t, installertest.IBMConfig("leak", group, 0))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{leak.Command: {Leak: []string{leak.Class}}}))
			requests, cc := ibmCredentials(t, w, "own", group)
			if leak.Command != "ignition-configs" {
				w.Must(t, dir, "create manifests")
			} else {
				w.Must(t, dir, "create ignition-configs")
			}
			credentialsInto(t, cc, dir)
			w.Must(t, dir, "create cluster")
			w.Must(t, dir, "destroy cluster")
			require.Zero(t, w.Tool(t, "ccoctl", t.TempDir(), "ibmcloud", "delete-service-id", "--name", "own", "--credentials-requests-dir", requests).Code)
			got := map[string]int{}
			for _, r := range w.IBM.Resources("")[before:] {
				if r.Type == "policy" && strings.Contains(r.Attrs["policy"], `"Type":"access"`) || r.Type == "tag" {
					continue // what deleting a service ID leaves, and the tag of the cluster API
				}
				got[r.Type]++
				require.Contains(t, want, r.Type, "%s %s", r.Name, r.State)
			}
			if want != nil {
				require.Positive(t, got[want[0]])
			}
		})
	}
}

// credentialsInto copies ccoctl's output; an install directory without manifests gets them back for that.
func credentialsInto(t *testing.T, cc, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "manifests"), 0o750))
	bring(t, cc, dir)
}

func TestOnIBMCloudAForeignBalancerKeepsDestroyBusyForEver(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	ofGroup(t, w, "cco-ever")
	dir := ibmInstall(t, w, "ever", "cco-ever", installer.Faults{"create": {Leak: []string{installer.LeakForeignBalancer}}})
	w.Must(t, dir, "create cluster")
	cmd, ended := started(t, w, dir, "destroy", "cluster", "--log-level=debug")
	log := filepath.Join(dir, ".openshift_install.log")
	eventually(t, "it warns after many rounds", func() bool {
		raw, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(raw), `level=warning msg="Failed to delete subnet`)
	})
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	code, said := ended()
	require.Equal(t, 8, code)
	require.Contains(t, said, "subnet is in use")
	require.FileExists(t, filepath.Join(dir, "metadata.json"))
}

func TestOnIBMCloudCcoctlMakesAndDeletesServiceIDs(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	lines := trace(t)
	ofGroup(t, w, "cco-ids")
	requests, output := ibmCredentials(t, w, "cco-ids", "cco-ids")
	require.Equal(t, map[string]int{"serviceid": 5, "resource-group": 1}, kindsNamed(w, "cco-ids"))
	raw, err := os.ReadFile(filepath.Join(output, "manifests", "openshift-ingress-operator-cloud-credentials-credentials.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "IBMCLOUD_AUTHTYPE=iam\n    IBMCLOUD_APIKEY=")
	require.Equal(t, []string{"iam:create_service_id", "iam:create_policy", "iam:create_policy", "iam:create_api_key"}, writes(lines(), "ccoctl-create")[:4])

	again := w.Tool(t, "ccoctl", t.TempDir(), "ibmcloud", "create-service-id", "--name", "cco-ids", "--credentials-requests-dir", requests)
	require.Equal(t, 1, again.Code)
	require.Contains(t, again.Stderr, "exists with the same name: cco-ids-openshift-cloud-controller-manager-ibm-cloud-credentials")

	remove := func() installertest.Result {
		return w.Tool(t, "ccoctl", t.TempDir(), "ibmcloud", "delete-service-id", "--name", "cco-ids", "--credentials-requests-dir", requests)
	}
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"ccoctl-delete": {Leak: []string{installer.LeakIdentity}, Times: 1}}))
	require.Zero(t, remove().Code)
	require.Equal(t, 5, kindsNamed(w, "cco-ids")["serviceid"])
	require.Zero(t, remove().Code)
	require.Zero(t, kindsNamed(w, "cco-ids")["serviceid"])
	require.Zero(t, remove().Code, "none is no error")
}

func TestOnIBMCloudAnErrorOfCcoctlIsUndoneAndAKillIsNot(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	requests := t.TempDir()
	pull := filepath.Join(requests, "..", "pull.json")
	require.NoError(t, os.WriteFile(pull, []byte(installertest.PullSecret), 0o600))
	require.Zero(t, w.Tool(t, "oc", t.TempDir(), "adm", "release", "extract", "--credentials-requests", "--cloud=ibmcloud", "-a", pull, "--to", requests, "quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64").Code)
	create := func() installertest.Result {
		return w.Tool(t, "ccoctl", t.TempDir(), "ibmcloud", "create-service-id", "--name", "cco-undo", "--credentials-requests-dir", requests, "--output-dir", t.TempDir())
	}
	w.IBM.Refuse("iam:create_api_key", 1, ibmcloud.Denied)
	require.Equal(t, 1, create().Code)
	require.Empty(t, kindsNamed(w, "cco-undo"))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"ccoctl-create/cco": {AfterWrites: 5, Kill: true, Times: 1}}))
	require.Equal(t, -1, create().Code)
	require.Equal(t, map[string]int{"serviceid": 2}, kindsNamed(w, "cco-undo"))
}

// kindsNamed are the kinds of resources whose own name begins so.
func kindsNamed(w *installertest.World, name string) map[string]int {
	out := map[string]int{}
	for _, r := range w.IBM.All() {
		if strings.HasPrefix(r.Name, name) && r.Alive() {
			out[r.Type]++
		}
	}
	return out
}

func TestOnIBMCloudWhatIsWrongIsSaidBeforeAnythingIsMade(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	config := installertest.IBMConfig("wrong", "", 0)
	for name, c := range map[string]struct {
		from, to, want string
		code           int
	}{
		"another mode":  {"credentialsMode: Manual", "credentialsMode: Mint", `credentialsMode: Unsupported value: "Mint"`, 3},
		"no group":      {"    region: us-east\n", "    region: us-east\n    resourceGroupName: nowhere\n", `resourceGroupName: Not found: "nowhere"`, 3},
		"a size":        {"type: bx2-4x16, zones: [us-east-1]}}\ncompute", "type: zz2-4x16, zones: [us-east-1]}}\ncompute", `type: Not found: "zz2-4x16"`, 3},
		"another zone":  {"zones: [us-east-1]", "zones: [eu-de-1]", "zone not in configured region (us-east)", 3},
		"a zone":        {"zones: [us-east-1]", "zones: [us-east-7]", `zones: Invalid value: "us-east-7"`, 3},
		"a base domain": {"labs.example.com", "nowhere.example.com", "baseDomain: Invalid value: ", 3},
	} {
		t.Run(name, func(t *testing.T) {
			out := w.Run(t, installertest.Dir(t, strings.Replace(config, c.from, c.to, 1)), "create manifests")
			require.Equal(t, c.code, out.Code, out.Stderr)
			require.Contains(t, out.Stderr, c.want)
		})
	}
	t.Setenv("IC_API_KEY", "unknown")
	out := w.Run(t, installertest.Dir(t, config), "create manifests")
	require.Equal(t, 3, out.Code)
	require.Contains(t, out.Stderr, "Provided API key could not be found.")
	t.Setenv("IC_API_KEY", "")
	out = w.Run(t, installertest.Dir(t, config), "create manifests")
	require.Equal(t, 1, out.Code, "it asks, and reads the end of input")
	require.Contains(t, out.Stdout, "? IBM Cloud API Key")
	require.Empty(t, w.Left(t, "wrong"))
}

func TestOnIBMCloudFailuresSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		trouble func(*ibmcloud.Server)
		code    int
		said    []string
	}{
		"quota":         {func(s *ibmcloud.Server) { require.NoError(t, s.SetLimit("vpcs", 0)) }, 4, []string{"will put the user over quota. Allocated: 0, Requested: 1, Quota: 0", "infrastructure was not ready within"}},
		"machines":      {func(s *ibmcloud.Server) { require.NoError(t, s.SetLimit("vcpu", 8)) }, 4, []string{"over quota", "failed to provision control-plane machines"}},
		"pre-provision": {func(s *ibmcloud.Server) { s.Refuse("cos:create_bucket", -1, ibmcloud.Denied) }, 4, []string{"failed during pre-provisioning: Access Denied"}},
		"throttled":     {func(s *ibmcloud.Server) { s.Throttle("vpc:create_vpc", 3, 0) }, 0, []string{"Install complete!"}},
		"a region":      {func(s *ibmcloud.Server) { s.Refuse("vpc:list_vpcs", -1, ibmcloud.Broken) }, 1, []string{"error destroying bootstrap resources failed listing VPCs in region"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := installertest.StartIBMCloud(t)
			ofGroup(t, w, "cco-why")
			dir := ibmInstall(t, w, "why", "cco-why", nil)
			c.trouble(w.IBM)
			out := w.Run(t, dir, "create cluster", "--log-level=debug")
			require.Equal(t, c.code, out.Code, out.Stderr)
			inOrder(t, out.Stderr, c.said...)
			w.IBM.Lift("vpc:list_vpcs")
			infraID, _ := ibmMetadata(t, dir)
			w.Must(t, dir, "destroy cluster")
			require.Empty(t, standing(w, t, infraID))
		})
	}
}

func TestOnIBMCloudAnUsedNameIsRefused(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	zone := ""
	for _, r := range w.IBM.All() {
		if r.Type == "zone" && r.Name == "labs.example.com" {
			zone = r.ID
		}
	}
	_, err := w.IBM.Plant(ibmcloud.Resource{Service: "internet-svcs", Type: "dns-record", Name: "api.used.labs.example.com", Parent: zone, Attrs: map[string]string{"type": "CNAME", "content": "x.example.com"}})
	require.NoError(t, err)
	out := w.Run(t, installertest.Dir(t, installertest.IBMConfig("used", "", 0)), "create cluster")
	require.Equal(t, 1, out.Code)
	require.Contains(t, out.Stderr, "record api.used.labs.example.com already exists in CIS zone")
}

func TestOnIBMCloudAPrivateClusterIsInDNSServices(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	ofGroup(t, w, "cco-private")
	config := strings.NewReplacer("publish: External", "publish: Internal", "labs.example.com", "internal.example.com").Replace(installertest.IBMConfig("private", "cco-private", 0))
	dir := installertest.Dir(t, config)
	_, cc := ibmCredentials(t, w, "own", "cco-private")
	w.Must(t, dir, "create manifests")
	bring(t, cc, dir)
	w.Must(t, dir, "create cluster")
	_, m := ibmMetadata(t, dir)
	require.NotEmpty(t, m["dnsInstanceID"])
	require.NotContains(t, m, "cisInstanceCRN")
	w.Must(t, dir, "destroy cluster")
	left := map[string]int{}
	for _, r := range w.IBM.All() {
		if r.Alive() && (r.Type == "permitted-network" || r.Type == "dns-record" || r.Type == "vpc") {
			left[r.Type]++
		}
	}
	require.Equal(t, map[string]int{"permitted-network": 1}, left, "which the destroyer never touches")
}

func TestOnIBMCloudAStepCanFail(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	for _, step := range []string{"storage", "authorization", "subnets", "bootstrap-address"} {
		require.Contains(t, installer.StepsOn("ibmcloud"), step)
		group := "cco-" + step
		ofGroup(t, w, group)
		dir := ibmInstall(t, w, "at-"+step, group, installer.Faults{"create": {FailAt: step, Message: "told to fail at " + step, Times: 1}})
		out := w.Run(t, dir, "create cluster")
		require.NotZero(t, out.Code, step)
		require.Contains(t, out.Stderr, "told to fail at "+step)
		infraID, _ := ibmMetadata(t, dir)
		w.Must(t, dir, "destroy cluster")
		require.Empty(t, standing(w, t, infraID), step)
	}
}
