package cleanup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/names"
	"github.com/ocpctl/ocpctl/store/sweeps"
)

// ibmCalls lists what the teardown does on IBM Cloud, as package runner does it. There names own resources, and not tags.
func ibmCalls(account string, of names.Scope, known []sweeps.RecordedName) []Call {
	list := []Call{
		{"check the account", "the API key's details (GET /v1/apikeys/details) have to name " + account},
		{"check for other owners", "nothing is deleted while one of the resources also has another cluster's mark"},
	}
	for _, n := range known {
		if n.InfraID != "" {
			in := "the resource group " + n.CCOName
			if n.CCOName == "" {
				in = "the resource group that is found by its name"
			}
			list = append(list, Call{"delete what the installer created", fmt.Sprintf("openshift-install destroy cluster: everything in %s and in %s whose name contains %s, and records of %s",
				in, n.Region, n.InfraID, of.Domain())})
		}
	}
	for _, n := range known {
		if n.CCOName != "" {
			list = append(list, Call{"delete what ccoctl created", fmt.Sprintf("ccoctl ibmcloud delete-service-id --name %s --force", n.CCOName)})
		}
	}
	list = append(list, Call{"delete DNS records by their exact names", strings.Join(records(of), ", ")})
	for _, n := range known {
		if n.InfraID != "" {
			list = append(list, Call{"delete by exact name", strings.Join(ibmByName(n.InfraID), ", ")},
				Call{"reclaim at once", strings.Join(ibmInstances(n.InfraID), ", ") + " (deleted service instances are kept for a week, and keep their resource group)"})
		}
		if n.CCOName != "" {
			list = append(list, Call{"delete by exact name", n.CCOName + "-… (service IDs with their API keys and access policies)"},
				Call{"delete the resource group", n.CCOName + ", after everything in it"})
		}
	}
	return append(list, Call{"count", "two counts of what is left, some minutes apart; they only read"})
}

// ibmInstances are the service instances of a cluster: the installer's Object Storage, and that of the image registry.
func ibmInstances(infraID string) []string {
	return []string{infraID + "-cos", infraID + "-image-registry"}
}

// ibmByName are the names under which the installer's destroyer is known to leave things behind.
func ibmByName(infraID string) []string {
	return []string{
		"kube-" + infraID + "-… (load balancers of services)", infraID + "-… (images, floating IPs, volumes, security groups)",
		"IAM authorizations of " + infraID + "-cos", "permitted networks of " + infraID + "-vpc", "the tag " + infraID,
	}
}

// ibmCovered says which call removes a resource on IBM Cloud, or why none does. What has none of these names ends with what it is in: a
// volume of a pod with its resource group, an API key with its service ID.
func ibmCovered(of names.Scope, known []sweeps.RecordedName, s contract.SeenResource) (removed bool, why string) {
	if s.Type == "record" {
		return recordCovered(of, s)
	}
	for _, n := range known {
		switch {
		case n.CCOName != "" && s.Name == n.CCOName && s.Type == "resource-group":
			return true, "the resource group of this exact name, after everything in it"
		case n.CCOName != "" && s.Type == "service-id" && strings.HasPrefix(s.Name, n.CCOName+"-"):
			return true, "ccoctl ibmcloud delete-service-id, by the name " + n.CCOName
		case n.InfraID != "" && s.Type == "reclamation" && (s.Tags[tagkey.KubernetesCluster+n.InfraID] == tagkey.Owned || slices.Contains(ibmInstances(n.InfraID), s.Name)):
			return true, "it is reclaimed: its instance was " + n.InfraID + "'s"
		case n.InfraID != "" && s.Type == "user-tag" && (s.Tags[tagkey.KubernetesCluster+n.InfraID] == tagkey.Owned || s.Tags[tagkey.ClusterID] == of.Cluster):
			return true, "by its exact name"
		case n.InfraID != "" && names.HasInfraID(s.Name, n.InfraID):
			if isGlobal(s.Region) || s.Region == n.Region {
				return true, "openshift-install destroy cluster, by a name with " + n.InfraID
			}
			return false, fmt.Sprintf("it is in %s, and the teardown searches in %s", s.Region, n.Region)
		}
	}
	return false, "it has no name that the teardown searches for; remove it by hand"
}
