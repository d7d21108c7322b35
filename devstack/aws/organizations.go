package aws

import (
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Organization is the organisation of the stand-in's accounts.
const Organization = "o-demo1234ab"

var organizationCalls = map[string]handler{
	"DescribeAccount": func(c *call) ([]node, error) {
		var in struct{ AccountId string }
		must.Do(c.decode(&in))
		must.EndIf(in.AccountId != c.server.cfg.Account && !slices.Contains(c.server.cfg.Members, in.AccountId),
			fault("AccountNotFoundException", "You specified an account that doesn't exist."))
		c.json = map[string]any{"Account": map[string]any{
			"Id": in.AccountId, "Name": "demo", "Email": "aws@acme.example", "Status": "ACTIVE", "JoinedMethod": "CREATED",
			"Arn": "arn:aws:organizations::" + c.server.cfg.Account + ":account/" + Organization + "/" + in.AccountId,
		}}
		return nil, nil
	},
}
