// Package tagkey lists the keys of cloud tags by which resources are found, counted and deleted.
//
// It is the only list of keys that no person may choose: policy refuses them in requests, and the code that reads tags uses the
// constants here. A key that controls a teardown must never be missing from this list, because whoever can put it on a resource
// decides which teardown deletes that resource.
package tagkey

import (
	"slices"
	"strings"
)

// The keys that ocpctl sets on every resource of a cluster. The first nine are required of every cluster.
const (
	ManagedBy    = "ManagedBy"
	ClusterID    = "ClusterId"
	ClusterName  = "ClusterName"
	Owner        = "Owner"
	Team         = "Team"
	CostCenter   = "CostCenter"
	Environment  = "Environment"
	TTLExpiry    = "TTLExpiry"
	RequestID    = "RequestId"
	Installation = "InstallationId"
)

// The keys that ocpctl sets on the roles of a cluster only, for the permissions boundary of AWS: the cluster's infraID and its domain.
const (
	InfraID = "ocpctl-infra-id"
	Domain  = "ocpctl-domain"
)

// The keys by which the installer, its destroyer and ccoctl own resources. Those that end in a slash are followed by the infraID, or
// by ccoctl's name, and have the value Owned.
const (
	KubernetesCluster  = "kubernetes.io/cluster/"
	ProviderCluster    = "sigs.k8s.io/cluster-api-provider-aws/cluster/"
	CloudCredential    = "openshift.io/cloud-credential-operator/"
	OpenShiftClusterID = "openshiftClusterID"
	Name               = "Name"

	Owned = "owned"
	// ControlPlaneName is the value of ManagedBy on every resource of ocpctl's clusters.
	ControlPlaneName = "cluster-control-plane"
)

// controlPlane are the keys whose values only ocpctl sets. Platform and Profile are reserved for it.
var controlPlane = []string{ManagedBy, ClusterID, ClusterName, Owner, Team, CostCenter, Environment, TTLExpiry, RequestID, Installation, "Platform", "Profile"}

// Claimant are the keys whose values change when somebody claims a cluster that waited in a pool. No teardown goes by them.
var Claimant = []string{Owner, Team, CostCenter, Environment, TTLExpiry, RequestID}

// foreign are the keys of tools that build and delete clusters, in lower case. A key is reserved if it equals a name, begins with a
// prefix, or is in a domain or one of its subdomains.
var (
	names = []keyOwner{
		{"name", "the installer sets Name itself"},
		{"kubernetescluster", "Kubernetes reads KubernetesCluster as the name of the cluster that owns a resource"},
		{"expirationdate", "cleaners of cloud accounts delete what expirationDate says has expired"},
		{"csivolumename", "the storage driver finds a cluster's volumes by it"},
		{"csivolumesnapshotname", "the storage driver finds a cluster's snapshots by it"},
	}
	prefixes = []keyOwner{
		{"aws:", "AWS keeps keys that start with aws: for itself"},
		{"openshift", "OpenShift's installer and its destroyer find a cluster's resources by keys that start with openshift"},
		{"red-hat-", "Red Hat's services find a cluster's resources by keys that start with red-hat-"},
		{"ocpctl", "keys that start with ocpctl are kept for the control plane"},
		{"kubernetes-io-", "the installer marks disks with keys that start with kubernetes-io-"},
	}
	domains = []keyOwner{
		{"kubernetes.io", "the installer and Kubernetes find a cluster's resources by keys in kubernetes.io"},
		{"k8s.io", "the installer and Kubernetes find a cluster's resources by keys in k8s.io"},
		{"x-k8s.io", "Kubernetes finds a cluster's resources by keys in x-k8s.io"},
		{"k8s.aws", "Kubernetes finds a cluster's load balancers by keys in k8s.aws"},
		{"csi.aws.com", "the storage driver finds a cluster's volumes by keys in csi.aws.com"},
		{"openshift.io", "OpenShift finds a cluster's resources by keys in openshift.io"},
		{"openshift.com", "OpenShift finds a cluster's resources by keys in openshift.com"},
	}
)

// keyOwner is a pattern of keys, and why nobody else may use them.
type keyOwner struct{ pattern, why string }

// ControlPlane returns the key of ocpctl's own that equals key when case is ignored; empty if there is none. Keys that differ only in
// case are two tags in AWS, but look the same to a person who reads a report.
func ControlPlane(key string) string {
	if i := slices.IndexFunc(controlPlane, func(own string) bool { return strings.EqualFold(own, key) }); i >= 0 {
		return controlPlane[i]
	}
	return ""
}

// Foreign says why a key belongs to a tool that builds, finds or deletes clusters; empty if it does not. Case is ignored.
func Foreign(key string) string {
	lower := strings.ToLower(key)
	for _, n := range names {
		if lower == n.pattern {
			return n.why
		}
	}
	for _, p := range prefixes {
		if strings.HasPrefix(lower, p.pattern) {
			return p.why
		}
	}
	domain, _, _ := strings.Cut(lower, "/")
	for _, d := range domains {
		if domain == d.pattern || strings.HasSuffix(domain, "."+d.pattern) {
			return d.why
		}
	}
	return ""
}

// Reserved reports that no person may choose the key.
func Reserved(key string) bool { return ControlPlane(key) != "" || Foreign(key) != "" }

// OfCluster reports that a tag says that its resource belongs to some cluster, whoever built it. It is false for keys that people put on
// anything (Name, Owner, Team, CostCenter, Environment, RequestId, expirationDate), for ManagedBy with another value than ocpctl's, for
// keys of AWS, and for what clusters merely share.
func OfCluster(key, value string) bool {
	switch ControlPlane(key) {
	case ManagedBy:
		return value == ControlPlaneName
	case ClusterID, ClusterName, TTLExpiry, Installation:
		return true
	case "":
	default:
		return false
	}
	lower := strings.ToLower(key)
	switch {
	case lower == "name", lower == "expirationdate", strings.HasPrefix(lower, "aws:"), value == "shared":
		return false
	}
	return Foreign(key) != ""
}
