package notify

import (
	"cmp"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
)

// Channel is what decides whether somebody may have messages about clusters posted in a channel, as Slack says it now.
type Channel struct {
	HasPerson bool // whoever asks is a member
	Outside   bool // another organization reads it, or was invited to
}

// MayPost refuses a channel that a person may not choose for messages about a team's clusters (empty: about those of every team): one
// that they are not in, and one that is shared with another organization unless they are a platform admin of the team.
func MayPost(p policy.Principal, team string, c Channel) error {
	switch {
	case !c.HasPerson:
		return app.Fail(app.Denied, messages.NotYourChannel)
	case c.Outside && !p.Has(cmp.Or(team, policy.EveryTeam), policy.PlatformAdmin):
		return app.Fail(app.Denied, messages.OutsideChannel)
	}
	return nil
}
