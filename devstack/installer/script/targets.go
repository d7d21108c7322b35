package script

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// open loads the assets and makes the cloud queries that the real installer makes before it writes anything.
func (r *run) open(ctx context.Context) (_ *assets, _ account, err error) {
	defer must.Catch(&err)
	a := must.Get(r.load())
	must.Do(r.Begin(r.command, a.config.Metadata.Name))
	if r.command != "create" {
		must.Do(r.Mark(ctx, "start", 0))
	}
	account := must.Get(a.config.on().open(ctx, r, a))
	if a.config.workers() == 0 {
		r.warn("Making control-plane schedulable by setting MastersSchedulable to true for Scheduler cluster settings")
	}
	return a, account, nil
}

// createManifests is `create manifests`.
func (r *run) createManifests(ctx context.Context) (err error) {
	defer must.Catch(&err)
	a, _ := must.Get2(r.open(ctx))
	must.Do(r.writeManifests(a))
	now := time.Now().UTC()
	for _, of := range []string{"CA", "TLS"} { // of the machine config server
		r.info("Successfully populated MCS %s cert information: root-ca %s %s", of, now.Add(tenYears).Format(time.RFC3339), now.Format(time.RFC3339))
	}
	r.info("Adding clusters...")
	r.info("Manifests created in: %s, %s and %s", r.path("cluster-api"), r.path("manifests"), r.path("openshift"))
	return nil
}

// createIgnition is `create ignition-configs`. It consumes manifests/ and openshift/; cluster-api/ stays.
func (r *run) createIgnition(ctx context.Context) (err error) {
	defer must.Catch(&err)
	a, _ := must.Get2(r.open(ctx))
	must.Do(r.consumeManifests(a))
	for _, name := range []string{"bootstrap", "master", "worker"} {
		must.Do(r.write(a.ignition(name), name+".ign"))
	}
	must.Do(r.writeAuth(a))
	r.info("Ignition-Configs created in: %s and %s", r.dir, r.path("auth"))
	return nil
}

// consumeManifests consumes the manifests; it writes them first if no earlier command did.
func (r *run) consumeManifests(a *assets) (err error) {
	defer must.Catch(&err)
	if !r.exists("manifests") {
		if !r.exists("cluster-api") {
			must.Do(r.writeManifests(a))
		}
	} else {
		for _, asset := range []string{"Openshift Manifests", "Common Manifests", "Master Machines", "Worker Machines", "OpenShift Install (Manifests)"} {
			r.info("Consuming %s from target directory", asset)
		}
	}
	must.Do(r.takeCredentials(a))
	must.Do(r.takeWorkers(a))
	must.Do(os.RemoveAll(r.path("manifests")))
	return os.RemoveAll(r.path("openshift"))
}

// writeAuth stores metadata.json, the kubeconfig and the kubeadmin password.
func (r *run) writeAuth(a *assets) (err error) {
	defer must.Catch(&err)
	raw := must.Get(a.metadata())
	must.Do(r.write(raw, "metadata.json"))
	if !r.exists("auth", "kubeconfig") {
		must.Do(r.write(a.kubeconfig(), "auth", "kubeconfig"))
	}
	return r.write([]byte(a.password), "auth", "kubeadmin-password")
}

// writeManifests stores what `create manifests` writes: the real names, with content only where something reads it.
func (r *run) writeManifests(a *assets) error {
	files := a.manifests()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.write([]byte(files[name]), strings.Split(name, "/")...); err != nil {
			return err
		}
	}
	return nil
}

// manifests returns the manifests by path. The secrets among them are real ones.
func (a *assets) manifests() map[string]string {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	on := a.config.on()
	var object objectWriter = func(version, kind, namespace, name, rest string) string {
		if namespace != "" {
			namespace = "\n  namespace: " + namespace
		}
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s%s\n%s", version, kind, name, namespace, rest)
	}
	files := map[string]string{
		"manifests/cluster-config.yaml": object("v1", "ConfigMap", "kube-system", "cluster-config-v1",
			"data:\n  install-config: |\n    metadata:\n      name: "+a.config.Metadata.Name+"\n"),
		"manifests/cluster-dns-02-config.yml": object("config.openshift.io/v1", "DNS", "", "cluster",
			"spec:\n  baseDomain: "+a.config.domain()+"\n  privateZone:\n    tags:\n      Name: "+a.infraID+"-int\n"),
		"manifests/cluster-infrastructure-02-config.yml": object("config.openshift.io/v1", "Infrastructure", "", "cluster",
			"status:\n  infrastructureName: "+a.infraID+"\n  platform: "+on.infraCluster()[:3]+"\n  apiServerURL: https://api."+a.config.domain()+":6443\n"),
		"manifests/cluster-ingress-02-config.yml": object("config.openshift.io/v1", "Ingress", "", "cluster", "spec:\n  domain: apps."+a.config.domain()+"\n"),
		"manifests/cluster-network-02-config.yml": object("config.openshift.io/v1", "Network", "", "cluster", "spec:\n  networkType: OVNKubernetes\n"),
		"manifests/cluster-proxy-01-config.yaml":  object("config.openshift.io/v1", "Proxy", "", "cluster", "spec: {}\n"),
		"manifests/cluster-scheduler-02-config.yml": object("config.openshift.io/v1", "Scheduler", "", "cluster",
			fmt.Sprintf("spec:\n  mastersSchedulable: %t\n", a.config.workers() == 0)),
		"manifests/cvo-overrides.yaml":                 object("config.openshift.io/v1", "ClusterVersion", "openshift-cluster-version", "version", "spec:\n  clusterID: "+a.clusterUUID+"\n"),
		"manifests/kube-system-configmap-root-ca.yaml": object("v1", "ConfigMap", "kube-system", "root-ca", ""),
		"manifests/openshift-config-secret-pull-secret.yaml": object("v1", "Secret", "openshift-config", "pull-secret",
			"type: kubernetes.io/dockerconfigjson\ndata:\n  .dockerconfigjson: "+encode(a.config.PullSecret)+"\n"),
		"openshift/99_kubeadmin-password-secret.yaml":                           object("v1", "Secret", "kube-system", "kubeadmin", "data:\n  kubeadmin: "+encode(a.password)+"\n"),
		"openshift/openshift-install-manifests.yaml":                            object("v1", "ConfigMap", "openshift-config", "openshift-install-manifests", "data:\n  invoker: user\n"),
		"cluster-api/000_capi-namespace.yaml":                                   object("v1", "Namespace", "", "openshift-cluster-api-guests", ""),
		"cluster-api/machines/10_inframachine_" + a.infraID + "-bootstrap.yaml": object("infrastructure.cluster.x-k8s.io/v1beta2", on.infraMachine(), "openshift-cluster-api-guests", a.infraID+"-bootstrap", ""),
	}
	maps.Copy(files, on.manifests(a, object))
	maps.Copy(files, a.emptyManifests(object))
	for i := range a.config.replicas() {
		files[fmt.Sprintf("cluster-api/machines/10_inframachine_%s-master-%d.yaml", a.infraID, i)] =
			object("infrastructure.cluster.x-k8s.io/v1beta2", on.infraMachine(), "openshift-cluster-api-guests", fmt.Sprintf("%s-master-%d", a.infraID, i), "")
		files[fmt.Sprintf("openshift/99_openshift-cluster-api_master-machines-%d.yaml", i)] =
			object("machine.openshift.io/v1beta1", "Machine", "openshift-machine-api", fmt.Sprintf("%s-master-%d", a.infraID, i), "")
	}
	return files
}

