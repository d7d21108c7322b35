package blocks

import (
	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// HomeView is what a person sees in the app's Home tab.
type HomeView struct {
	Name       string // of the person
	Linked     bool   // who they are in ocpctl is known
	LinkHint   string // what to do if it is not, in GitHub's Markdown
	Mine, Team []lifecycle.Card
	More       bool // there are more clusters than shown
	Approvals  []chatops.Waiting
	Allowances []Allowance
	Acts       map[string][]chatops.Verb // which buttons this person may press, by cluster id
	Links      chatops.Links
}

// Allowance is a quota or budget: how much of it is used and left.
type Allowance struct{ Name, Used, Limit, Left string }

// Home is the app's Home tab.
func Home(v HomeView) api.HomeTabViewRequest {
	text := api.NewTextBlockObject(api.PlainTextType, "ocpctl", false, false)
	return api.HomeTabViewRequest{Type: api.VTHomeTab, Blocks: api.Blocks{BlockSet: []api.Block{api.NewHeaderBlock(text)}}}
}
