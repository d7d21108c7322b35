package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// NotYourApproval tells somebody that their role in the team cannot approve, and whose can.
func NotYourApproval(voters []policy.Role, team string, p policy.Principal) string {
	return fmt.Sprintf("Only %s of team %s can approve this. %s. Ask one of them.", votersText(voters), team, p.OwnRole(team))
}

// votersText names the roles whose votes count.
func votersText(voters []policy.Role) string {
	roles := make([]string, 0, len(voters))
	for _, r := range voters {
		roles = append(roles, r.WithArticle())
	}
	return strings.Join(roles, " or ")
}

// OwnRequest tells a requester that they cannot approve their own request, and who can.
func OwnRequest(needs int, voters []policy.Role, team string) string {
	if needs == 1 {
		return fmt.Sprintf("You requested this yourself, so somebody else has to approve it. Ask %s of team %s.", votersText(voters), team)
	}
	return fmt.Sprintf("You requested this yourself; it needs the approval of %d others.", needs)
}
