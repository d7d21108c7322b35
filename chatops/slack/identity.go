package slack

import (
	"context"
	"strings"
)

// Identity is who the bot is, and what it may do.
type Identity struct {
	Workspace     string // id
	WorkspaceName string
	Org           string // the Enterprise Grid organization, E…; empty: none
	Bot           string // user name
	Scopes        []string
}

// Identity asks Slack whose token this is.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	got, err := c.api.AuthTestContext(ctx)
	if err != nil {
		return Identity{}, explainError("ask Slack who we are", err)
	}
	id := Identity{Workspace: got.TeamID, WorkspaceName: got.Team, Org: got.EnterpriseID, Bot: got.User}
	for scope := range strings.SplitSeq(got.Header.Get("X-OAuth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			id.Scopes = append(id.Scopes, scope)
		}
	}
	return id, nil
}
