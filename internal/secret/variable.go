package secret

import (
	"slices"
	"strings"
)

// The first and the last parts of the names under which IBM's programs read a credential: IBMCLOUD_APIKEY (IBM's SDK, and the installer sets it for
// its controller), IC_API_KEY, BM_API_KEY and BLUEMIX_API_KEY (openshift-install, ccoctl), IC_IAM_TOKEN (Terraform), IBMCLOUD_CLIENT_SECRET (IBM's SDK).
var (
	ibmPrefixes = []string{"IBMCLOUD_", "IC_", "BM_", "BLUEMIX_"}
	ibmSuffixes = []string{"APIKEY", "API_KEY", "TOKEN", "PASSWORD", "SECRET"}
)

// IBMVariable reports whether the environment variable of this name is a credential of IBM Cloud. No environment of ours contains one: it is a
// reference, and the key is set for the programs of one attempt alone.
func IBMVariable(name string) bool {
	return slices.ContainsFunc(ibmPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) &&
		slices.ContainsFunc(ibmSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
