package oc

import (
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
)

// object is a JSON object in the cluster's API.
type object = map[string]any

// machineSet returns the worker set of a zone. Zero counts are omitted, as in the real one.
func machineSet(l *resources.Living, zone string) object {
	status := object{"observedGeneration": 1, "replicas": len(l.Workers(zone))}
	ready := 0
	for _, m := range l.Workers(zone) {
		if m.Joined() {
			ready++
		}
	}
	if ready > 0 {
		status["readyReplicas"], status["availableReplicas"] = ready, ready
	}
	return object{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
		"metadata": object{"name": setName(l, zone), "namespace": namespace, "labels": object{"machine.openshift.io/cluster-api-cluster": l.InfraID}},
		"spec": object{
			"replicas": l.Replicas(zone),
			"template": object{
				"metadata": object{"labels": object{
					"machine.openshift.io/cluster-api-cluster": l.InfraID, "machine.openshift.io/cluster-api-machine-role": "worker",
					"machine.openshift.io/cluster-api-machine-type": "worker", "machine.openshift.io/cluster-api-machineset": setName(l, zone),
				}},
				"spec": object{"providerSpec": object{"value": object{"instanceType": l.WorkerType, "placement": object{"availabilityZone": zone, "region": l.Region}}}},
			},
		},
		"status": status,
	}
}

func setName(l *resources.Living, zone string) string { return l.On.SetName(l, zone) }

// machines returns all machines, with a failed one for every zone whose last one could not be created.
func machines(l *resources.Living) (all []any) {
	for _, m := range l.Machines {
		phase := "Running"
		if !m.Running {
			phase = "Provisioned"
		}
		addresses := []object{{"type": "InternalIP", "address": m.IP}, {"type": "InternalDNS", "address": m.Name}, {"type": "Hostname", "address": m.Name}}
		for _, domain := range l.Domains {
			addresses = append(addresses, object{"type": "InternalDNS", "address": m.Name + "." + domain})
		}
		all = append(all, object{"kind": "Machine", "metadata": object{"name": m.Name, "namespace": namespace}, "status": object{
			"phase": phase, "nodeRef": object{"kind": "Node", "name": m.Name}, "addresses": addresses,
		}})
	}
	for _, zone := range l.Zones {
		if text := l.Complaint(zone); text != "" {
			all = append(all, object{
				"kind": "Machine", "metadata": object{"name": setName(l, zone) + "-fails", "namespace": namespace},
				"status": object{"phase": "Failed", "errorReason": "InvalidConfiguration", "errorMessage": "error launching instance: " + text},
			})
		}
	}
	return all
}

// egressAddresses returns an object for each address for outgoing traffic that a node has.
func egressAddresses(l *resources.Living) (all []any) {
	for _, m := range l.Machines {
		if m.Egress != "" {
			all = append(all, object{
				"apiVersion": "k8s.ovn.org/v1", "kind": "EgressIP", "metadata": object{"name": "egress-" + m.Name}, "spec": object{"egressIPs": []string{m.Egress}},
				"status": object{"items": []object{{"node": m.Name, "egressIP": m.Egress}}},
			})
		}
	}
	return all
}

// node returns a machine's node.
func node(l *resources.Living, m resources.Machine) object {
	labels, spec := object{"kubernetes.io/os": "linux"}, object{"providerID": l.On.ProviderID(l, m)}
	if m.Master {
		labels["node-role.kubernetes.io/master"], labels["node-role.kubernetes.io/control-plane"] = "", ""
		if l.Schedulable() {
			labels["node-role.kubernetes.io/worker"] = ""
		} else {
			spec["taints"] = []object{{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}}
		}
	} else {
		labels["node-role.kubernetes.io/worker"] = ""
	}
	condition := object{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}
	if !m.Joined() {
		condition = object{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "container runtime network not ready: no CNI configuration file"}
	}
	condition["lastHeartbeatTime"] = time.Now().UTC().Format(time.RFC3339Nano)
	return object{"kind": "Node", "metadata": object{"name": m.Name, "labels": labels}, "spec": spec, "status": object{"conditions": []object{condition}}}
}
