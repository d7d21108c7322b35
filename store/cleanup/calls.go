package cleanup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/store/scans"
)

// calls lists what the teardown does, as package runner does it.
func calls(account string, of names.Scope, known []scans.RecordedName) []Call {
	switch of.Platform {
	case names.IBMCloud:
		return ibmCalls(account, of, known)
	case names.Kubernetes:
		return hubCalls(account, known)
	}
	list := []Call{
		{"check the account", "sts:GetCallerIdentity has to answer " + account},
		{"check for other owners", "nothing is deleted while one of the resources also has another cluster's mark"},
	}
	for _, n := range known {
		if n.InfraID != "" {
			list = append(list, Call{"delete what the installer created", fmt.Sprintf("openshift-install destroy cluster: everything tagged %s%s=%s in %s, and records of %s",
				tagkey.KubernetesCluster, n.InfraID, tagkey.Owned, n.Region, of.Domain())})
		}
	}
	for _, n := range known {
		if n.CCOName != "" {
			list = append(list, Call{"delete what ccoctl created", fmt.Sprintf("ccoctl aws delete --name %s --region %s", n.CCOName, n.Region)})
		}
	}
	list = append(list, Call{"delete DNS records by their exact names", describeRecords(of)})
	for _, n := range known {
		if n.InfraID != "" {
			list = append(list, Call{"delete by exact name", strings.Join(byName(n.InfraID), ", ") + ", the image " + imageCopy(n.InfraID) + " and its snapshots"})
		}
		if n.CCOName != "" {
			list = append(list, Call{"delete by exact name", n.CCOName + "-oidc (bucket and identity provider)"})
		}
	}
	list = append(list, Call{"delete copies by their own tags", "images, snapshots and buckets " + copiesOf(of)})
	return append(list, Call{"count", "two counts of what is left, some minutes apart; they only read"})
}

// hubCalls lists what the teardown of a cluster on a hub does.
func hubCalls(account string, known []scans.RecordedName) []Call {
	list := []Call{
		{"check the hub", "the UID of namespace kube-system has to be " + account},
		{"check for other owners", "nothing is deleted while one of the namespaces has another cluster's label"},
	}
	for _, n := range known {
		list = append(list, Call{"delete by exact name", "namespace " + n.InfraID + ", with everything in it"})
	}
	return append(list, Call{"count", "two counts of what is left, some minutes apart; they only read"})
}

// records are the DNS records that a teardown deletes.
func records(of names.Scope) []string {
	d := of.Domain()
	return []string{"api." + d, "api-int." + d, "*.apps." + d}
}

// describeRecords says for a call what it deletes of the base domain's zones.
func describeRecords(of names.Scope) string {
	return strings.Join(records(of), ", ") + "; and below " + of.Domain() + " what external-dns marked with an owner id that only this cluster has"
}

// copiesOf says for a call which copies the teardown deletes wherever they are.
func copiesOf(of names.Scope) string {
	return fmt.Sprintf("in any region with %s=%s and %s=%s and no other cluster's mark", tagkey.ClusterID, of.Cluster, tagkey.Installation, of.Installation)
}

// isCopy reports that somebody made a resource of the cluster's, with its tags: the teardown deletes these in any region. PlanOf
// refuses what is older than the cluster.
func isCopy(of names.Scope, known []scans.RecordedName, s contract.SeenResource, kinds ...string) bool {
	if !slices.Contains(kinds, s.Type) || s.Tags[tagkey.ClusterID] != of.Cluster || s.Tags[tagkey.Installation] != of.Installation {
		return false
	}
	for key := range s.Tags {
		for _, prefix := range []string{tagkey.KubernetesCluster, tagkey.ProviderCluster, tagkey.CloudCredential} {
			name, marked := strings.CutPrefix(key, prefix)
			if marked && !slices.ContainsFunc(known, func(n scans.RecordedName) bool { return n.InfraID == name || n.CCOName == name }) {
				return false
			}
		}
	}
	return true
}

