package aws

import "cmp"

var stsCalls = map[string]handler{
	"GetCallerIdentity": func(c *call) ([]node, error) {
		return []node{el("Arn", c.who.arn), el("UserId", c.who.userID), el("Account", cmp.Or(c.who.account, c.Account))}, nil
	},
}
