package script

import "fmt"

// emptyManifests are those that nothing reads.
func (a *assets) emptyManifests(object objectWriter) map[string]string {
	const machineConfig, guests = "openshift-machine-config-operator", "openshift-cluster-api-guests"
	files := map[string]string{
		"manifests/kube-cloud-config.yaml":                  object("v1", "ConfigMap", "openshift-config-managed", "kube-cloud-config", ""),
		"manifests/machine-config-server-ca-configmap.yaml": object("v1", "ConfigMap", machineConfig, "machine-config-server-ca", ""),
		"manifests/machine-config-server-ca-secret.yaml":    object("v1", "Secret", machineConfig, "machine-config-server-ca", ""),
		"manifests/machine-config-server-tls-secret.yaml":   object("v1", "Secret", machineConfig, "machine-config-server-tls", ""),
		"openshift/99_feature-gate.yaml":                    object("config.openshift.io/v1", "FeatureGate", "", "cluster", ""),
		"openshift/99_role-cloud-creds-secret-reader.yaml":  object("rbac.authorization.k8s.io/v1", "Role", "kube-system", a.config.on().name()+"-creds-secret-reader", ""),
		"cluster-api/01_capi-cluster-0.yaml":                object("cluster.x-k8s.io/v1beta1", "Cluster", guests, a.infraID, ""),
	}
	for _, kind := range []string{"master", "worker"} {
		files["openshift/99_openshift-cluster-api_"+kind+"-user-data-secret.yaml"] = object("v1", "Secret", "openshift-machine-api", kind+"-user-data", "")
		files["openshift/99_openshift-machineconfig_99-"+kind+"-ssh.yaml"] = object("machineconfiguration.openshift.io/v1", "MachineConfig", "", "99-"+kind+"-ssh", "")
	}
	for i := range max(len(a.config.zones()), 1) {
		files[fmt.Sprintf("openshift/99_openshift-cluster-api_worker-machineset-%d.yaml", i)] =
			object("machine.openshift.io/v1beta1", "MachineSet", "openshift-machine-api", fmt.Sprintf("%s-worker-%d", a.infraID, i),
				"spec:\n  template:\n    spec:\n      providerSpec:\n        value:\n          apiVersion: machine.openshift.io/v1beta1\n")
	}
	machines := []string{a.infraID + "-bootstrap"}
	for i := range a.config.replicas() {
		machines = append(machines, fmt.Sprintf("%s-master-%d", a.infraID, i))
	}
	for _, name := range machines {
		files["cluster-api/machines/10_machine_"+name+".yaml"] = object("cluster.x-k8s.io/v1beta1", "Machine", guests, name, "")
	}
	return files
}
