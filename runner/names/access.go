package names

// AccessNamespace is the namespace in a cluster that holds one service account for each reader's access.
const AccessNamespace = "ocpctl-access"

// AccessUser is what a cluster calls the user of an access: the subject of its token, and the name in the cluster's own audit
// (k8s.io/apiserver pkg/authentication/serviceaccount).
func AccessUser(account string) string {
	return "system:serviceaccount:" + AccessNamespace + ":" + account
}
