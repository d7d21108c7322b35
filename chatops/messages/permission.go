package messages

import (
	"github.com/ocpctl/ocpctl/policy"
)

// NoRoleOnSlack tells a Slack user that their account has no role, and how to get one.
const NoRoleOnSlack = "This Slack account has no role. Link it with `/ocp link`: open the link and sign in. Your roles on the web then apply in Slack, too. " +
	"Sign in at least once a week to keep the link. If you have no role on the web either, ask a platform admin for a role in your team."

// What somebody may lack the role for, as NeedsRole and NeedsRoleEverywhere say it.
const (
	ToCreateClusters = "create clusters"
	ToSeeDeliveries  = "see deliveries"
	ToSeeOrphans     = "see orphans"
	ToReadReports    = "read reports"
)

// CheckText says what a check of policy found, and the next step.
func CheckText(c policy.Check) string {
	if c.Next == "" {
		return c.Message
	}
	return c.Message + " " + c.Next
}
