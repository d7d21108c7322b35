package hub

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The operator of HyperShift, as it is played here: it makes a control plane's namespace with a volume, a load balancer and virtual machines, and tells
// of it in conditions, step by step, each one Delay after the other. Secrets come later than the status that names them.

const (
	operatorNamespace = "hypershift"
	operatorFinalizer = "hypershift.openshift.io/finalizer"
	controlPlaneLabel = "hypershift.openshift.io/hosted-control-plane"
	hostedGroup       = "hypershift.openshift.io"
	machineGroup      = "kubevirt.io"
	machineFinalizer  = "kubevirt.io/virtualMachineControllerFinalize"
	mostMachines      = 20 // of a node pool
)

// AppsDomain is where the hub publishes apps, those of hosted clusters too.
const AppsDomain = "apps.hub.example.com"

// The faults that Break knows besides the names of a hosted cluster's conditions.
const (
	FaultNodes  = "nodes"  // no node pool becomes ready
	FaultSecret = "secret" // the secret with the kubeconfig is never written
)

// hostedCluster is a HostedCluster with the fields that are used here. Its status is the operator's alone.
type hostedCluster struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Release    image  `json:"release"`
		InfraID    string `json:"infraID"`
		PullSecret named  `json:"pullSecret"`
		SSHKey     named  `json:"sshKey"`
		DNS        struct {
			BaseDomain string `json:"baseDomain"`
		} `json:"dns"`
		ControllerPolicy     string `json:"controllerAvailabilityPolicy"`
		InfrastructurePolicy string `json:"infrastructureAvailabilityPolicy"`
		Platform             struct {
			Type     string `json:"type"`
			Kubevirt struct {
				Passthrough bool `json:"baseDomainPassthrough"`
			} `json:"kubevirt"`
		} `json:"platform"`
		Etcd struct {
			ManagementType string `json:"managementType"`
			Managed        struct {
				Storage struct {
					Type             string `json:"type"`
					PersistentVolume volume `json:"persistentVolume"`
				} `json:"storage"`
			} `json:"managed"`
		} `json:"etcd"`
		SecretEncryption struct {
			Type   string `json:"type"`
			AESCBC struct {
				ActiveKey named `json:"activeKey"`
			} `json:"aescbc"`
		} `json:"secretEncryption"`
		Networking struct {
			NetworkType    string    `json:"networkType"`
			ClusterNetwork []network `json:"clusterNetwork"`
			ServiceNetwork []network `json:"serviceNetwork"`
		} `json:"networking"`
		Services []struct {
			Service  string `json:"service"`
			Strategy struct {
				Type string `json:"type"`
			} `json:"servicePublishingStrategy"`
		} `json:"services"`
	} `json:"spec"`
}

type image struct {
	Image string `json:"image"`
}

type named struct {
	Name string `json:"name"`
}

type volume struct {
	Size         string `json:"size"`
	StorageClass string `json:"storageClass"`
}

type network struct {
	CIDR string `json:"cidr"`
}

// nodePool is a NodePool with the fields that are used here.
type nodePool struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		ClusterName string `json:"clusterName"`
		Replicas    int    `json:"replicas"`
		Arch        string `json:"arch"`
		Release     image  `json:"release"`
		Management  struct {
			AutoRepair  bool   `json:"autoRepair"`
			UpgradeType string `json:"upgradeType"`
		} `json:"management"`
		DrainTimeout  meta.Duration `json:"nodeDrainTimeout"`
		DetachTimeout meta.Duration `json:"nodeVolumeDetachTimeout"`
		Platform      struct {
			Type     string `json:"type"`
			Kubevirt struct {
				Compute struct {
					Cores  int    `json:"cores"`
					Memory string `json:"memory"`
				} `json:"compute"`
				RootVolume struct {
					Type       string `json:"type"`
					Persistent volume `json:"persistent"`
				} `json:"rootVolume"`
			} `json:"kubevirt"`
		} `json:"platform"`
	} `json:"spec"`
}

// virtualMachine is one that the operator made: nobody else makes any here.
type virtualMachine struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
}

func controlPlane(hosted place) string { return hosted.namespace + "-" + hosted.name }

// installOperator makes what the operator has in the hub itself.
func (h *Hub) installOperator() {
	path := namespaces + "/" + operatorNamespace
	_, _ = h.create(path, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": operatorNamespace}})
	_, _ = h.create(path+"/configmaps/supported-versions", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "supported-versions", "namespace": operatorNamespace},
		"data": object{"supported-versions": `{"versions":["4.21","4.20","4.19","4.18"]}`}})
}

