package messages

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
)

// CannotGiveAccess is the answer to a request for a kubeconfig with problems; they follow.
const CannotGiveAccess = "The kubeconfig cannot be made."

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

// RoleNeedsUse is the problem with a role in a share that only shows a cluster.
var RoleNeedsUse = Problem{"a share that only shows the cluster has no role in it", []string{"no role", "access use"}}

// LifetimeUnreadable is the problem with a lifetime of a kubeconfig that is no duration.
func LifetimeUnreadable(text string) Problem {
	return Problem{fmt.Sprintf("%.40q is not a duration", text), []string{"8h", "90m"}}
}

// LifetimeOutOfBounds is the problem with a lifetime of a kubeconfig that is too short or too long.
func LifetimeOutOfBounds(asked, least, most time.Duration) Problem {
	return Problem{fmt.Sprintf("%s is out of bounds", policy.Span(asked)), []string{policy.Span(least) + " to " + policy.Span(most)}}
}

// AccessBeingMade tells somebody that their kubeconfig will be there soon.
func AccessBeingMade(name string) string {
	return fmt.Sprintf("Your kubeconfig of %s is being made, which takes a few seconds. Try again then; nothing is used up.", name)
}

// AccessNotMade tells somebody that their kubeconfig could not be made, and why.
func AccessNotMade(name, why string) string {
	if why == "" {
		why = "the runner did not say why"
	}
	return fmt.Sprintf("The kubeconfig of %s could not be made: %s. Try again in ten minutes, or now with renew; if it happens again, ask a platform admin "+
		"to look at the cluster's newest ACCESS job.", name, why)
}

// AccessEnded tells somebody that what a link was for has ended.
func AccessEnded(name string) string {
	return fmt.Sprintf("The kubeconfig of %s that this link is for was revoked, or its time is over. Request a new one.", name)
}

// TooManyAccesses tells somebody that they have as many kubeconfigs of a cluster as anybody may.
func TooManyAccesses(name string, most int) string {
	return fmt.Sprintf("You have %d valid kubeconfigs of %s, and nobody may have more. Use one of them, or revoke one: ocpctl access list %s.", most, name, name)
}

// NoAccess tells somebody that the access that they want to revoke does not exist.
func NoAccess(name, id string) string {
	return fmt.Sprintf("%s has no access %.40q. To see who has access: ocpctl access list %s.", name, id, name)
}

// BecauseRevoked is the reason of somebody who revokes an access and gives none.
func BecauseRevoked(name string) string { return name + " revoked it" }

// AccessWithheld tells somebody that the stored kubeconfig is not the one that was to be made for them, why, and whom to ask.
func AccessWithheld(name string, why error) string {
	return fmt.Sprintf("The stored kubeconfig of %s is not the one that was to be made for you (%v) and is withheld. Ask a platform admin to check "+
		"the cluster's newest ACCESS job and its runner.", name, why)
}

// BreakGlassSecret names the credential that an approval of this kind is for; empty: it is for none.
func BreakGlassSecret(approval string) string {
	return map[string]string{"kubeadmin": "kubeadmin password", "kubeconfig": "installer's kubeconfig"}[approval]
}

// InstallersUnavailable tells an admin that one of the installer's credentials cannot be requested now.
func InstallersUnavailable(name, approval string) string {
	return fmt.Sprintf("The %s of %s cannot be requested now: another request is pending, or none is stored. "+
		"The list of approvals shows pending requests.", BreakGlassSecret(approval), name)
}

// InstallersUnapproved tells an admin that nobody approved their access to one of the installer's credentials.
func InstallersUnapproved(name, approval string) string {
	return fmt.Sprintf("You have no valid approval for the %s of %s. Request one with break-glass, and wait "+
		"until another platform admin approves it.", BreakGlassSecret(approval), name)
}

// UnknownBreakGlass is the problem with a credential that break-glass does not give.
func UnknownBreakGlass(what string, known ...string) Problem {
	return Problem{fmt.Sprintf("%q cannot be requested", what), known}
}

// Until says until when a kubeconfig is valid.
func Until(at time.Time) string { return "valid until " + chatops.Time(at) }
