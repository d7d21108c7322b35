package chatops

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// The types of the repository_dispatch by which a pipeline is told.
const (
	DispatchReady  = "ocpctl_cluster_ready"
	DispatchFailed = "ocpctl_cluster_failed"
)

// Signalled is what a signal is about, beside the cluster.
type Signalled struct {
	ID   string // of the signal
	SHA  string // the commit for which the cluster was asked for
	Page string // of the run that asked
}

// SignalPayload is the client_payload of a repository_dispatch: ids and addresses, and no secret. GitHub takes at most ten fields.
func SignalPayload(card lifecycle.Card, state lifecycle.SignalState, s Signalled, links Links) map[string]string {
	return map[string]string{
		"signal_id": s.ID, "cluster_id": card.ID, "name": card.Name, "profile": card.Profile, "reason": signalReason(card, state),
		"url": address(card, links), "api_url": card.APIURL, "console_url": card.ConsoleURL, "sha": s.SHA, "run_url": s.Page,
	}
}

// signalReason says why a cluster will not become ready; empty: it is.
func signalReason(card lifecycle.Card, state lifecycle.SignalState) string {
	switch {
	case state != lifecycle.SignalFailed:
		return ""
	case card.NeverReady() && card.FailMessage != "":
		return cut(oneLine(sentence(card.FailMessage)), maxPlain)
	}
	text, why := "it was destroyed before it was ready", ": "+card.DesiredWhy.String()
	if !card.ReadyAt.IsZero() {
		text = "it was destroyed before its pipeline could be told that it was ready"
	}
	if r := card.DesiredWhy; r.Code == lifecycle.ReasonAsked && r.Words == "" && r.Via == "" {
		why = ", because " + r.By + " asked for that"
	}
	return cut(oneLine(sentence(text+why)), maxPlain)
}

// SignalDeployment renders a cluster as the deployment of the run that asked for it. A run has few states of it, because every status
// starts the workflows that wait for statuses.
func SignalDeployment(card lifecycle.Card, state lifecycle.SignalState, links Links) Deployment {
	d := DeploymentOf(card, links)
	switch state {
	case lifecycle.SignalBegun:
		d.State, d.Description = "in_progress", cut(card.Name+" is being created", maxDescription)
	case lifecycle.SignalReady:
		d.State = "success"
	case lifecycle.SignalFailed:
		d.State, d.Description = "failure", cut(oneLine(card.Name+" will not be ready: "+signalReason(card, state)), maxDescription)
	case lifecycle.SignalEnded:
		d.State, d.Description = "inactive", cut(card.Name+" has ended", maxDescription)
	}
	return d
}

// SignalText says how a pipeline is told what becomes of a cluster, and what it was told; empty: none asked.
func SignalText(g lifecycle.Signal) string {
	switch told := map[lifecycle.SignalState]string{
		lifecycle.SignalBegun: "that it is being created", lifecycle.SignalReady: "that it is ready", lifecycle.SignalFailed: "that it will not be ready", lifecycle.SignalEnded: "that it is gone",
	}[g.Told]; {
	case g.Kind == "":
		return ""
	case g.Problem != "":
		return "Its pipeline cannot be told when it is ready. " + g.Problem
	case told == "":
		return fmt.Sprintf("A %s tells its pipeline when it is ready.", g.Kind)
	default:
		return fmt.Sprintf("A %s told its pipeline %s.", g.Kind, told)
	}
}

// untold says in Markdown why a pipeline cannot be told what became of a cluster; empty: nothing is wrong.
func untold(card lifecycle.Card) string {
	if card.Signal.Problem == "" {
		return ""
	}
	return "⚠️ " + plain(SignalText(card.Signal))
}

// Saved says for how long no runner waited; empty: one did, or the cluster is not ready.
func Saved(card lifecycle.Card) string {
	saved := card.SavedTime().Round(time.Second)
	if saved < time.Second || card.Status != lifecycle.Ready {
		return ""
	}
	return fmt.Sprintf("No runner waited for it: %s saved.", duration.Format(saved))
}