// Break has the operator say of every hosted cluster that a condition is False, or has another fault; without a message it works again.
func (h *Hub) Break(what, message string) {
	h.change(func() {
		if h.faults == nil {
			h.faults = map[string]string{}
		}
		if h.faults[what] = message; message == "" {
			delete(h.faults, what)
		}
	})
}

// operateCluster does for a hosted cluster what the operator would have done by now.
func (h *Hub) operateCluster(path string, one *stored, now time.Time) {
	where := parse(path)
	if text(one.Object, "metadata", "deletionTimestamp") != "" {
		h.endHosted(path, one, where, now)
		return
	}
	steps := []func(){
		func() { h.acceptCluster(one, where) },
		func() { h.prepareControlPlane(one, where) },
		func() { h.startControlPlane(path, one) },
		func() { h.startNodes(where) },
		func() { h.writeSecrets(path, one, where) },
		func() {
			set(one.Object, []any{object{"state": "Completed"}}, "status", "version", "history")
			h.setCondition(one.Object, "Degraded", "False")
		},
	}
	made, _ := time.Parse(time.RFC3339Nano, text(one.Object, "metadata", "creationTimestamp"))
	for i, step := range steps {
		if now.Sub(made) < time.Duration(i+1)*h.cfg.Delay {
			return
		}
		step()
		for _, condition := range []string{"ValidReleaseImage", "InfrastructureReady", "Available"} {
			if h.faults[condition] != "" && h.statusOf(one.Object, condition) == "False" {
				return
			}
		}
	}
}

func (h *Hub) acceptCluster(one *stored, where place) {
	if !slices.Contains(texts(one.Object, "metadata", "finalizers"), operatorFinalizer) {
		set(one.Object, append(texts(one.Object, "metadata", "finalizers"), operatorFinalizer), "metadata", "finalizers")
	}
	set(one.Object, []any{object{"state": "Partial"}}, "status", "version", "history")
	for _, condition := range []string{"ValidConfiguration", "SupportedHostedCluster", "ValidReleaseImage"} {
		h.setCondition(one.Object, condition, "True")
	}
	name := controlPlane(where)
	if path := namespaces + "/" + name; h.world.Objects[path] == nil {
		_, _ = h.create(path, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name, "labels": object{controlPlaneLabel: "true"}}})
	}
}

// putInside makes an object in a namespace unless there is one.
func (h *Hub) putInside(namespace, version, kind, resource, name string, rest object) {
	path := "/apis/" + version + "/namespaces/" + namespace
	if version == "v1" {
		path = namespaces + "/" + namespace
	}
	if path += "/" + resource + "/" + name; h.world.Objects[path] == nil {
		o := object{"apiVersion": version, "kind": kind, "metadata": object{"name": name, "namespace": namespace}}
		maps.Copy(o, rest)
		_, _ = h.create(path, o)
	}
}

func (h *Hub) prepareControlPlane(one *stored, where place) {
	h.putInside(controlPlane(where), "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "data-etcd-0", object{"spec": object{}})
	h.putInside(controlPlane(where), "v1", "Service", "services", "kube-apiserver", object{"spec": object{"type": "LoadBalancer"}})
	h.setCondition(one.Object, "InfrastructureReady", "True")
}

func (h *Hub) startControlPlane(path string, one *stored) {
	h.setCondition(one.Object, "EtcdAvailable", "True")
	h.setCondition(one.Object, "KubeAPIServerAvailable", "True")
	h.setCondition(one.Object, "Available", "True")
	name := parse(path).name
	set(one.Object, name+"-admin-kubeconfig", "status", "kubeconfig", "name")
	set(one.Object, name+"-kubeadmin-password", "status", "kubeadminPassword", "name")
}

// startNodes starts the machines of a hosted cluster's node pools, or ends those that are too many.
func (h *Hub) startNodes(where place) {
	for _, path := range h.poolsOf(where) {
		pool := h.world.Objects[path].Object
		replicas, _ := at(pool, "spec", "replicas").(float64)
		for n := range mostMachines {
			name := fmt.Sprintf("%s-%d", parse(path).name, n)
			if n >= int(replicas) {
				_ = h.remove("/apis/"+machineGroup+"/v1/namespaces/"+controlPlane(where)+"/virtualmachines/"+name, "") // there may be none
				continue
			}
			h.putInside(controlPlane(where), machineGroup+"/v1", "VirtualMachine", "virtualmachines", name, object{"metadata": object{"name": name, "namespace": controlPlane(where), "finalizers": []any{machineFinalizer}}})
		}
		set(pool, []any{operatorFinalizer}, "metadata", "finalizers")
		if why := h.faults[FaultNodes]; why != "" {
			set(pool, float64(0), "status", "replicas")
			set(pool, []any{object{"type": "AllMachinesReady", "status": "False", "reason": "MachinesNotReady", "message": why}, object{"type": "Ready", "status": "False"}}, "status", "conditions")
			continue
		}
		set(pool, replicas, "status", "replicas")
		set(pool, []any{object{"type": "AllMachinesReady", "status": "True"}, object{"type": "Ready", "status": "True"}}, "status", "conditions")
	}
}

// settleMachine ends a machine that is being deleted, one Delay later: it drains first.
func (h *Hub) settleMachine(path string, one *stored, now time.Time) {
	if since, err := time.Parse(time.RFC3339Nano, text(one.Object, "metadata", "deletionTimestamp")); err == nil && now.Sub(since) >= h.cfg.Delay {
		set(one.Object, slices.DeleteFunc(texts(one.Object, "metadata", "finalizers"), func(f string) bool { return f == machineFinalizer }), "metadata", "finalizers")
	}
	h.dropFreed(path)
}

// poolsOf returns the paths of a hosted cluster's node pools.
func (h *Hub) poolsOf(where place) (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(h.world.Objects)) {
		if p := parse(path); p.resource == "nodepools" && p.namespace == where.namespace && text(h.world.Objects[path].Object, "spec", "clusterName") == where.name {
			paths = append(paths, path)
		}
	}
	return paths
}

