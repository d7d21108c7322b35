package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// install is one running `create cluster`.
type install struct {
	*run
	*assets
	account
	build build
	capi  bool // the local control plane runs
}

// createCluster is `create cluster`: infrastructure, bootstrap, initialisation.
func (r *run) createCluster(ctx context.Context) error {
	if r.exists(".clusterapi_output", "envtest.kubeconfig") {
		return fail(exitGeneric, "failed to fetch Cluster: failed to generate asset \"Cluster\": local infrastructure provisioning artifacts already exist. There may already be a running cluster")
	}
	i, err := r.newInstall(ctx)
	if err != nil {
		return err
	}
	if err := i.prepare(ctx); err != nil {
		return i.ended(ctx, err)
	}
	for _, phase := range []func(context.Context) error{i.build.infrastructure, i.bootstrapping, i.initialising} {
		if err := phase(ctx); err != nil {
			return i.ended(ctx, err)
		}
	}
	return nil
}

// newInstall opens the cloud and takes up the cluster of the directory.
func (r *run) newInstall(ctx context.Context) (*install, error) {
	a, account, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	i := &install{run: r, assets: a, account: account}
	i.build, err = account.newBuild(ctx, i)
	return i, err
}

// prepare checks quota and name, and writes metadata.json and the rest before the first write to the cloud.
func (i *install) prepare(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(i.consumeManifests(i.assets))
	must.Do(i.build.check(ctx))
	must.Do(i.Mark(ctx, "quota", 0.5))
	must.Do(i.writeAuth(i.assets))
	must.Do(i.write(i.ca.CertRaw, "tls", "journal-gatewayd.crt"))
	must.Do(i.write(i.ca.KeyRaw, "tls", "journal-gatewayd.key"))
	i.ignitions = map[string][]byte{}
	for _, name := range []string{"bootstrap", "master", "worker"} {
		if raw, err := os.ReadFile(i.path(name + ".ign")); err == nil {
			i.ignitions[name] = raw
			i.info("Consuming %s Ignition Config from target directory", strings.ToUpper(name[:1])+name[1:])
		}
	}
	return i.tfvars()
}

// tfvars writes the variables' files, which the real installer still does even with the cluster API.
func (i *install) tfvars() (err error) {
	defer must.Catch(&err)
	vars := must.Get(json.MarshalIndent(map[string]any{
		"cluster_id": i.infraID, "cluster_domain": i.config.domain(), "base_domain": i.config.BaseDomain, "master_count": i.config.replicas(),
		"ignition_bootstrap": string(i.ignition("bootstrap")), "ignition_master": string(i.ignition("master")),
	}, "", "  "))
	must.Do(i.write(vars, "terraform.tfvars.json"))
	vars = must.Get(json.MarshalIndent(i.build.variables(), "", "  "))
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
func (i *install) startCAPI() (err error) {
	defer must.Catch(&err)
	i.capi = true
	on := i.config.on()
	for name, content := range map[string]string{
		"envtest.kubeconfig": "apiVersion: v1\nkind: Config\nclusters:\n- name: envtest\n  cluster:\n    server: https://127.0.0.1:33443/\n",
		"etcd.log":           "", "kube-apiserver.log": "", "etcd/member/snap/db": "",
		"Secret-openshift-cluster-api-guests-" + i.infraID + "-bootstrap.yaml":     "apiVersion: v1\nkind: Secret\nstringData:\n  value: '" + string(i.ignition("bootstrap")) + "'\n",
		on.infraCluster() + "-openshift-cluster-api-guests-" + i.infraID + ".yaml": "apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: " + on.infraCluster() + "\n",
		"Machine-openshift-cluster-api-guests-" + i.infraID + "-bootstrap.yaml":    "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\n",
	} {
		must.Do(i.write([]byte(content), append([]string{".clusterapi_output"}, strings.Split(name, "/")...)...))
	}
	// The real installer puts the whole bootstrap ignition into the temporary folder, and leaves it there when it fails.
	temporary := must.Get(os.CreateTemp("", "openshift-install-bootstrap-*.ign"))
	defer temporary.Close()
	must.Get(temporary.Write(i.ignition("bootstrap")))
	i.info("Started local control plane with envtest")
	i.info("Stored kubeconfig for envtest in: %s", i.path(".clusterapi_output", "envtest.kubeconfig"))
	i.info("Running process: Cluster API with args [-v=2 --diagnostics-address=0]")
	i.info("Running process: %s infrastructure provider with args [-v=4 --diagnostics-address=0]", on.name())
	return nil
}

func (i *install) stopCAPI() {
	i.capi = false
	i.info("Shutting down local Cluster API controllers...")
	i.info("Stopped controller: Cluster API")
	i.info("Stopped controller: %s infrastructure provider", i.config.on().name())
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

// announceMachines logs the machines that are created next and returns their names.
func (i *install) announceMachines() []string {
	machines := []string{i.infraID + "-bootstrap"}
	for n := range i.config.replicas() {
		machines = append(machines, fmt.Sprintf("%s-master-%d", i.infraID, n))
	}
	for _, m := range machines {
		i.info("Created manifest *v1beta2.%s, namespace=openshift-cluster-api-guests name=%s", i.config.on().infraMachine(), m)
	}
	return machines
}

// infraManifests starts the local control plane and logs the cluster's objects in it.
func (i *install) infraManifests() error {
	if err := i.startCAPI(); err != nil {
		return err
	}
	i.info("Creating infra manifests...")
	i.info("Created manifest *v1.Namespace, namespace= name=openshift-cluster-api-guests")
	i.info("Created manifest *v1beta2.%s, namespace=openshift-cluster-api-guests name=%s", i.config.on().infraCluster(), i.infraID)
	i.info("Done creating infra manifests")
	i.info("Creating kubeconfig entry for capi cluster %s", i.infraID)
	return nil
}
