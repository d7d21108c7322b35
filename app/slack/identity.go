package slack

import (
	"context"

	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// who returns who acts in Slack. A user's id never changes hands, so it is also the account's number.
func (s *Service) who(ctx context.Context, r inbound.Request) (policy.Principal, error) {
	return s.core.ExternalPrincipal(ctx, policy.Claims{
		Source: profiles.SourceSlack, Subject: subject(r), Name: r.Name,
		Values: map[string][]string{"user": {r.User}, "workspace": {r.Workspace}, "channel": {r.Channel}},
	}, r.User, policy.SourceSlack)
}

func subject(r inbound.Request) string { return r.Workspace + "/" + r.User }
