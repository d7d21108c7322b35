package chatops

import (
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// owners says who has to act after a failure, depending on whose problem the runner reported.
var owners = map[string]string{
	"user":      "you",
	"quota":     "the owners of the cloud account: its limits have to be raised",
	"cloud":     "nobody: the cloud has a problem, and waiting helps",
	"installer": "the platform team: the installer or this release is at fault",
	"ocpctl":    "the platform team",
}

// Turn says who has to act while something is wrong, and what to do; both are empty while nothing is. The reason of a failed create
// comes from the runner, except for one that the server sets: a lost runner.
func Turn(c lifecycle.Card) (whose, next string) {
	again := "Ask again with " + Prefix + " create " + c.Profile + "."
	if c.WasReplaced() {
		again = "Nothing: " + Code(c.ReplacedBy) + " replaces it."
	}
	switch {
	case c.Phase == lifecycle.DestroyBlocked && c.StuckNext != "" && c.StuckWhose != "":
		return owners[c.StuckWhose], sentence(strings.TrimSpace(c.StuckNext)) + " The next attempt starts by itself."
	case c.Phase == lifecycle.DestroyBlocked && len(c.Blockers) == 0:
		return "the platform team", "Fix what the reason names. The next attempt starts by itself."
	case c.Phase == lifecycle.DestroyBlocked:
		return "the platform team", "Remove what is listed, or its protection. The next attempt starts by itself."
	case c.Phase == lifecycle.Abandoned:
		return "nobody: an admin abandoned it", "Remove what is listed. The teardown is tried again until nothing is left."
	case !c.NeverReady():
		return "", ""
	case c.FailReason == string(lifecycle.Lost) && c.FailNext == "":
		return "nobody: a runner was lost, which can happen", again
	}
	whose, next = owners[c.FailWhose], strings.TrimSpace(c.FailNext)
	if whose == "" {
		whose = "you: ask again; if it repeats, the platform team"
	}
	if next == "" {
		next = again + " The log on the cluster's page has the details."
	}
	return whose, sentence(next)
}

// TellsFailure reports that how the cluster failed is shown beside its reasons, so that they need not tell it again.
func TellsFailure(c lifecycle.Card) bool { return c.FailMessage != "" && c.NeverReady() }

// Brief is the reason of the cluster's last move, for use beside its failure.
func Brief(c lifecycle.Card) string {
	if TellsFailure(c) {
		return c.Why.WithoutFailure().String()
	}
	return c.Why.String()
}

// BriefCondition is the message of a condition of the cluster, for use beside its failure. That of Ready is the reason of the last move.
func BriefCondition(c lifecycle.Card, kind, message string) string {
	if kind == "Ready" {
		return Brief(c)
	}
	return message
}

// BriefEnd is why the cluster ends, for use beside its failure.
func BriefEnd(c lifecycle.Card) string {
	if TellsFailure(c) {
		return c.DesiredWhy.WithoutFailure().String()
	}
	return c.DesiredWhy.String()
}

// Runbook is the path of the runbook for the cluster's problem, below Links.UI; empty: there is none.
func Runbook(c lifecycle.Card) string {
	switch {
	case c.Phase == lifecycle.DestroyBlocked:
		return "/runbooks/destroy-blocked"
	case c.Phase == lifecycle.Abandoned:
		return "/runbooks/destroy-blocked#abandon"
	case c.NeverReady() && anchor.MatchString(c.FailReason):
		return "/runbooks/failed-create#" + strings.ToLower(c.FailReason)
	case c.NeverReady():
		return "/runbooks/failed-create"
	}
	return ""
}
