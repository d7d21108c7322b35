package runner_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const writesMachineSets = `mkdir -p "$dir/openshift"
for zone in 0 1; do cat >"$dir/openshift/99_openshift-cluster-api_worker-machineset-$zone.yaml" <<'EOF'
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata: {name: shop-abcde-worker-us-east-1a}
spec:
  replicas: 2
  template:
    spec:
      providerSpec:
        value:
          instanceType: m6i.large # as the profile says
status: {replicas: 0}
EOF
done
`

// seesMachineSets keeps what the installer makes ignition configs of.
const seesMachineSets = `cp "$dir"/openshift/*.yaml "$D"`

// machineSetOf returns a machine set as the installer read it.
func machineSetOf(t *testing.T, w *world, zone string) string {
	return readFile(t, filepath.Join(w.dir, "99_openshift-cluster-api_worker-machineset-"+zone+".yaml"))
}

func TestWorkersAreOrderedAsSpotMachinesBeforeTheInstallerReadsThem(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.Spot = true
	var plan cloud.Plan
	w.quotas = func(p cloud.Plan) ([]contract.Quota, error) { plan = p; return nil, nil }
	w.on("manifests", writesMachineSets)
	w.on("ignition", seesMachineSets)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	for _, zone := range []string{"0", "1"} {
		require.YAMLEq(t, `{apiVersion: machine.openshift.io/v1beta1, kind: MachineSet, metadata: {name: shop-abcde-worker-us-east-1a}, status: {replicas: 0},
			spec: {replicas: 2, template: {spec: {providerSpec: {value: {instanceType: m6i.large, spotMarketOptions: {}}}}}}}`, machineSetOf(t, w, zone))
		require.Contains(t, machineSetOf(t, w, zone), "# as the profile says")
	}
	require.Equal(t, []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}}, plan.Machines, "this one has no workers")
}

func TestWithoutTheOrderTheMachineSetsStayAsTheyWere(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("manifests", writesMachineSets)
	w.on("ignition", seesMachineSets)
	require.NoError(t, w.run(t.Context()))
	require.NotContains(t, machineSetOf(t, w, "0"), "spot")
}

func TestMachineSetsThatCannotBeReadEndATryBeforeAnythingIsInstalled(t *testing.T) {
	for script, want := range map[string]string{
		`:`: "the installer wrote no machine set of workers, so nothing was installed",
		`mkdir -p "$dir/openshift"; echo "kind: MachineSet" >"$dir/openshift/99_openshift-cluster-api_worker-machineset-0.yaml"`: "worker-machineset-0.yaml: it has no spec.template.spec.providerSpec.value",
		`mkdir -p "$dir/openshift"; echo "kind: Secret" >"$dir/openshift/99_openshift-cluster-api_worker-machineset-0.yaml"`:     "worker-machineset-0.yaml: it is not a MachineSet",
	} {
		w := newWorld(t, contract.KindCreate)
		w.spec.Spot = true
		w.on("manifests", script)
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "MachineSetsUnusable", w.result().Reason)
		require.False(t, w.result().Retryable)
		require.Contains(t, w.result().Message, want)
		require.False(t, w.did("installer: create cluster"))
	}
}

// The installer only says that no worker joined; the cluster's own machines say why.
func TestWorkersThatDidNotComeAreExplainedByTheCluster(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.Spot, w.spec.Zones = true, []string{"us-east-1a", "us-east-1b"}
	w.on("manifests", writesMachineSets)
	late := `echo "level=error msg=Cluster operator machine-api Degraded is True with SyncingFailed: minimum worker replica count (2) not yet met: current running replicas 0, waiting for [shop-abcde-worker-us-east-1b]" >&2; exit 6`
	w.on("create", late)
	w.on("wait-for", late)
	w.on("oc", `case "$asked" in *"get machines."*) echo '{"items":[{"metadata":{"name":"shop-abcde-worker-us-east-1b-x7k2p"},"status":{"phase":"Failed","errorReason":"InsufficientResources","errorMessage":"error launching instance: There is no Spot capacity available that matches your request."}}]}'; exit 0;; esac`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "AWSSpotUnavailable", w.result().Reason, w.logText())
	require.Equal(t, contract.WhoseCloud, w.result().Whose)
	require.Equal(t, "us-east-1b", w.result().Zone)
	require.True(t, w.result().Retryable)
}
