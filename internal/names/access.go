package names

// AccessNamespace is the namespace in a cluster that holds one service account for each reader's access.
const AccessNamespace = "ocpctl-access"

// EditLabel is the label of a namespace in a cluster that says whether readers with the role edit have it there: "true" or "false". Without
// it they have not.
const EditLabel = "ocpctl.io/edit"

// AccessUser is what a cluster calls the user of an access: the subject of its token, and the name in the cluster's own audit
// (k8s.io/apiserver pkg/authentication/serviceaccount).
func AccessUser(account string) string { return AccessUserOn(AccessNamespace, account) }

// AccessUserOn is AccessUser on a hub, whose accounts are in the cluster's own namespace.
func AccessUserOn(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}

// ConsoleProvider is the name of the identity provider in a cluster that has the accounts of its console. People see it when they sign in.
const ConsoleProvider = "ocpctl"

// OpenIDProvider is the name of the identity provider by which a cluster signs readers in through the server.
const OpenIDProvider = "ocpctl-sso"
