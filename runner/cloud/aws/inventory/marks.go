package inventory

import (
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// infraID is the form of an infraID: at most 21 characters of a cluster's name, a dash and five characters of Kubernetes' alphabet for
// random names, which has no vowels and therefore makes few words (k8s.io/apimachinery/pkg/util/rand).
const infraID = `[a-z](?:[-a-z0-9]{0,19}[a-z0-9])?-[bcdfghjklmnpqrstvwxz2456789]{5}`

// The names that the installer and ccoctl give, and that whatever has lost its tags, or never had any, is recognised by.
var (
	// installerName is what the installer and its providers name after the infraID.
	installerName = regexp.MustCompile(`^` + infraID + `-(?:` + strings.Join([]string{
		"vpc", "subnet", "private", "public", "rt", "rtb", "igw", "nat", "eip", "vpce", "int", "ext", "aint", "aext", "sint", "tg",
		"master", "worker", "bootstrap", "node", "controlplane", "lb", "apiserver-lb", "ami", "image-registry", "openshift",
		"dynamic", "efs", "dhcpoptions", "cos",
	}, "|") + `)(?:-.*)?$`)
	// bootstrapBucket holds the bootstrap ignition, which is full of secrets.
	bootstrapBucket = regexp.MustCompile(`^openshift-bootstrap-data-` + infraID + `$`)
	// ccoctl names a bucket <name>-oidc, a provider by the bucket's address, and roles <name>-<namespace of an operator>-<secret>.
	oidcBucket   = regexp.MustCompile(`^[a-z0-9][-.a-z0-9]*-oidc$`)
	oidcProvider = regexp.MustCompile(`:oidc-provider/[a-z0-9][-.a-z0-9]*-oidc\.s3\.`)
	operatorRole = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*-openshift-[a-z]`)
)

// installerComment is the comment of the private zone that the installer makes in one call and tags in the next.
const installerComment = "Created by Openshift Installer"

// isNamed reports that a name, not a tag, says that something may belong to a cluster.
func isNamed(name string) bool { return installerName.MatchString(name) }

// isTagged reports that a tag says so.
func isTagged(tags map[string]string) bool {
	for key, value := range tags {
		if tagkey.OfCluster(key, value) {
			return true
		}
	}
	return false
}

// bucketNamed reports that the installer, an image registry or ccoctl may have made a bucket of this name.
func bucketNamed(name string) bool {
	return isNamed(name) || bootstrapBucket.MatchString(name) || oidcBucket.MatchString(name)
}

// clusterOf returns the name of the cluster that a DNS name belongs to, which is one label below the base domain; empty: none.
func clusterOf(name, baseDomain string) string {
	label, below := strings.CutSuffix(name, "."+baseDomain)
	if !below || strings.Contains(label, ".") {
		return ""
	}
	return label
}

// recordOf reports that the installer makes a record of this name for some cluster below the base domain: api, api-int and *.apps.
func recordOf(name, baseDomain string) bool {
	for _, host := range []string{"api.", "api-int.", `\052.apps.`, "*.apps."} {
		if rest, ok := strings.CutPrefix(name, host); ok && clusterOf(rest, baseDomain) != "" {
			return true
		}
	}
	return false
}