func (h *Hub) writeSecrets(path string, one *stored, where place) {
	secret := func(name, key string, value []byte) {
		h.putInside(where.namespace, "v1", "Secret", "secrets", name, object{"data": object{key: base64.StdEncoding.EncodeToString(value)}})
	}
	name := text(one.Object, "status", "kubeconfig", "name")
	if h.faults[FaultSecret] == "" && h.world.Objects[namespaces+"/"+where.namespace+"/secrets/"+name] == nil {
		secret(name, "kubeconfig", h.addGuest(path, "lb-"+text(one.Object, "metadata", "uid")[:8]+".hub.example.com"))
	}
	secret(text(one.Object, "status", "kubeadminPassword", "name"), "password", []byte(rand.Text()))
}

// endHosted removes what the operator made, a part in each step, and its finalizer last.
func (h *Hub) endHosted(path string, one *stored, where place, now time.Time) {
	defer h.dropFreed(path)
	since, _ := time.Parse(time.RFC3339Nano, text(one.Object, "metadata", "deletionTimestamp"))
	if now.Sub(since) < h.cfg.Delay {
		return
	}
	h.dropGuest(path)
	for _, pool := range h.poolsOf(where) {
		set(h.world.Objects[pool].Object, slices.DeleteFunc(texts(h.world.Objects[pool].Object, "metadata", "finalizers"), isOperators), "metadata", "finalizers")
		_ = h.remove(pool, "")
	}
	control := namespaces + "/" + controlPlane(where)
	if now.Sub(since) < 2*h.cfg.Delay {
		return
	}
	if h.world.Objects[control] != nil {
		_ = h.remove(control, "")
		return
	}
	set(one.Object, slices.DeleteFunc(texts(one.Object, "metadata", "finalizers"), isOperators), "metadata", "finalizers")
}

func isOperators(finalizer string) bool { return finalizer == operatorFinalizer }

// statusOf is the status of a condition; empty: nothing was said of it.
func (h *Hub) statusOf(o object, kind string) string {
	all, _ := at(o, "status", "conditions").([]any)
	for _, raw := range all {
		if c, _ := raw.(object); text(c, "type") == kind {
			return text(c, "status")
		}
	}
	return ""
}

// setCondition sets a condition, unless a fault says otherwise.
func (h *Hub) setCondition(o object, kind, status string) {
	c := object{"type": kind, "status": status, "reason": "AsExpected", "lastTransitionTime": stamp(time.Now())}
	if why := h.faults[kind]; why != "" {
		c["status"], c["reason"], c["message"] = map[string]string{"True": "False", "False": "True"}[status], "Fault", why
	}
	if h.statusOf(o, kind) == text(c, "status") {
		return
	}
	all, _ := at(o, "status", "conditions").([]any)
	all = slices.DeleteFunc(all, func(raw any) bool { one, _ := raw.(object); return text(one, "type") == kind })
	set(o, append(all, any(c)), "status", "conditions")
}

// isOfControlPlane reports that a namespace, or something in it, is a control plane's.
func isOfControlPlane(path, content string) bool {
	return strings.Contains(content, controlPlaneLabel) || strings.Contains(path, "/virtualmachines/")
}
