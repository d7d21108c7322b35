package slack

import "github.com/ocpctl/ocpctl/chatops/slack/inbound"

// formErrors returns what is wrong in a form by its syntax alone, by block_id. It asks nobody.
func formErrors(inbound.View) map[string]string { return nil }
