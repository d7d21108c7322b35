// Package kinds lists what a cluster on a hub leaves there: the count and the inventory list by it. It asks nothing.
package kinds

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/names"
)

// The labels and the annotation of a namespace that say whose it is, and the label by which the hub refuses pods that could take over its nodes.
const (
	ClusterLabel = "ocpctl.io/cluster"  // the cluster's id
	InfraLabel   = "ocpctl.io/infra-id" // the recorded name, which is the namespace's own
	TagsNote     = "ocpctl.io/tags"     // the cluster's tags, as JSON

	PodSecurityLabel = "pod-security.kubernetes.io/enforce"
)

// Object is an object of the hub, as far as it says whose it is and what holds it.
type Object struct {
	Metadata struct {
		Name, Namespace, UID string
		Labels               map[string]string
		Annotations          map[string]string
		Finalizers           []string
		CreationTimestamp    time.Time
		DeletionTimestamp    *time.Time
	}
	Spec struct {
		Type       string // of a Service
		Finalizers []string
		ClaimRef   struct{ Namespace, Name string } // of a PersistentVolume
		Capacity   struct{ Storage string }
		Reclaim    string `json:"persistentVolumeReclaimPolicy"`
	}
	Status struct {
		Phase      string
		Conditions []struct{ Type, Status, Message string }
	}
}

// Tags returns the tags that a namespace tells, as clouds tell them; nil: none.
func (o Object) Tags() (tags map[string]string) {
	if json.Unmarshal([]byte(o.Metadata.Annotations[TagsNote]), &tags) != nil {
		return nil
	}
	return tags
}

// Holders says what keeps an object that is being deleted, by name; empty: nothing that it tells.
func (o Object) Holders() string {
	if o.Metadata.DeletionTimestamp == nil {
		return ""
	}
	held := slices.Clone(o.Metadata.Finalizers)
	for _, c := range o.Status.Conditions {
		if c.Status == "True" && slices.Contains([]string{"NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionContentFailure", "NamespaceDeletionDiscoveryFailure"}, c.Type) && c.Message != "" {
			held = append(held, c.Message)
		}
	}
	if len(held) == 0 {
		return ""
	}
	return "its deletion waits for: " + strings.Join(held, "; ")
}

// Kind is a kind of object.
type Kind struct {
	Type  string // as in contract.Leftover
	Part  string // of a scan
	Path  string // of the list of all of them
	Group string // of the API that a hub may not have; empty: it has it

	Separate bool   // the rights to it are those of one kind of clusters, which a hub need not give
	within   string // the last part of Path, for lists of one namespace; empty: it is in none
	counts   func(Object) bool
}

// Namespaces is the path of all namespaces.
const Namespaces = "/api/v1/namespaces"

// Volumes are the PersistentVolumes: they are in no namespace, and name that of their claim.
var Volumes = Kind{Type: "persistent-volume", Part: "volumes", Path: "/api/v1/persistentvolumes"}

// Inside are what a namespace holds and something outside of the hub may belong to.
var Inside = []Kind{
	{Type: "load-balancer", Part: "services", Path: "/api/v1/services", within: "services", counts: func(o Object) bool { return o.Spec.Type == "LoadBalancer" }},
	{Type: "ingress", Part: "ingresses", Path: "/apis/networking.k8s.io/v1/ingresses", within: "ingresses"},
	{Type: "route", Part: "routes", Path: "/apis/route.openshift.io/v1/routes", within: "routes", Group: "route.openshift.io"},
}

// In is the path of the kind's objects in a namespace.
func (k Kind) In(namespace string) string {
	return fmt.Sprintf("%snamespaces/%s/%s", strings.TrimSuffix(k.Path, k.within), namespace, k.within)
}

// Counts reports whether an object is one that is counted.
func (k Kind) Counts(o Object) bool { return k.counts == nil || k.counts(o) }

// Hosted are what belongs to hosted clusters, besides Inside. A hub without HyperShift's operator has none of these kinds.
var Hosted = []Kind{
	{Type: "hosted-cluster", Part: "hosted clusters", Path: "/apis/hypershift.openshift.io/v1beta1/hostedclusters", within: "hostedclusters", Group: "hypershift.openshift.io", Separate: true},
	{Type: "node-pool", Part: "node pools", Path: "/apis/hypershift.openshift.io/v1beta1/nodepools", within: "nodepools", Group: "hypershift.openshift.io", Separate: true},
	{Type: "virtual-machine", Part: "virtual machines", Path: "/apis/kubevirt.io/v1/virtualmachines", within: "virtualmachines", Group: "kubevirt.io", Separate: true},
}

// ControlPlane is the namespace that HyperShift's operator makes for the control plane of a cluster (openshift/hypershift,
// hypershift-operator/controllers/manifests).
func ControlPlane(infraID, name string) string { return infraID + "-" + name }

// OwnerOf returns the namespace of the cluster that a namespace belongs to: another one for that of a control plane, otherwise itself.
func OwnerOf(namespace string) string {
	for end, c := range namespace {
		if c == '-' && (names.Scope{Name: namespace[end+1:]}).IsInfraID(namespace[:end]) {
			return namespace[:end]
		}
	}
	return namespace
}
