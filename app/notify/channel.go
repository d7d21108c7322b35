package notify

import (
	"cmp"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/notices"
)

// Channel is what decides whether somebody may have messages about clusters posted in a channel, as Slack says it now.
type Channel struct {
	HasPerson bool // whoever asks is a member
	Outside   bool // another organization reads it, or was invited to
}

// MayPost refuses a channel that a person may not choose for messages about a team's clusters (empty: about those of every team): one
// that they are not in, and one that is shared with another organization unless they are a platform admin of the team.
func MayPost(p policy.Principal, team string, c Channel) error {
	switch whyNot(p, team, c) {
	case "":
		return nil
	case notices.EndedOutside:
		return app.Fail(app.Denied, "Another organization shares this channel or is invited to it, so only a platform admin may choose it for messages about clusters. Choose a channel of your own organization, or ask a platform admin.")
	}
	return app.Fail(app.Denied, "You are not in this channel, so ocpctl posts nothing there for you. Join it, or ask one of its members to invite you, and try again.")
}

// WhyEnded says why what somebody subscribed a channel to ends, by their roles and what Slack says of the channel now; empty: it goes on.
func WhyEnded(p policy.Principal, team string, c Channel) notices.Ending {
	if !maySee(p, team) {
		return notices.EndedNoRole
	}
	return whyNot(p, team, c)
}

func whyNot(p policy.Principal, team string, c Channel) notices.Ending {
	switch {
	case !c.HasPerson:
		return notices.EndedNotInChannel
	case c.Outside && !p.Has(cmp.Or(team, policy.EveryTeam), policy.PlatformAdmin):
		return notices.EndedOutside
	}
	return ""
}

// maySee reports whether somebody may see a team's clusters; an empty team: those of every team.
func maySee(p policy.Principal, team string) bool {
	return p.May(policy.ActSee, cmp.Or(team, policy.EveryTeam))
}