// whyCopy is why a copy is removed.
const whyCopy = "by the cluster's own tags, in any region"

// imageCopy is what the installer calls its copy of an AMI.
func imageCopy(infraID string) string { return infraID + "-master" }

// byName are the names under which the installer makes what its destroyer is known to leave behind.
func byName(infraID string) (list []string) {
	for _, kind := range []string{"master", "worker", "bootstrap"} {
		list = append(list, infraID+"-"+kind+"-role", infraID+"-"+kind+"-profile")
	}
	return append(list, "openshift-bootstrap-data-"+infraID)
}

// sort tells the resources that the calls remove from those that they do not. What is in a removed one ends with it.
func (p *Plan) sort(of names.Scope, known []scans.RecordedName, seen []contract.SeenResource) {
	why, removed := make([]string, len(seen)), make([]bool, len(seen))
	gone := map[string]bool{}
	for i, s := range seen {
		removed[i], why[i] = findCover(of, known, s)
		gone[s.ID] = removed[i]
	}
	for more := true; more; {
		more = false
		for i, s := range seen {
			if !removed[i] && gone[s.Within] {
				removed[i], why[i], gone[s.ID], more = true, "it ends with "+s.Within, true, true
			}
		}
	}
	for i, s := range seen {
		r := Resource{ID: s.ID, Type: s.Type, Region: s.Region, Name: s.Name, Why: why[i]}
		if removed[i] {
			p.Removed = append(p.Removed, r)
		} else {
			p.Kept = append(p.Kept, r)
		}
	}
}

// findCover says which call removes a resource, or why none does.
func findCover(of names.Scope, known []scans.RecordedName, s contract.SeenResource) (removed bool, why string) {
	switch {
	case of.Platform == names.IBMCloud:
		return ibmCovered(of, known, s)
	case of.Platform == names.Kubernetes:
		return hubCovered(known, s)
	case s.Type == "record":
		return recordCovered(of, s)
	case isCopy(of, known, s, "image", "snapshot", "bucket"):
		return true, whyCopy
	}
	for _, n := range known {
		switch {
		case n.InfraID != "" && s.Tags[tagkey.KubernetesCluster+n.InfraID] == tagkey.Owned:
			if isGlobal(s.Region) || s.Region == n.Region {
				return true, "openshift-install destroy cluster, by the tag of " + n.InfraID
			}
			return false, fmt.Sprintf("it is in %s, and the teardown searches in %s", s.Region, n.Region)
		case n.InfraID != "" && s.Type == "image" && s.Name == imageCopy(n.InfraID) && s.Region == n.Region:
			return true, "by its exact name, with its snapshots"
		case n.InfraID != "" && slices.Contains(byName(n.InfraID), s.Name):
			if s.Type == "role" { // the installer creates a role with its tags in one call
				return false, "a role without this cluster's tag is not the installer's; remove it by hand"
			}
			return true, "by its exact name"
		case n.CCOName != "" && s.Tags[tagkey.CloudCredential+n.CCOName] == tagkey.Owned:
			return true, "ccoctl aws delete, by the tag of " + n.CCOName
		case n.CCOName != "" && s.Name == n.CCOName+"-oidc":
			return true, "by its exact name"
		}
	}
	return false, "it has no mark of a name that the teardown searches for; remove it by hand"
}

func hubCovered(known []scans.RecordedName, s contract.SeenResource) (removed bool, why string) {
	if s.Type == "namespace" && slices.ContainsFunc(known, func(n scans.RecordedName) bool { return n.InfraID == s.Name }) {
		return true, "by its exact name"
	}
	return false, "it is no namespace with a recorded name, and in none; remove it by hand"
}

func recordCovered(of names.Scope, s contract.SeenResource) (removed bool, why string) {
	name := strings.TrimSuffix(strings.ReplaceAll(s.Name, `\052`, "*"), ".")
	if slices.Contains(records(of), name) {
		return true, "a DNS record of this exact name, unless it points to somebody else"
	}
	return false, "it is no record that the teardown deletes by name"
}
