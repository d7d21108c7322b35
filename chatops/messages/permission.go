package messages

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// NoRole tells somebody who is signed in that they have no role.
const NoRole = "You are signed in but have no role: no identity of the catalogue matches your account. " +
	"Ask a platform admin for a role in your team."

// NoRoleOnTarget tells a workflow that pull_request_target triggered that it has no role, and why.
const NoRoleOnTarget = "This workflow was triggered by pull_request_target, which anybody who opens a pull request can do, and it often runs their code with " +
	"the repository's rights. No identity of the catalogue names that event for it, so it has no role. Use on: pull_request instead, or ask a platform admin " +
	"for an identity with event_name: [pull_request_target] if the workflow never runs what the pull request brings."

// NoRoleByReusedName tells a job that it has no role because names in its token belong to other numbers.
func NoRoleByReusedName(names []policy.JobName) string {
	var texts []string
	for _, n := range names {
		texts = append(texts, fmt.Sprintf("%s %s (number %s)", n.Kind, n.Name, cmp.Or(n.Number, "unknown")))
	}
	return "No identity of the catalogue matches this job by these names of its token, because they belonged to others before: " + strings.Join(texts, ", ") +
		". If this is right, ask a platform admin for an identity that matches the number, for example repository_id."
}

// NoRoleOnSlack tells a Slack user that their account has no role, and how to get one.
const NoRoleOnSlack = "This Slack account has no role. Link it with `/ocp link`: open the link and sign in. You then have the same rights here as there, " +
	"until a week after your last sign-in. If you have no role there either, ask a platform admin for a role in your team."

// What somebody may lack the role for, as NeedsRole and NeedsRoleEverywhere say it.
const (
	ToCreateClusters    = "create clusters"
	ToSeeProfiles       = "see the profiles"
	ToSeeTeams          = "see the teams"
	ToSeeQuotas         = "see the quotas"
	ToSeeCatalogue      = "see the catalogue's state"
	ToReloadCatalogue   = "reload the catalogue"
	ToValidateCatalogue = "validate a catalogue"
	ToReadAudit         = "read the audit trail"
	ToVerifyAudit       = "verify the audit trail"
	ToSeeDeliveries     = "see deliveries"
	ToReplayDelivery    = "replay a delivery"
	ToSeeFindings       = "see findings"
	ToSeeOrphans        = "see orphans"
	ToSeeScans          = "see the looks through cloud accounts"
	ToStartScans        = "have cloud accounts looked through"
	ToReadReports       = "read reports"
	ToCreateLabels      = "create labels in a repository"
	ToSeeStateOfLabels  = "see the state of a label change"
)

// AuditCoversAllTeams tells an auditor of some teams that they cannot verify the whole trail.
const AuditCoversAllTeams = "The audit trail covers all teams, and you may see only some. Ask an auditor of every team."

// NeedsRole tells somebody which role an act needs, and which they have.
func NeedsRole(to string, act policy.Act, own policy.Role) string {
	return fmt.Sprintf("To %s you need the role %s; yours is %s. Ask a platform admin.", to, policy.RoleText(act), own.Text())
}

// NeedsRoleEverywhere tells somebody who has the role in some teams that an act needs it in every team.
func NeedsRoleEverywhere(to string, act policy.Act) string {
	return fmt.Sprintf("To %s you need the role %s in every team, because it concerns all of them; you have it in some. Ask a platform admin of every team.",
		to, policy.RoleText(act))
}

// CheckText says what a check of policy found, and the next step.
func CheckText(c policy.Check) string {
	if c.Next == "" {
		return c.Message
	}
	return c.Message + " " + c.Next
}