// ignition returns a machine's configuration. The bootstrap one contains every secret; the others point to the API.
func (a *assets) ignition(machine string) []byte {
	if raw := a.ignitions[machine]; raw != nil {
		return raw
	}
	type file struct {
		Path     string `json:"path"`
		Contents any    `json:"contents"`
		Mode     int    `json:"mode"`
	}
	config := map[string]any{"ignition": map[string]any{"version": "3.2.0"}}
	if machine == "bootstrap" {
		var files []file
		manifests := a.manifests()
		for name, content := range manifests {
			source := "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(content))
			files = append(files, file{"/opt/openshift/" + name, map[string]string{"source": source}, 0o600})
		}
		slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.Path, b.Path) })
		config["storage"] = map[string]any{"files": files}
		config["passwd"] = map[string]any{"users": []map[string]any{{"name": "core", "sshAuthorizedKeys": []string{a.config.SSHKey}}}}
	} else {
		config["ignition"] = map[string]any{"version": "3.2.0", "config": map[string]any{"merge": []map[string]string{
			{"source": "https://api-int." + a.config.domain() + ":22623/config/" + machine},
		}}}
	}
	raw, _ := json.Marshal(config) // strings and maps of strings can always be encoded
	return raw
}

// signingKey is the file with the key from ccoctl.
const signingKey = "bound-service-account-signing-key.key"

// takeCredentials reads what ccoctl created: Secrets among the manifests and the key in tls/.
func (r *run) takeCredentials(a *assets) (err error) {
	defer must.Catch(&err)
	a.credentials = append(a.credentials, must.Get(r.readFiles("manifests/*-credentials.yaml"))...)
	key, err := os.ReadFile(r.path("tls", signingKey))
	switch {
	case err == nil:
		a.signer = key
		must.Do(os.Remove(r.path("tls", signingKey)))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if len(a.credentials) == 0 && key == nil {
		return nil
	}
	return r.save(a)
}

// takeWorkers reads the workers' machine sets, which people may have edited.
func (r *run) takeWorkers(a *assets) (err error) {
	defer must.Catch(&err)
	read := must.Get(r.readFiles("openshift/99_openshift-cluster-api_worker-machineset-*.yaml"))
	a.workers = append(a.workers, read...)
	if len(read) == 0 {
		return nil
	}
	return r.save(a)
}

// readFiles reads the files of the install directory that match a pattern.
func (r *run) readFiles(pattern string) (files []stateFile, err error) {
	defer must.Catch(&err)
	for _, name := range must.Get(filepath.Glob(r.path(pattern))) {
		raw := must.Get(os.ReadFile(name))
		files = append(files, stateFile{Filename: filepath.Join(filepath.Dir(pattern), filepath.Base(name)), Data: raw})
	}
	return files, nil
}

// ordersSpot reports that a machine set orders spot machines.
func (a *assets) ordersSpot() bool {
	return slices.ContainsFunc(a.workers, func(set stateFile) bool {
		var read struct {
			Spec struct {
				Template struct {
					Spec struct {
						ProviderSpec struct {
							Value struct {
								Spot *struct{} `yaml:"spotMarketOptions"`
							} `yaml:"value"`
						} `yaml:"providerSpec"`
					} `yaml:"spec"`
				} `yaml:"template"`
			} `yaml:"spec"`
		}
		return yaml.Unmarshal(set.Data, &read) == nil && read.Spec.Template.Spec.ProviderSpec.Value.Spot != nil
	})
}

var roleARN = regexp.MustCompile(`role_arn = (\S+)`)

// roleFor returns the role in an operator's Secret.
func (a *assets) roleFor(file string) (arn string, there bool) {
	for _, secret := range a.credentials {
		if m := roleARN.FindSubmatch(secret.Data); secret.Filename == "manifests/"+file && m != nil {
			return string(m[1]), true
		}
	}
	return "", false
}
