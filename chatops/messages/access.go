package messages

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
)

// CannotGiveAccess is the answer to a request for a kubeconfig with problems; they follow.
const CannotGiveAccess = "The kubeconfig cannot be made."

// AccessCommand is the command that gives a kubeconfig or an account of the console, in chats or on the command line.
func AccessCommand(console, inChat bool) string {
	switch {
	case !console:
		return "kubeconfig"
	case inChat:
		return "console"
	}
	return "open"
}

// UnknownClusterRole is the problem with a role that does not exist in a cluster.
func UnknownClusterRole(role string) Problem {
	return Problem{fmt.Sprintf("%q is not a role in a cluster", role), clusterRoles()}
}

func clusterRoles() (names []string) {
	for _, role := range policy.ClusterRoles {
		names = append(names, string(role))
	}
	return names
}

// asRole says with which role a cluster is shared; empty: only to see it.
func asRole(role policy.ClusterRole) string {
	if role == "" {
		return ""
	}
	return fmt.Sprintf(" for use with the role %s", role)
}

// LifetimeOutOfBounds is the problem with a lifetime of a kubeconfig that is too short or too long.
func LifetimeOutOfBounds(asked, least, most time.Duration) Problem {
	return Problem{fmt.Sprintf("%s is out of bounds", duration.Format(asked)), []string{duration.Format(least) + " to " + duration.Format(most)}}
}

// AccessKind names a kubeconfig, or an account of the console.
func AccessKind(console bool) string {
	if console {
		return "console account"
	}
	return "kubeconfig"
}

// AccessBeingMade tells somebody that their kubeconfig, or their account of the console, will be there soon.
func AccessBeingMade(name string, console bool) string {
	if console {
		return fmt.Sprintf("Your console account of %s is being made. The cluster's login takes up to three minutes to learn of it. Then try again.", name)
	}
	return fmt.Sprintf("Your kubeconfig of %s is being made. Try again in a few seconds.", name)
}

// BreakGlassSecret names the credential that an approval of this kind is for; empty: it is for none.
func BreakGlassSecret(approval string) string {
	return map[string]string{"kubeadmin": "kubeadmin password", "kubeconfig": "installer's kubeconfig"}[approval]
}
