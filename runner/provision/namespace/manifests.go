package namespace

import (
	"strconv"

	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

// portsEach is how many ports a load balancer may have: Kubernetes takes a node port for each of them.
const portsEach = 10

// manifests returns the objects of a namespace in the order in which they are applied, the namespace first.
func manifests(o provision.Order) ([]objects.Manifest, error) {
	order, err := read(o)
	if err != nil {
		return nil, err
	}
	quota, limits := order.Quota, object{"cpu": order.Limits.CPU, "memory": order.Limits.Memory}
	all := []objects.Manifest{
		objects.NewNamespace(o),
		objects.Within(o.InfraID, "v1", "ResourceQuota", "resourcequotas", "ocpctl", object{"spec": object{"hard": object{
			"requests.cpu": quota.CPU, "limits.cpu": quota.CPU, "requests.memory": quota.Memory, "limits.memory": quota.Memory,
			"requests.storage": quota.Storage, "pods": strconv.Itoa(quota.Pods),
			"services.loadbalancers": strconv.Itoa(quota.LoadBalancers), "services.nodeports": strconv.Itoa(quota.LoadBalancers * portsEach),
		}}}),
		objects.Within(o.InfraID, "v1", "LimitRange", "limitranges", "ocpctl", object{"spec": object{"limits": []object{{"type": "Container", "default": limits, "defaultRequest": limits}}}}),
	}
	if order.Isolated {
		all = append(all, isolation(o.InfraID))
	}
	return all, nil
}

// isolation lets in what comes from the namespace itself and, on OpenShift, from the router.
func isolation(namespace string) objects.Manifest {
	from := []object{
		{"podSelector": object{}},
		{"namespaceSelector": object{"matchLabels": object{"policy-group.network.openshift.io/ingress": ""}}},
	}
	return objects.Within(namespace, "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "ocpctl-isolated", object{"spec": object{
		"podSelector": object{}, "policyTypes": []string{"Ingress"}, "ingress": []object{{"from": from}},
	}})
}
