package orphans

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// What follows an infraID or ccoctl's name in the names that the installer, the cluster's operators and ccoctl give
// (openshift/installer pkg/asset/manifests/aws, pkg/asset/manifests/ibmcloud and data/data/aws; ccoctl's pkg/cmd/provisioning/aws). The names of other clusters
// whose name merely begins the same do not match: theirs goes on with five random characters.
var following = regexp.MustCompile(`^-(bootstrap|master|worker|control-?plane|controlplane|node|lb|apiserver-lb|vpc|igw|int|ext|aint|aext|sint|` +
	`subnet|public|private|nat|eip|natgw|rtb|sg|edge|image-registry|oidc|openshift|instance-profile|security-group|termination-handler|` +
	`worker|cos|rhcos|vsi-image|pgateway|kubernetes-api)([-.]|$)`)

// serviceBalancer is the name of a service's load balancer on IBM Cloud, with the infraID in it (IBM/cloud-provider-ibm).
var serviceBalancer = regexp.MustCompile(`^kube-([a-z0-9][-a-z0-9]*-[a-z0-9]{5})-[0-9a-f]{8,32}$`)

// infraID is the form of an infraID: a name, and five random characters.
var infraID = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*-[a-z0-9]{5}$`)

// infraIDOf returns the infraID from which the installer would have made the resource's name; empty if it would not. Nobody recorded it.
func infraIDOf(r contract.SeenResource) string {
	for _, name := range candidates(r) {
		if infraID.MatchString(name) && name != r.Name && name != tail(r.ID) {
			return name
		}
	}
	return ""
}

// bucketPrefix begins the name of the bucket of the bootstrap's configuration.
const bucketPrefix = "openshift-bootstrap-data-"

// Candidates returns the identities that the names of resources without a mark may be made from. Those that were recorded belong into
// Account.Names.
func Candidates(seen []Resource) []string {
	var all []string
	for _, r := range seen {
		all = append(all, marksOf(r.Tags)...)
		all = append(all, candidates(r.SeenResource)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// candidates returns the beginnings of a resource's name that may be an identity, the longest first.
func candidates(r contract.SeenResource) (found []string) {
	if len(marksOf(r.Tags)) > 0 {
		return nil
	}
	for _, name := range []string{r.Name, tail(r.ID)} {
		if bare, ok := strings.CutPrefix(name, bucketPrefix); ok {
			found = append(found, bare)
			continue
		}
		if balancer := serviceBalancer.FindStringSubmatch(name); balancer != nil {
			found = append(found, balancer[1])
			continue
		}
		if name == "" {
			continue
		}
		found = append(found, name)
		for at := range name {
			if name[at] == '-' && at > 0 && following.MatchString(name[at:]) {
				found = append(found, name[:at])
			}
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(found)
}

// domainOf returns the cluster's domain if the resource is one of the records that the installer or the cluster makes below a base
// domain; else it is empty. Other names that merely end alike are nobody's sign.
func domainOf(r contract.SeenResource, bases []string) string {
	if r.Type != "record" {
		return ""
	}
	name := strings.TrimSuffix(strings.ReplaceAll(r.Name, `\052`, "*"), ".")
	for _, prefix := range []string{"api.", "api-int.", "*.apps."} {
		domain, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		cluster, base, _ := strings.Cut(domain, ".")
		if cluster != "" && slices.Contains(bases, base) {
			return domain
		}
	}
	return ""
}
