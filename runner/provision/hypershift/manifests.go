package hypershift

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	hub "github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

type object = objects.Object

const (
	group    = "hypershift.openshift.io"
	version  = group + "/v1beta1"
	clusters = "hostedclusters"
	pools    = "nodepools"

	pullSecret = "ocpctl-pull"
	etcdKey    = "ocpctl-etcd-key"
	awakeNote  = "ocpctl.io/awake-replicas" // an annotation of a node pool

	// drainTimeout ends the wait for what can never leave a node, such as a pod with a budget of one: otherwise no cluster with it would sleep.
	drainTimeout = "5m"
)

// manifests returns the objects of a hosted cluster without its secrets, the namespace first. The hosted cluster has the cluster's name, because its
// apps are below that name; what its nodes and disks are called derives from the recorded one.
func manifests(o provision.Order) ([]objects.Manifest, error) {
	order, err := read(o)
	if err != nil {
		return nil, err
	}
	release := object{"image": cmp.Or(o.Release, "quay.io/openshift-release-dev/ocp-release:"+o.Version+"-x86_64")}
	all := []objects.Manifest{
		objects.NewNamespace(o),
		within(o, "HostedCluster", clusters, o.Name, object{
			"release": release, "infraID": o.InfraID, "pullSecret": object{"name": pullSecret}, "sshKey": object{},
			"controllerAvailabilityPolicy": "SingleReplica", "infrastructureAvailabilityPolicy": "SingleReplica",
			"dns":              object{"baseDomain": ""}, // the operator takes the hub's, see baseDomainPassthrough
			"platform":         object{"type": "KubeVirt", "kubevirt": object{"baseDomainPassthrough": true}},
			"etcd":             object{"managementType": "Managed", "managed": object{"storage": object{"type": "PersistentVolume", "persistentVolume": object{"size": order.Etcd}}}},
			"secretEncryption": object{"type": "aescbc", "aescbc": object{"activeKey": object{"name": etcdKey}}},
			"networking": object{
				"networkType": "OVNKubernetes", "clusterNetwork": []object{{"cidr": "10.132.0.0/14"}}, "serviceNetwork": []object{{"cidr": "172.31.0.0/16"}},
			},
			"services": []object{publishBy("APIServer", "LoadBalancer"), publishBy("OAuthServer", "Route"), publishBy("Konnectivity", "Route"), publishBy("Ignition", "Route")},
		}),
	}
	for _, set := range order.Nodes {
		root := object{"size": set.RootVolume}
		if set.StorageClass != "" {
			root["storageClass"] = set.StorageClass
		}
		pool := within(o, "NodePool", pools, o.InfraID+"-"+set.Name, object{
			"clusterName": o.Name, "replicas": set.Replicas, "arch": "amd64", "release": release, "management": object{"autoRepair": false, "upgradeType": "Replace"},
			"nodeDrainTimeout": drainTimeout, "nodeVolumeDetachTimeout": drainTimeout,
			"platform": object{"type": "KubeVirt", "kubevirt": object{
				"compute": object{"cores": set.Cores, "memory": set.Memory}, "rootVolume": object{"type": "Persistent", "persistent": root},
			}},
		})
		pool.Object["metadata"].(object)["annotations"] = object{awakeNote: strconv.Itoa(set.Replicas)}
		all = append(all, pool)
	}
	return all, nil
}

func publishBy(service, how string) object {
	return object{"service": service, "servicePublishingStrategy": object{"type": how}}
}

// within is an object of the operator's, with the cluster's label.
func within(o provision.Order, kind, resource, name string, spec object) objects.Manifest {
	return objects.Within(o.InfraID, version, kind, resource, name, object{
		"metadata": object{"name": name, "namespace": o.InfraID, "labels": object{hub.ClusterLabel: o.Cluster}}, "spec": spec,
	})
}

func newPullSecret(namespace string, pull secret.Text) objects.Manifest {
	return newSecret(namespace, pullSecret, "kubernetes.io/dockerconfigjson", ".dockerconfigjson", []byte(pull.Reveal()))
}

// newEtcdKey is another key each time. It is made once: etcd could not be read with another.
func newEtcdKey(namespace string) objects.Manifest {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return newSecret(namespace, etcdKey, "Opaque", "key", key)
}

func newSecret(namespace, name, kind, key string, value []byte) objects.Manifest {
	return objects.Within(namespace, "v1", "Secret", "secrets", name, object{"type": kind, "data": object{key: base64.StdEncoding.EncodeToString(value)}})
}

// read reads the frozen document.
func read(o provision.Order) (order kinds.HostedOrder, err error) {
	if err := yaml.Unmarshal([]byte(o.Text), &order); err != nil || order.CountNodes() == 0 {
		return order, errors.New("what was accepted of the hosted cluster cannot be read")
	}
	return order, nil
}
