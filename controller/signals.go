package controller

import (
	"context"
	"fmt"
	"strings"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// tellSignal tells a pipeline what its cluster has become by now. Several effects of one signal are worked one after the other. Only the newest
// tells, so that what GitHub refuses is tried by one of them, for as long as that one is tried.
func (c *Controller) tellSignal(ctx context.Context, e clusters.Effect) (note string, err error) {
	return c.oneAtATime(ctx, "signal "+e.Content, func(ctx context.Context) (string, error) {
		g, err := c.Store.Runs.Signal(ctx, e.Content)
		if err != nil {
			return "", err
		}
		if newer, err := c.Store.Outbox.HasNewer(ctx, e); err != nil || newer {
			return "left to a newer change of the same signal", err
		}
		return c.tell(ctx, e, g)
	})
}

// signalRefused records why a signal cannot be told.
func (c *Controller) signalRefused(ctx context.Context, signal string, why error) error {
	g, err := c.Store.Runs.Signal(ctx, signal)
	if err != nil {
		return err
	}
	return c.Store.Runs.NotTold(ctx, g, saySignalRefused(string(g.Kind), g.Kind == lifecycle.SignalDispatch, why))
}

func (c *Controller) tell(ctx context.Context, e clusters.Effect, g runs.Signal) (note string, err error) {
	row, err := c.Store.Cluster(ctx, g.Cluster)
	if err != nil {
		return "", err
	}
	state := lifecycle.SignalOf(row.Cluster)
	if g.Told == state {
		return "told before", nil
	}
	deploys := g.Kind == lifecycle.SignalDeployment
	if g.Head == "" || deploys && ofPull(g.Event) {
		var fork bool
		if g.Head, fork, err = c.commitOf(ctx, e, g.RunID, g.RunKey, g.Event, g.Claimed); err != nil {
			return "", err
		}
		if fork && deploys { // the workflows that it starts would run the fork's commit with the rights of the repository
			return "not told: the commit is in a fork", c.Store.Runs.NotTold(ctx, g, "The run's commit is in a fork, and a deployment of it would run the fork's code with the rights of the repository. Ask with onReady dispatch, which runs the default branch, or wait in the job.")
		}
	}
	send := c.deploySignal
	if g.Kind == lifecycle.SignalDispatch {
		send = c.dispatchSignal
	}
	if note, err = send(ctx, e, g, row, state); err != nil {
		return "", err
	}
	return note, c.Store.Runs.Told(ctx, g, state)
}

// deploySignal shows the cluster as a deployment of the run's commit. The signal's id in its payload tells workflows that a run asked for
// it. The deployment of a pull request's cluster has none, because the workflow that a signal starts takes the cluster over.
func (c *Controller) deploySignal(ctx context.Context, e clusters.Effect, g runs.Signal, row clusters.Row, state lifecycle.SignalState) (note string, err error) {
	_, err = c.GitHub.UpsertDeployment(ctx, github.DeploymentTarget{
		Installation: e.Installation, Repo: e.Repo, Head: g.Head, ExternalKey: g.ID, Cluster: row.ID, Signal: g.ID,
	}, chat.SignalDeployment(row.Card, state, c.Links))
	return fmt.Sprintf("the deployment tells that it is %s", state), err
}

// dispatchSignal starts the workflows that wait for the cluster, once. After a crash between the call and its record they are started
// again: GitHub gives the call no key.
func (c *Controller) dispatchSignal(ctx context.Context, e clusters.Effect, g runs.Signal, row clusters.Row, state lifecycle.SignalState) (note string, err error) {
	if state == lifecycle.SignalEnded && (g.Told == "" || g.Told == lifecycle.SignalBegun) { // it was ready for too short a time
		state = lifecycle.SignalFailed
	}
	kind := map[lifecycle.SignalState]string{lifecycle.SignalReady: chat.DispatchReady, lifecycle.SignalFailed: chat.DispatchFailed}[state]
	if kind == "" {
		return "there is nothing to tell yet, or not any more", nil
	}
	said := chat.Signalled{ID: g.ID, SHA: g.Head, Page: g.URL}
	return kind, c.GitHub.Dispatch(ctx, e.Installation, e.Repo, kind, chat.SignalPayload(row.Card, state, said, c.Links))
}

// saySignalRefused says why a pipeline cannot be told that its cluster is ready or failed.
func saySignalRefused(kind string, dispatch bool, err error) string {
	next := "An owner of the organization looks at the App's installation and its permissions."
	if dispatch {
		next = "It needs the permission to write contents, which is optional: add it on the App's page, and an owner of the organization accepts it. Or ask with onReady deployment, which does not need it."
	}
	return fmt.Sprintf("GitHub refuses the App's %s: %.300s. %s", kind, strings.TrimRight(err.Error(), "."), next)
}
