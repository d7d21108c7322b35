package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/devstack/installer/act"
	"github.com/ocpctl/ocpctl/internal/devstack/installer/resources"
)

// install is one running `create cluster`.
type install struct {
	*run
	*assets
	cloud *resources.Cloud
	build *resources.Build
	capi  bool // the local control plane runs
}

// createCluster is `create cluster`: infrastructure, bootstrap, initialisation.
func (r *run) createCluster(ctx context.Context) error {
	if r.exists(".clusterapi_output", "envtest.kubeconfig") {
		return fail(exitGeneric, "failed to fetch Cluster: failed to generate asset \"Cluster\": local infrastructure provisioning artifacts already exist. There may already be a running cluster")
	}
	a, cloud, err := r.open(ctx)
	if err != nil {
		return err
	}
	i := &install{run: r, assets: a, cloud: cloud}
	if i.build, err = i.newBuild(ctx); err != nil {
		return err
	}
	if err := i.prepare(ctx); err != nil {
		return i.ended(ctx, err)
	}
	for _, phase := range []func(context.Context) error{i.infrastructure, i.bootstrapping, i.initialising} {
		if err := phase(ctx); err != nil {
			return i.ended(ctx, err)
		}
	}
	return nil
}

// newBuild fills in what the install-config omits: without zones these are all zones of the region.
func (i *install) newBuild(ctx context.Context) (*resources.Build, error) {
	zones := i.config.zones()
	if len(zones) == 0 {
		var err error
		if zones, err = i.cloud.AvailableZones(ctx); err != nil {
			return nil, fail(exitGeneric, "failed to fetch Master Machines: %s", err)
		}
	}
	workerType := i.config.machineType(nil)
	if len(i.config.Compute) > 0 {
		workerType = i.config.machineType(&i.config.Compute[0])
	}
	return i.cloud.NewBuild(resources.Spec{
		InfraID: i.infraID, ClusterUUID: i.clusterUUID, Name: i.config.Metadata.Name, BaseDomain: strings.TrimSuffix(i.config.BaseDomain, "."),
		Zones: zones, Masters: i.config.replicas(), Workers: i.config.workers(),
		MasterType: i.config.machineType(i.config.ControlPlane), WorkerType: workerType,
		UserTags: i.config.Platform.AWS.UserTags, Mint: i.config.CredentialsMode == "" || i.config.CredentialsMode == "Mint",
		ClassicIngress: i.config.Platform.AWS.LBType != "NLB", KeepBootstrapBucket: i.Leaks(installer.LeakBucket),
	}), nil
}

// prepare checks quota and name, and writes metadata.json and the rest before the first write to the cloud.
func (i *install) prepare(ctx context.Context) error {
	if err := i.consumeManifests(i.assets); err != nil {
		return err
	}
	zone, err := i.cloud.PublicZone(ctx, i.build.BaseDomain)
	if err != nil {
		return err
	}
	taken, err := i.cloud.RecordsUnder(ctx, zone, i.build.Domain())
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return fail(exitGeneric, `failed to fetch Cluster: failed to fetch dependency of "Cluster": failed to generate asset "Platform Provisioning Check": metadata.name: Invalid value: %q: the zone already has record sets for the domain of the cluster: [%s]`,
			i.config.Metadata.Name, strings.Join(taken, ", "))
	}
	if err := i.Mark(ctx, "quota", 0.5); err != nil {
		return err
	}
	if err := i.writeAuth(i.assets); err != nil {
		return err
	}
	if err := i.write(i.ca.CertRaw, "tls", "journal-gatewayd.crt"); err != nil {
		return err
	}
	if err := i.write(i.ca.KeyRaw, "tls", "journal-gatewayd.key"); err != nil {
		return err
	}
	for _, name := range []string{"bootstrap", "master", "worker"} {
		if i.exists(name + ".ign") {
			i.info("Consuming %s Ignition Config from target directory", strings.ToUpper(name[:1])+name[1:])
		}
	}
	return i.tfvars()
}

