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

// requestCounts returns the requests of the last 24 hours as the real API server counts them (apiserver.openshift.io/v1): an entry for each hour
// of the day in UTC, with the present one twice. The stand-in counts everything as requests for one resource, on one node, and adds what
// the cluster's own parts send all the time.
func requestCounts(l *resources.Living, now time.Time) object {
	now = now.UTC()
	byHour := make([][]object, 24)
	for hour := range byHour {
		byHour[hour] = append(byHour[hour],
			requestsOf("system:serviceaccount:openshift-monitoring:prometheus-k8s", 120), requestsOf("system:node:ip-10-0-0-1.ec2.internal", 60), requestsOf("system:admin", 1))
	}
	for _, r := range l.Requests() {
		if now.Sub(r.Hour) < 24*time.Hour {
			byHour[r.Hour.Hour()] = append(byHour[r.Hour.Hour()], requestsOf(r.User, r.Count))
		}
	}
	var day []object
	total := 0
	for hour, users := range byHour {
		if hour == (now.Hour()+1)%24 { // the real one empties the entry that it needs next
			day = append(day, object{"requestCount": 0})
			continue
		}
		sum := 0
		for _, user := range users {
			sum += user["requestCount"].(int)
		}
		total += sum
		day = append(day, object{"requestCount": sum, "byNode": []object{{"nodeName": "10.0.0.1", "requestCount": sum, "byUser": users}}})
	}
	return object{
		"apiVersion": "apiserver.openshift.io/v1", "kind": "APIRequestCount", "metadata": object{"name": "namespaces.v1"}, "spec": object{"numberOfUsersToReport": 10},
		"status": object{"requestCount": total, "currentHour": day[now.Hour()], "last24h": day},
	}
}

func requestsOf(user string, count int) object {
	return object{"username": user, "userAgent": "oc/4.20.0 (linux/amd64) kubernetes/stand-in", "requestCount": count, "byVerb": []object{{"verb": "list", "requestCount": count}}}
}
