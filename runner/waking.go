package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/csr"
	"github.com/ocpctl/ocpctl/runner/status"
)

// awaitAPI waits until the API of a cluster that was stopped answers again.
func (a *attempt) awaitAPI(ctx context.Context, until time.Time) error {
	return a.awaitWell(ctx, until, 40, "ClusterUnreachable", func(ctx context.Context) (string, error) {
		if _, err := a.listNodes(ctx); err != nil {
			return "the cluster's API does not answer yet: " + err.Error(), nil
		}
		return "", nil
	})
}

// awaitNodes approves the nodes' certificate requests until the node of every machine has reported that it is ready since the machine was
// started or, if the cloud does not tell when that was, since the attempt began to wake the cluster. What the API says of a node before it
// reports again is from before it was stopped.
func (a *attempt) awaitNodes(ctx context.Context, began, until time.Time) error {
	machines, err := a.machinesOfCluster(ctx)
	if err != nil {
		return err
	}
	machines = slices.DeleteFunc(machines, isNotRunning) // what the control plane lacks is told
	return a.awaitWell(ctx, until, 60, "NodesNotReady", func(ctx context.Context) (string, error) {
		if err := a.approveNodes(ctx); err != nil {
			return "the certificate requests of the nodes: " + err.Error(), nil
		}
		nodes, err := a.listNodes(ctx)
		if err != nil {
			return "the cluster's API does not answer: " + err.Error(), nil
		}
		var missing []string
		for _, m := range machines {
			if why := notBack(m, nodes, began); why != "" {
				missing = append(missing, why)
			}
		}
		return strings.Join(missing, ", "), nil
	})
}

// notBack says why the node of a machine that was started is not ready; empty: it is.
func notBack(m cloud.Machine, nodes []node, began time.Time) string {
	since := m.Started
	if since.IsZero() {
		since = began
	}
	at := slices.IndexFunc(nodes, func(n node) bool { return strings.HasSuffix(n.provider, "/"+m.ID) })
	switch {
	case at < 0:
		return m.Name + " has no node"
	case nodes[at].notReady != "":
		return fmt.Sprintf("node %s is not ready: %s", nodes[at].name, nodes[at].notReady)
	case nodes[at].reported.Before(since):
		return fmt.Sprintf("node %s did not report since %s", nodes[at].name, since.UTC().Format(time.RFC3339))
	}
	return ""
}

// approveNodes approves the certificate requests that the cluster's nodes make for themselves, and no others.
func (a *attempt) approveNodes(ctx context.Context) error {
	// They hold no secret, but look as if they did: the redactor would mask them.
	list, err := a.askSecret(ctx, "get", "certificatesigningrequests.certificates.k8s.io", "-o", "json")
	if err != nil {
		return err
	}
	pending, err := csr.Pending([]byte(list.Reveal()))
	if err != nil || len(pending) == 0 {
		return err
	}
	raw, err := a.askCluster(ctx, "get", "machines.machine.openshift.io", "-n", machineAPI, "-o", "json")
	if err != nil {
		return err
	}
	machines, err := csr.Machines(raw)
	if err != nil {
		return err
	}
	if err := a.addEgress(ctx, machines); err != nil {
		a.noteLine("the nodes' egress addresses are not known, so no certificate is approved for one: %v", err)
	}
	for _, request := range pending {
		if why := request.Check(machines); why != nil {
			a.noteLine("certificate request %s is not approved: %v", request.Name, why)
			continue
		}
		if _, err := a.askCluster(ctx, "adm", "certificate", "approve", request.Name); err != nil {
			return err
		}
		a.noteLine("certificate request %s is approved", request.Name)
	}
	return nil
}

// addEgress adds the egress addresses of the nodes. A cluster with another network than OVN-Kubernetes has no such objects.
func (a *attempt) addEgress(ctx context.Context, machines []csr.Machine) error {
	raw, err := a.askCluster(ctx, "get", "egressips.k8s.ovn.org", "-o", "json")
	if err != nil {
		return err
	}
	return csr.AddEgress(raw, machines)
}

// awaitOperators waits until all cluster operators have been well for a while: at first they report what was so before they were stopped.
// Those that are not well when the time is over are named in the attempt's warning, and the cluster counts as awake: it may have been so
// before it slept, and whoever needs the cluster can repair it only if they can enter it.
func (a *attempt) awaitOperators(ctx context.Context, until time.Time) error {
	var well time.Time // since when
	var unwell []string
	err := a.awaitWell(ctx, until, 80, "OperatorsNotReady", func(ctx context.Context) (missing string, err error) {
		unwell, err = a.operatorComplaints(ctx)
		switch {
		case errors.Is(err, errRefusedByOC):
			return "", err
		case err != nil:
			well, unwell = time.Time{}, nil
			return "the cluster's API does not answer: " + err.Error(), nil
		case len(unwell) > 0:
			well = time.Time{}
			return strings.Join(unwell, ", "), nil
		}
		if well.IsZero() {
			well = time.Now()
		}
		if time.Since(well) < a.spec.VerifyGap {
			return "all operators are well; watching that it stays so", nil
		}
		return "", nil
	})
	if late, ok := errors.AsType[failure](err); !ok || late.Reason != "OperatorsNotReady" || len(unwell) == 0 {
		return err
	}
	a.warning = "the cluster is awake, but not all of its operators are well: " + strings.Join(unwell, ", ")
	a.noteLine("%s", a.warning)
	return nil
}

// operatorComplaints lists what is wrong with the cluster's operators.
func (a *attempt) operatorComplaints(ctx context.Context) (complaints []string, err error) {
	raw, err := a.askCluster(ctx, "get", "clusteroperators.config.openshift.io", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	if json.Unmarshal(raw, &list) != nil || len(list.Items) == 0 {
		return nil, explainUnreadable("operators")
	}
	for _, operator := range list.Items {
		is := map[string]string{}
		for _, c := range operator.Status.Conditions {
			is[c.Type] = c.Status
		}
		switch {
		case is["Available"] != "True":
			complaints = append(complaints, operator.Metadata.Name+" is not available")
		case a.lacking.Reason != "": // for as long as a machine of the control plane is missing, some operators are degraded and progressing
		case is["Degraded"] != "False":
			complaints = append(complaints, operator.Metadata.Name+" is degraded")
		case is["Progressing"] == "True":
			complaints = append(complaints, operator.Metadata.Name+" is progressing")
		}
	}
	return complaints, nil
}

// awaitWell repeats look until it has nothing to complain about. An error ends it at once.
func (a *attempt) awaitWell(ctx context.Context, until time.Time, percent int, reason string, look func(context.Context) (string, error)) error {
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.ScalePoll) {
		missing, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case missing == "":
			return nil
		case time.Now().After(until):
			return failure{
				Reason: reason, Whose: contract.WhoseCloud, Retryable: true, Message: "the cluster is not well yet: " + missing,
				Next: "ocpctl tries again; if it happens again, look at the cluster's nodes and operators (oc get nodes,clusteroperators)",
			}
		}
		a.say.Step(percent, missing)
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
