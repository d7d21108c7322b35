package ibmcloud

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// The tags of other programs, as IBM Cloud stores them. The installer's operators put an infraID after them.
const (
	diskTag     = "kubernetes-io-cluster-" // …:owned, on volumes (openshift/installer pkg/destroy/ibmcloud/disk.go)
	registryTag = "kubernetes.io_cluster_" // …:owned, on the image registry's storage (cluster-image-registry-operator)
)

var (
	// made are the rests of the names that the installer, its Cluster API provider and the machine API give: <infraID>-<rest>. A cluster
	// that is called like our infraID, or like one of our machines, has names <infraID>-…-<five letters>-<rest>, which none of these matches.
	made = regexp.MustCompile(`^(vpc|cos|image-registry|rhcos|bootstrap|kubernetes-api-(private|public)|security-group-bootstrap` +
		`|sg-(cluster-wide|openshift-net|kube-api-lb|control-plane|cp-internal)|(subnet-control-plane|subnet-compute|pgateway|public-gateway)-` + zoneName +
		`|master-[0-9]+|worker-[0-9]+-` + random + `)$`)
	// infraTag is a tag that is a bare infraID (cluster-api-provider-ibmcloud).
	infraTag = regexp.MustCompile(`^[a-z][a-z0-9-]*-` + random + `$`)
)

const (
	random   = `[bcdfghjklmnpqrstvwxz2456789]{5}` // what infraIDs and machines end with (k8s.io/apimachinery pkg/util/rand)
	zoneName = `[a-z]{2}-[a-z]+-[0-9]`
)

// owner identifies a cluster by the names on its resources.
type owner struct {
	cluster, installation string // as their tags are stored; empty: unknown
	infraIDs, ccoNames    []string
	ageMark               func(made time.Time) string // cloud.Target.AgeMark

	groups  map[string]string // ids of our resource groups that exist, and their names
	vpcs    map[string]bool   // ids of our VPCs that exist
	subnets map[string]bool   // ids of the subnets in them
	older   map[string]string // what would be ours but is older than the cluster, by CRN, and its age mark
	known   map[string]bool   // whether a cluster exists that has another infraID, as far as it was asked
}

func ownerOf(t cloud.Target) *owner {
	o := &owner{ageMark: t.AgeMark, groups: map[string]string{}, older: map[string]string{}, vpcs: map[string]bool{}, subnets: map[string]bool{}, known: map[string]bool{}}
	if t.Cluster != "" {
		o.cluster = tagkey.IBM(tagkey.ClusterID, t.Cluster)
	}
	if t.Installation != "" {
		o.installation = tagkey.IBM(tagkey.Installation, t.Installation)
	}
	for _, id := range t.Identities {
		o.infraIDs, o.ccoNames = appendNew(o.infraIDs, id.InfraID), appendNew(o.ccoNames, id.CCOName)
	}
	return o
}

// appendNew adds a value unless it is empty or already contained.
func appendNew(values []string, value string) []string {
	if value == "" || slices.Contains(values, value) {
		return values
	}
	return append(values, value)
}

// isOwnName reports that the installer or an operator of this cluster gave the name.
func (o *owner) isOwnName(name string) bool {
	return slices.ContainsFunc(o.infraIDs, func(infraID string) bool {
		rest, begins := strings.CutPrefix(name, infraID+"-")
		service, isService := strings.CutPrefix(name, "kube-"+infraID+"-")
		return begins && made.MatchString(rest) || isService && serviceUID.MatchString(service)
	})
}

// serviceUID is what the load balancer of a service ends with; it is cut to 63 characters altogether (IBM/cloud-provider-ibm).
var serviceUID = regexp.MustCompile(`^[0-9a-f]{20,32}$`)

// isMentionedIn reports that the installer's destroyer would find the name: it compares with strings.Contains.
func (o *owner) isMentionedIn(name string) bool {
	return slices.ContainsFunc(o.infraIDs, func(infraID string) bool { return strings.Contains(name, infraID) })
}

// isOwn reports that an object of a region is this cluster's: by its resource group, by its name, or because it is in the cluster's VPC, and it is
// not older than the cluster.
func (o *owner) isOwn(obj object) bool {
	inside := o.vpcs[obj.VPC.ID] || slices.ContainsFunc(obj.Subnets, func(s named) bool { return o.subnets[s.ID] })
	return (o.isClaimed(obj) || inside) && (obj.isGoing() || !o.isOlder(cmp.Or(obj.CRN, obj.ID), obj.Created))
}

// isClaimed reports that an object has the cluster's resource group or one of its names.
func (o *owner) isClaimed(obj object) bool {
	return o.groups[obj.Group.ID] != "" || o.isOwnName(obj.Name)
}

// isOlder reports that something is older than the cluster, and remembers it: whatever its name or its place says, somebody put it there.
func (o *owner) isOlder(id string, made time.Time) bool {
	mark := o.ageMark(made)
	if mark != "" {
		o.older[id] = mark
	}
	return mark != ""
}

// noteObject remembers the cluster's VPCs and subnets: what is in them is the cluster's.
func (o *owner) noteObject(obj object) {
	switch obj.kind.name {
	case vpcs.name:
		o.vpcs[obj.ID] = true
	case subnets.name:
		o.subnets[obj.ID] = true
	}
}

// hasServiceID reports that ccoctl made a service ID for this cluster.
func (o *owner) hasServiceID(id serviceID) bool {
	return o.serviceIDNamed(id.Name) && !o.isOlder(cmp.Or(id.CRN, id.ID), id.creationTime())
}

// serviceIDNamed reports that ccoctl gave the name to a service ID of this cluster: <ccoName>-<namespace>-<secret>, and every namespace of
// an operator begins with openshift-.
func (o *owner) serviceIDNamed(name string) bool {
	return slices.ContainsFunc(o.ccoNames, func(ccoName string) bool { return strings.HasPrefix(name, ccoName+"-openshift-") })
}
