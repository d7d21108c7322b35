package namespace

import (
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision"
)

// portsEach is how many ports a load balancer may have: Kubernetes takes a node port for each of them.
const portsEach = 10

// manifests returns the objects of a namespace in the order in which they are applied, the namespace first.
func manifests(o provision.Order) ([]manifest, error) {
	order, err := read(o)
	if err != nil {
		return nil, err
	}
	quota, limits := order.Quota, object{"cpu": order.Limits.CPU, "memory": order.Limits.Memory}
	all := []manifest{
		{kinds.Namespaces + "/" + o.InfraID, "namespace", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{
			"name": o.InfraID, "labels": object{kinds.ClusterLabel: o.Cluster, kinds.InfraLabel: o.InfraID, kinds.PodSecurityLabel: "baseline"},
			"annotations": object{kinds.TagsNote: tagsNote(o.Tags), "openshift.io/display-name": o.Name},
		}}},
		within(o.InfraID, "v1", "ResourceQuota", "resourcequotas", "ocpctl", object{"spec": object{"hard": object{
			"requests.cpu": quota.CPU, "limits.cpu": quota.CPU, "requests.memory": quota.Memory, "limits.memory": quota.Memory,
			"requests.storage": quota.Storage, "pods": strconv.Itoa(quota.Pods),
			"services.loadbalancers": strconv.Itoa(quota.LoadBalancers), "services.nodeports": strconv.Itoa(quota.LoadBalancers * portsEach),
		}}}),
		within(o.InfraID, "v1", "LimitRange", "limitranges", "ocpctl", object{"spec": object{"limits": []object{{"type": "Container", "default": limits, "defaultRequest": limits}}}}),
	}
	if order.Isolated {
		all = append(all, isolation(o.InfraID))
	}
	return all, nil
}

// isolation lets in what comes from the namespace itself and, on OpenShift, from the router.
func isolation(namespace string) manifest {
	from := []object{
		{"podSelector": object{}},
		{"namespaceSelector": object{"matchLabels": object{"policy-group.network.openshift.io/ingress": ""}}},
	}
	return within(namespace, "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "ocpctl-isolated", object{"spec": object{
		"podSelector": object{}, "policyTypes": []string{"Ingress"}, "ingress": []object{{"from": from}},
	}})
}

// binding binds a cluster role in the namespace: it gives no right anywhere else.
func binding(namespace, name, role string, subject object) manifest {
	return within(namespace, "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", name, object{
		"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": []object{subject},
	})
}

// within returns an object of a namespace.
func within(namespace, version, kind, resource, name string, rest object) manifest {
	o := object{"apiVersion": version, "kind": kind, "metadata": object{"name": name, "namespace": namespace}}
	for key, value := range rest {
		o[key] = value
	}
	path := inNamespace(namespace, resource)
	if version != "v1" {
		path = "/apis/" + version + "/namespaces/" + namespace + "/" + resource
	}
	return manifest{path + "/" + name, strings.ToLower(kind) + "-" + name, o}
}

func inNamespace(namespace, resource string) string {
	return kinds.Namespaces + "/" + namespace + "/" + resource
}

func rbacIn(namespace, resource string) string {
	return "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace + "/" + resource
}
