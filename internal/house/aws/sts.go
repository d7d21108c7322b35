package aws

var stsCalls = map[string]handler{
	"GetCallerIdentity": func(c *call) ([]node, error) {
		return []node{el("Arn", c.who.arn), el("UserId", c.who.userID), el("Account", c.Account)}, nil
	},
}
