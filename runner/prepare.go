package runner

import (
	"context"
	"strings"
	"time"
)

// runPrepare makes a claimed cluster of a pool ready for whoever claimed it. It may be repeated from any point: it ends at the same place, and
// nothing that works is taken away before the server knows what replaces it.
func (a *attempt) runPrepare(ctx context.Context) error {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"preparing", 10, "looking whether the cluster is well", func(ctx context.Context) error {
			if err := a.proveHealth(ctx); err != nil {
				return err
			}
			if err := a.replaceCredentials(ctx); err != nil {
				return err
			}
			a.say.Step(70, "giving access, and writing the identity card")
			if err := a.giveAccess(ctx); err != nil {
				return err
			}
			if err := a.writeCard(ctx); err != nil {
				return err
			}
			a.say.Step(85, "attaching the new owner's tags")
			a.tagResources(ctx)
			if len(a.spec.Addons) == 0 {
				return nil
			}
			return a.bringAll(ctx, 86, 99) // what is missing is tried again beside the ready cluster
		}},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// proveHealth waits until the API answers, every node is ready and every cluster operator is well. A cluster that woke for this was watched then,
// so one look is enough.
func (a *attempt) proveHealth(ctx context.Context) error {
	return a.awaitWell(ctx, time.Now().Add(a.cfg.Timings.Health), 20, "ClusterNotWell", func(ctx context.Context) (string, error) {
		nodes, err := a.listNodes(ctx)
		if err != nil {
			return "the cluster's API does not answer: " + err.Error(), nil
		}
		if len(nodes) == 0 {
			return "it has no nodes", nil
		}
		complaints, err := a.operatorComplaints(ctx)
		if err != nil {
			return "the cluster's API does not answer: " + err.Error(), nil
		}
		for _, n := range nodes {
			if n.notReady != "" {
				complaints = append(complaints, "node "+n.name+" is not ready: "+n.notReady)
			}
		}
		return strings.Join(complaints, ", "), nil
	})
}
