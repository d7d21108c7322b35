package inventory

import (
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// infraID is the form of an infraID: at most 21 characters of a cluster's name, a dash and five characters of Kubernetes' alphabet for
// random names, which has no vowels and therefore makes few words (k8s.io/apimachinery/pkg/util/rand).
const infraID = `[a-z](?:[-a-z0-9]{0,19}[a-z0-9])?-[bcdfghjklmnpqrstvwxz2456789]{5}`

// The names that the installer, a cluster's operators and ccoctl give. Nothing else marks most of what they make.
var (
	bareInfraID = regexp.MustCompile(`^` + infraID + `$`)
	// installerName is what is named after the infraID. A resource group may have the bare infraID.
	installerName = regexp.MustCompile(`^` + infraID + `-(?:` + strings.Join([]string{
		"vpc", "subnet", "pgateway", "public-gateway", "sg", "security-group", "kubernetes-api", "rhcos", "vsi-image", "cos", "image-registry",
		"bootstrap", "master", "worker", "lb", "key", "dynamic",
	}, "|") + `)(?:-.*)?$`)
	// serviceBalancer is the load balancer of a service: the end is the service's UID, cut to what is left of 63 characters.
	serviceBalancer = regexp.MustCompile(`^kube-` + infraID + `-[0-9a-f]{8,32}$`)
	// ccoctl names a service ID <name>-<namespace of an operator>-<secret>.
	operatorID = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*-openshift-[a-z]`)
	// ccoName is the form of the name that ocpctl gives to ccoctl and to a cluster's resource group (names.Scope.CCOName).
	ccoName = regexp.MustCompile(`^[a-z0-9][-a-z0-9]{0,8}-([a-z2-7]{10})$`)
)

// isNamed reports that a name says that something may belong to a cluster.
func isNamed(name string) bool {
	return installerName.MatchString(name) || serviceBalancer.MatchString(name)
}

// groupNamed reports that a resource group has a name that only a cluster's has. The ten characters are a hash: seven of eight have a digit,
// and words have none, so that the group shop-developers is not taken for a cluster's.
func groupNamed(name string) bool {
	cco := ccoName.FindStringSubmatch(name)
	return bareInfraID.MatchString(name) || cco != nil && strings.ContainsAny(cco[1], "234567")
}

// isTagged reports that a tag says so.
func isTagged(tags map[string]string) bool {
	for key, value := range tags {
		if tagkey.OfCluster(key, value) {
			return true
		}
	}
	return false
}

// The user tags by which other programs own resources, before and after the infraID.
const (
	volumeTag   = "kubernetes-io-cluster-" // the installer's destroyer finds volumes by it
	registryTag = "kubernetes.io_cluster_" // the image registry's operator
	ownedTag    = ":" + tagkey.Owned
)

// storedID is an id of ours as IBM keeps it in a tag: in lower case.
var storedID = regexp.MustCompile(`^([a-z]+)_([0-9a-hjkmnp-tv-z]{26})$`)

// tagsOf reads user tags, which are single texts in lower case, into the keys and values that they have elsewhere. The installer's providers
// put the bare infraID on what they make.
func tagsOf(all []string) map[string]string {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]string, len(all))
	for _, tag := range all {
		tag = strings.ToLower(tag)
		key, value, _ := strings.Cut(tag, ":")
		switch own := tagkey.ControlPlane(key); {
		case own != "":
			switch id := storedID.FindStringSubmatch(value); {
			case id != nil:
				value = id[1] + "_" + strings.ToUpper(id[2])
			case own == tagkey.TTLExpiry:
				value = strings.ToUpper(value) // RFC 3339 with a capital T and Z
			}
			out[own] = value
		case ownerOf(tag) != "":
			out[tagkey.KubernetesCluster+ownerOf(tag)] = tagkey.Owned
		default:
			out[key] = value
		}
	}
	return out
}

// ownerOf returns the infraID that a tag names as the owner; empty: it is another kind of tag.
func ownerOf(tag string) string {
	for _, prefix := range []string{volumeTag, registryTag} {
		if rest, ok := strings.CutPrefix(tag, prefix); ok {
			if name, ok := strings.CutSuffix(rest, ownedTag); ok {
				return name
			}
		}
	}
	if bareInfraID.MatchString(tag) {
		return tag
	}
	return ""
}

// clusterOf returns the name of the cluster that a DNS name belongs to, which is one label below the base domain; empty: none.
func clusterOf(name, baseDomain string) string {
	label, below := strings.CutSuffix(name, "."+baseDomain)
	if !below || strings.Contains(label, ".") {
		return ""
	}
	return label
}

// recordOf reports that the installer or a cluster makes a record of this name below the base domain: api, api-int and *.apps.
func recordOf(name, baseDomain string) bool {
	for _, host := range []string{"api.", "api-int.", "*.apps."} {
		if rest, ok := strings.CutPrefix(name, host); ok && clusterOf(rest, baseDomain) != "" {
			return true
		}
	}
	return false
}
