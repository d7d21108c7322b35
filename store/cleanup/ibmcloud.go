package cleanup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/store/scans"
)

// ibmCalls lists what the teardown does on IBM Cloud, as package runner does it. There names own resources, and not tags.
func ibmCalls(account string, of names.Scope, known []scans.RecordedName) []Call {
	infraIDs, groups := ibmNames(known)
	list := []Call{
		{"check the account", "the token of the API key (POST /identity/token) has to be of account " + account},
		{"check for other owners", "nothing is deleted while one of the resources also has another cluster's mark; openshift-install does not run while one of another group mentions the infraID in its name"},
	}
	var byInstaller, byCcoctl, serviceIDs []Call
	for _, n := range known {
		if n.InfraID != "" {
			byInstaller = append(byInstaller, Call{"delete what the installer created", fmt.Sprintf("openshift-install destroy cluster: everything in the resource group %s and in %s whose name contains %s, and records of %s",
				cmp.Or(n.CCOName, n.InfraID), n.Region, n.InfraID, of.Domain())})
		}
		if n.CCOName != "" {
			byCcoctl = append(byCcoctl, Call{"delete what ccoctl created", fmt.Sprintf("ccoctl ibmcloud delete-service-id --name %s --force", n.CCOName)})
			serviceIDs = append(serviceIDs, Call{"delete service IDs", n.CCOName + "-…, with their API keys and access policies"})
		}
	}
	inGroups := "resource group " + strings.Join(groups, ", ")
	if len(infraIDs) > 0 {
		list = append(list, Call{"delete what nobody could tell to be the cluster's later", "permitted networks of " + each("", infraIDs, "-vpc") + " in private zones, IAM authorizations of " + each("", infraIDs, ibmInstances...)})
		list = slices.Concat(list, byInstaller, byCcoctl)
		list = append(list, Call{"delete DNS records by their exact names", describeRecords(of)},
			Call{"delete from VPC", fmt.Sprintf("machines, load balancers, volumes, images, addresses and networks called %s or %s, all in %s, and images and snapshots %s", each("", infraIDs, "-…"), each("kube-", infraIDs, "-…"), inGroups, copiesOf(of))})
	} else {
		list = append(append(list, byCcoctl...), Call{"delete from VPC", "all in " + inGroups + ", and images and snapshots " + copiesOf(of)})
	}
	return append(append(list, serviceIDs...),
		Call{"delete storage and reclaim it at once", strings.TrimPrefix(each("", infraIDs, ibmInstances...)+", all in "+inGroups, ", ") + " (what is deleted is kept for a week, and keeps its resource group)"},
		Call{"delete everything else", "what is left in " + inGroups + ", of any service"},
		Call{"delete tags", strings.TrimPrefix(strings.Join(infraIDs, ", ")+", ", ", ") + "those with the cluster's id, name, request and time to live, from the account's list"},
		Call{"delete the resource group", strings.Join(groups, ", ")},
		Call{"count", "two counts of what is left, some minutes apart; they only read"})
}

// ibmNames are the recorded infraIDs, and the names of the cluster's resource groups. The installer names one after the infraID if it is told none.
func ibmNames(known []scans.RecordedName) (infraIDs, groups []string) {
	for _, n := range known {
		if n.InfraID != "" && !slices.Contains(infraIDs, n.InfraID) {
			infraIDs = append(infraIDs, n.InfraID)
		}
		if group := cmp.Or(n.CCOName, n.InfraID); group != "" && !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return infraIDs, groups
}

// each lists every name with a beginning and with every ending.
func each(beginning string, names []string, endings ...string) string {
	var all []string
	for _, name := range names {
		for _, ending := range endings {
			all = append(all, beginning+name+ending)
		}
	}
	return strings.Join(all, ", ")
}

// ibmInstances are the ends of the names of a cluster's service instances: the installer's Object Storage, and that of the image registry.
var ibmInstances = []string{"-cos", "-image-registry"}

// ibmCovered says which call removes a resource on IBM Cloud, or why none does. What has none of these names ends with what it is in: a
// volume of a pod with its resource group, an API key with its service ID.
func ibmCovered(of names.Scope, known []scans.RecordedName, s contract.SeenResource) (removed bool, why string) {
	if s.Type == "record" {
		return recordCovered(of, s)
	}
	if isCopy(of, known, s, "image", "snapshot") {
		return true, whyCopy
	}
	for _, n := range known {
		switch {
		case n.CCOName != "" && s.Name == n.CCOName && s.Type == "resource-group":
			return true, "the resource group of this exact name, after everything in it"
		case n.CCOName != "" && s.Type == "service-id" && strings.HasPrefix(s.Name, n.CCOName+"-"):
			return true, "ccoctl ibmcloud delete-service-id, by the name " + n.CCOName
		case n.InfraID != "" && s.Type == "reclamation" && (s.Tags[tagkey.KubernetesCluster+n.InfraID] == tagkey.Owned || slices.ContainsFunc(ibmInstances, func(end string) bool { return s.Name == n.InfraID+end })):
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
