package chatops

import (
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Deployment is a cluster as a deployment of its commit: its texts, and its state in GitHub's terms.
type Deployment struct {
	Environment    string // ocpctl/<profile>, see EnvironmentPrefix
	Task           string // which cluster of the environment: ocpctl:<name>
	State          string // queued, in_progress, success, failure, error or inactive
	Description    string // at most 140 characters
	EnvironmentURL string // of the first of its links, or opens the console; empty while nobody can open it
	LogURL         string // the cluster's page; empty: there is none
}

// EnvironmentPrefix begins the names of the environments that clusters are deployments of; the rest is the profile. GitHub keeps an
// environment for ever once a deployment named it, so clusters share them. Jobs that wait for a cluster name ocp/<profile>: that one
// has an administrator's protection rules, and deployments of clusters never belong to it.
const EnvironmentPrefix = "ocpctl/"

// taskPrefix begins the tasks of the deployments of clusters. A task is not "deploy", because that would start workflows that wait for
// such deployments.
const taskPrefix = "ocpctl:"

// maxDescription is how many characters GitHub accepts.
const maxDescription = 140

// DeploymentOf renders the deployment of a cluster. Like Comment it depends only on the card. It shows phases but no progress within
// them: every status stays in the deployment's history and uses the budget of writes.
//
// The end of a cluster that nobody uses moves with each use, and is told as a rule, not as a time: a time would soon differ from the comment's.
func DeploymentOf(card lifecycle.Card, links Links) Deployment {
	card.Ends.Idle = time.Time{}
	d := Deployment{Environment: EnvironmentPrefix + card.Profile, Task: taskPrefix + card.Name, State: deploymentState(card), LogURL: address(card, links)}
	text := card.Name + " " + faceOf(card).head
	switch {
	case card.Status == lifecycle.Ready && card.Phase != lifecycle.PhaseReady:
		text += " (ends " + moment(card.End(), life(card)) + idleEndText(card) + ")"
	case card.Status == lifecycle.Ready:
		text += " until " + moment(card.End(), life(card)) + idleEndText(card)
	case card.NeverReady() && card.FailMessage != "":
		text += ": " + card.FailMessage
	case isEnding(card) && !wasReady(card) && !card.DesiredWhy.IsZero():
		text = card.Name + " ended before it was ready: " + card.DesiredWhy.String()
	case isEnding(card):
		text = card.Name + " has ended; its comment says when everything is removed"
	}
	d.Description = cut(oneLine(text), maxDescription)
	d.EnvironmentURL = consolePage(card, links)
	if apps := card.LinksNow(); len(apps) > 0 {
		d.EnvironmentURL = apps[0].URL
	}
	return d
}

// idleEndText says after an end that the cluster ends earlier if nobody uses it; empty: it does not.
func idleEndText(c lifecycle.Card) string {
	if c.Idle.EndAfter == 0 {
		return ""
	}
	return ", or when nobody has used it for " + duration.Format(c.Idle.EndAfter)
}

// isEnding reports whether a cluster is being destroyed or is destroyed. The deployment is inactive in both cases, so a second status
// would add nothing.
func isEnding(c lifecycle.Card) bool {
	return c.Status == lifecycle.Destroying || c.Status == lifecycle.Destroyed
}

// deploymentState maps a cluster to a deployment's state. A blocked teardown is an error: failure would mean that it was never up. A
// destroyed cluster is inactive, whatever ended it.
func deploymentState(c lifecycle.Card) string {
	switch {
	case c.Phase == lifecycle.DestroyBlocked, c.Phase == lifecycle.Abandoned:
		return "error"
	case c.Status == lifecycle.Failed:
		return "failure"
	case c.Status == lifecycle.Pending && isWanted(c):
		return "queued"
	case c.Status == lifecycle.Creating, c.AwaitsPreparing() && isWanted(c):
		return "in_progress"
	case c.Status == lifecycle.Ready && isWanted(c):
		return "success"
	}
	return "inactive"
}
