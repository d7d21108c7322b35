package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/duration"
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

// LifetimeOutOfBounds is the problem with a lifetime of a kubeconfig that is too short or too long.
func LifetimeOutOfBounds(asked, least, most time.Duration) Problem {
	return Problem{fmt.Sprintf("%s is out of bounds", duration.Format(asked)), []string{duration.Format(least) + " to " + duration.Format(most)}}
}

// AccessBeingMade tells somebody that their kubeconfig will be there soon.
func AccessBeingMade(name string) string {
	return fmt.Sprintf("Your kubeconfig of %s is being made. Try again in a few seconds.", name)
}

// LinkNotReady tells somebody who follows a link to their kubeconfig that it will be there soon.
func LinkNotReady(name string) string { return AccessBeingMade(name) + " Your link still works." }

// AccessNotMade tells somebody that their kubeconfig could not be made, and why.
func AccessNotMade(name, why string) string {
	if why == "" {
		why = "the runner did not say why"
	}
	return fmt.Sprintf("The kubeconfig of %[1]s could not be made: %[2]s. Try again in ten minutes, or now with `ocpctl kubeconfig %[1]s --renew`. "+
		"If it fails again, ask a platform admin to look at the newest ACCESS job of %[1]s.", name, strings.TrimSuffix(why, "."))
}

// AccessEnded tells somebody that what a link was for has ended.
func AccessEnded(name string) string {
	return fmt.Sprintf("The kubeconfig of %s that this link is for was revoked, or its time is over. Request a new one.", name)
}

// TooManyKubeconfigs tells somebody that there are as many valid kubeconfigs of a cluster as there may be: of their own, of all jobs of their
// run (of is "run"), or of all readers ("cluster"). job: a job of a pipeline asks.
func TooManyKubeconfigs(name, of string, most int, job bool) string {
	have := fmt.Sprintf("You have %d valid kubeconfigs of %s, and nobody may have more.", most, name)
	switch {
	case of == "cluster":
		have = fmt.Sprintf("%s has %d valid kubeconfigs, and no cluster may have more.", name, most)
	case of == "run":
		have = fmt.Sprintf("The jobs of this run have %d valid kubeconfigs of %s, and no run may have more.", most, name)
	case job:
		have = fmt.Sprintf("This job has %d valid kubeconfigs of %s, and no job may have more.", most, name)
	}
	if job {
		return have + " Ask for one kubeconfig in each job and keep its file for all steps, without --renew. Kubeconfigs end with their jobs; --lifetime makes them end earlier."
	}
	return have + fmt.Sprintf(" Use one of them, or revoke one: ocpctl access list %s.", name)
}

// AskedTooOften tells somebody that they asked for too many kubeconfigs within an hour.
func AskedTooOften(name string, most int, later time.Duration, job bool) string {
	use := "Use the last one that you got."
	if job {
		use = "Ask for one kubeconfig in each job and keep its file for all steps, without --renew."
	}
	return fmt.Sprintf("You asked for %d kubeconfigs of %s within an hour, and nobody may ask for more. %s Try again in %s.", most, name, use, duration.Format(max(later.Round(time.Minute), time.Minute)))
}

// RightChanges tells somebody that who may use a cluster is being changed.
func RightChanges(name string) string {
	return fmt.Sprintf("Who may use %s is being changed at this moment. Try again.", name)
}

// NoAccess tells somebody that the access that they want to revoke does not exist.
func NoAccess(name, id string) string {
	return fmt.Sprintf("%s has no kubeconfig %.40q. To see who has access: ocpctl access list %s.", name, id, name)
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

// CannotBreakGlass is the answer to a request for one of the installer's credentials with problems; they follow.
const CannotBreakGlass = "The credential cannot be requested."

// InstallersUnavailable tells an admin why one of the installer's credentials cannot be requested now: there is none, or somebody else asked.
func InstallersUnavailable(name, approval string, stored bool) string {
	what := BreakGlassSecret(approval)
	if !stored {
		return fmt.Sprintf("The %s of %s cannot be requested: none is stored. The installer stores it when the cluster is up.", what, name)
	}
	return fmt.Sprintf("The %s of %s cannot be requested now: somebody else's request for it is pending. The list of approvals shows it. Try again when it is decided.", what, name)
}

// InstallersUnapproved tells an admin that nobody approved their access to one of the installer's credentials.
func InstallersUnapproved(name, approval string) string {
	return fmt.Sprintf("You have no valid approval for the %s of %s. Request one with break-glass, and wait "+
		"until a platform admin other than you approves it.", BreakGlassSecret(approval), name)
}

// UnknownBreakGlass is the problem with a credential that break-glass does not give.
func UnknownBreakGlass(what string, known ...string) Problem {
	return Problem{fmt.Sprintf("%q cannot be requested", what), known}
}

// Until says until when a kubeconfig is valid.
func Until(at time.Time) string { return "valid until " + chatops.Time(at) }
