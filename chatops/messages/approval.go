package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
)

// NoApproval tells somebody that an id means no approval that they may see.
func NoApproval(id string) string {
	return fmt.Sprintf("There is no approval %s that you may see. The list of approvals shows yours.", id)
}

// The answers to a vote that came too late.
const (
	ApprovalVoid    = "The pull request has a newer commit, so this approval is void. The list of approvals shows the one for the newest commit."
	ApprovalDecided = "This approval is no longer pending, or you have already voted."
)

// NotYourApproval tells somebody that their role in the team cannot approve, and whose can.
func NotYourApproval(voters []policy.Role, team string, p policy.Principal) string {
	return fmt.Sprintf("Only %s of team %s can approve this; %s. Ask one of them.", votersText(voters), team, p.OwnRole(team))
}

// votersText names the roles whose votes count.
func votersText(voters []policy.Role) string {
	roles := make([]string, 0, len(voters))
	for _, r := range voters {
		roles = append(roles, "a "+r.Text())
	}
	return strings.Join(roles, " or ")
}

// ApprovalOver tells somebody that an approval is no longer pending, and why if that is known.
func ApprovalOver(state, why string) string {
	if why != "" {
		why = " (" + why + ")"
	}
	return fmt.Sprintf("This approval is %s%s and no longer pending.", state, why)
}

// VotedAlready tells a voter that they have voted, and how many votes are missing.
func VotedAlready(votes, needs int) string {
	return fmt.Sprintf("You have already voted. It has %d of the %d votes it needs.", votes, needs)
}

// OpensControlPlane tells an admin of some teams that they cannot approve access to a cluster that holds the control plane's keys.
func OpensControlPlane(cluster string) string {
	return fmt.Sprintf("The credentials of %s give access to the control plane's own cloud keys, and you may not use them yourself. "+
		"Only a platform admin of every team can approve this. Ask one of them.", cluster)
}

// OwnBreakGlass tells a requester of a credential that the installer made that they cannot approve it themselves.
const OwnBreakGlass = "You requested this yourself, so another platform admin has to approve it."

// OwnRequest tells a requester that they cannot approve their own request, and who can.
func OwnRequest(needs int, voters []policy.Role, team string) string {
	if needs == 1 {
		return fmt.Sprintf("You requested this yourself, so somebody else has to approve it. Ask %s of team %s.", votersText(voters), team)
	}
	return fmt.Sprintf("You requested this yourself; it needs the approval of %d others.", needs)
}

// NoApprovalOf tells a Slack user that nothing waits for approval under a reference.
func NoApprovalOf(ref string) string {
	return chatops.Code(ref) + " has no pending approval. `/ocp approvals` lists all that are pending."
}