// tfvars writes the variables' files, which the real installer still does even with the cluster API.
func (i *install) tfvars() error {
	vars, err := json.MarshalIndent(map[string]any{
		"cluster_id": i.infraID, "cluster_domain": i.config.domain(), "base_domain": i.config.BaseDomain, "master_count": i.config.replicas(),
		"ignition_bootstrap": string(i.ignition("bootstrap")), "ignition_master": string(i.ignition("master")),
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := i.write(vars, "terraform.tfvars.json"); err != nil {
		return err
	}
	vars, err = json.MarshalIndent(map[string]any{"aws_region": i.cloud.Region, "aws_master_availability_zones": i.build.Zones, "custom_tags": i.build.UserTags}, "", "  ")
	if err != nil {
		return err
	}
	return i.write(vars, "terraform.platform.auto.tfvars.json")
}

// ended leaves the directory as the real installer does after a failure, and formats a cloud error like it.
func (i *install) ended(ctx context.Context, err error) error {
	if i.capi {
		i.stopCAPI()
	}
	if ctx.Err() != nil || errors.Is(err, act.ErrInterrupted) {
		return act.ErrInterrupted
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{Code: exitInfrastructure, Message: worded(exitInfrastructure, err.Error())}
	}
	if f.Code == exitBootstrap || f.Code == exitInfrastructure && strings.Contains(f.Message, "failed to provision control-plane machines") {
		if err := i.gather(); err != nil {
			i.warn("Attempted to gather debug logs after installation failure: %s", err)
		}
	}
	return f
}

// startCAPI leaves the files of the local control plane. Its kubeconfig permanently marks the directory as used.
func (i *install) startCAPI() error {
	i.capi = true
	for name, content := range map[string]string{
		"envtest.kubeconfig": "apiVersion: v1\nkind: Config\nclusters:\n- name: envtest\n  cluster:\n    server: https://127.0.0.1:33443/\n",
		"etcd.log":           "", "kube-apiserver.log": "", "etcd/member/snap/db": "",
		"Secret-openshift-cluster-api-guests-" + i.infraID + "-bootstrap.yaml":  "apiVersion: v1\nkind: Secret\nstringData:\n  value: '" + string(i.ignition("bootstrap")) + "'\n",
		"AWSCluster-openshift-cluster-api-guests-" + i.infraID + ".yaml":        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSCluster\n",
		"Machine-openshift-cluster-api-guests-" + i.infraID + "-bootstrap.yaml": "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\n",
	} {
		if err := i.write([]byte(content), append([]string{".clusterapi_output"}, strings.Split(name, "/")...)...); err != nil {
			return err
		}
	}
	// The real installer puts the whole bootstrap ignition into the temporary folder, and leaves it there when it fails.
	temporary, err := os.CreateTemp("", "openshift-install-bootstrap-*.ign")
	if err != nil {
		return err
	}
	defer temporary.Close()
	if _, err := temporary.Write(i.ignition("bootstrap")); err != nil {
		return err
	}
	i.info("Started local control plane with envtest")
	i.info("Stored kubeconfig for envtest in: %s", i.path(".clusterapi_output", "envtest.kubeconfig"))
	i.info("Running process: Cluster API with args [-v=2 --diagnostics-address=0]")
	i.info("Running process: aws infrastructure provider with args [-v=4 --diagnostics-address=0]")
	return nil
}

func (i *install) stopCAPI() {
	i.capi = false
	i.info("Shutting down local Cluster API controllers...")
	i.info("Stopped controller: Cluster API")
	i.info("Stopped controller: aws infrastructure provider")
	i.info("Shutting down local Cluster API control plane...")
	if err := os.RemoveAll(i.path(".clusterapi_output", "etcd")); err != nil {
		i.warn("failed to clean etcd: %s", err)
	}
	i.info("Local Cluster API system has completed operations")
}

// until formats the deadline of a waiting line.
func until(d time.Duration) string {
	return fmt.Sprintf("%s (until %s)", d, time.Now().UTC().Add(d).Format("3:04PM MST"))
}
