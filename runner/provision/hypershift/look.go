package hypershift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

// condition is what the operator says of one matter (metav1.Condition).
type condition struct {
	Type, Status, Reason, Message string
	LastTransitionTime            time.Time
}

type conditions []condition

func (all conditions) conditionOf(kind string) condition {
	i := slices.IndexFunc(all, func(c condition) bool { return c.Type == kind })
	if i < 0 {
		return condition{Type: kind, Status: "Unknown"}
	}
	return all[i]
}

// hostedCluster is what the operator says of a HostedCluster (openshift/hypershift, api/hypershift/v1beta1).
type hostedCluster struct {
	Status struct {
		Conditions        conditions
		Version           struct{ History []struct{ State string } }
		Kubeconfig        struct{ Name string }
		KubeadminPassword struct{ Name string }
	}
}

type nodePool struct {
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec   struct{ Replicas int }
	Status struct {
		Replicas   int
		Conditions conditions
	}
}

func (p *Provisioner) readCluster(ctx context.Context, o provision.Order) (found hostedCluster, err error) {
	err = p.API.Get(ctx, objects.PathIn(o.InfraID, version, clusters)+"/"+o.Name, &found)
	return found, objects.Wrap(err, "read the hosted cluster")
}

// The conditions that say that what was ordered cannot be made, if they are False.
var valid = []string{"ValidConfiguration", "SupportedHostedCluster", "ValidReleaseImage", "ValidHostedControlPlaneConfiguration"}

// stages are the conditions on the way to a control plane, in their order.
var stages = []struct {
	condition string
	percent   int
	step      string
}{
	{"InfrastructureReady", 42, "the hub prepares the control plane's addresses"},
	{"EtcdAvailable", 46, "etcd starts"},
	{"KubeAPIServerAvailable", 50, "the API server starts"},
	{"Available", 54, "the control plane starts"},
}

const askHub = "ask an administrator of the hub to look at: kubectl describe hostedclusters,nodepools -n "

// Look implements runner.Hosted.
func (p *Provisioner) Look(ctx context.Context, o provision.Order) (provision.Look, error) {
	found, err := p.readCluster(ctx, o)
	if err != nil {
		return provision.Look{}, err
	}
	sets, err := api.List[nodePool](ctx, p.API, objects.PathIn(o.InfraID, version, pools), "")
	if err != nil {
		return provision.Look{}, objects.Wrap(err, "list node pools")
	}
	all := found.Status.Conditions
	if bad := p.findRefusal(all, sets); bad.Type != "" {
		return provision.Look{Reason: "HostedRefused", Message: "the hub's operator refuses the cluster: " + describeCondition(bad), Whose: contract.WhoseOurs,
			Next: "ask an administrator of this installation to correct the profile, its versions or runner.releases; " + askHub + o.InfraID}, nil
	}
	late := provision.Look{Waits: true, Reason: "HostedLate", Whose: contract.WhoseCloud, Next: askHub + o.InfraID}
	for _, stage := range stages {
		c := all.conditionOf(stage.condition)
		if c.Status == "True" {
			continue
		}
		late.Percent, late.Step, late.Message = stage.percent, stage.step, describeCondition(c)
		if stage.condition == "InfrastructureReady" {
			late.Reason, late.Whose = "HostedNoRoom", contract.WhoseQuota
		}
		return late, nil
	}
	history, degraded := found.Status.Version.History, all.conditionOf("Degraded")
	ready, wanted, why := countReady(sets)
	switch {
	case ready < wanted:
		late.Percent, late.Step, late.Message = 60+10*ready/wanted, fmt.Sprintf("%d of %d nodes are ready", ready, wanted), why
		late.Reason, late.Whose = "HostedNoRoom", contract.WhoseQuota
		return late, nil
	case len(history) == 0 || history[0].State != "Completed":
		late.Percent, late.Step, late.Message = 72, "operators are being rolled out", describeCondition(all.conditionOf("ClusterVersionSucceeding"))
		return late, nil
	case degraded.Status == "True":
		late.Percent, late.Step, late.Message = 75, "the control plane is degraded", describeCondition(degraded)
		return late, nil
	}
	_, err = p.Access(ctx, o)
	if errors.Is(err, errNoSecret) {
		late.Percent, late.Step, late.Message = 78, "the operator writes the kubeconfig", err.Error()
		return late, nil
	}
	return provision.Look{Ready: err == nil}, err
}

// findRefusal returns a condition that says for a while that what was ordered can never be made; the zero value: none does.
func (p *Provisioner) findRefusal(all conditions, sets []nodePool) condition {
	lists := []conditions{all}
	for _, set := range sets {
		lists = append(lists, set.Status.Conditions)
	}
	for _, list := range lists {
		for _, kind := range valid {
			patience := p.Settling
			if kind == "ValidReleaseImage" {
				patience *= 5 // it is False, too, while a registry gives no answer
			}
			if c := list.conditionOf(kind); c.Status == "False" && time.Since(c.LastTransitionTime) >= patience {
				return c
			}
		}
	}
	return condition{}
}

// countReady returns how many nodes are ready, how many there shall be, and what the operator says of those that are not.
func countReady(sets []nodePool) (ready, wanted int, why string) {
	var said []string
	for _, set := range sets {
		wanted += set.Spec.Replicas
		if set.Status.Conditions.conditionOf("Ready").Status == "True" && set.Status.Replicas >= set.Spec.Replicas {
			ready += set.Spec.Replicas
			continue
		}
		c := set.Status.Conditions.conditionOf("AllMachinesReady")
		if c.Status == "True" {
			c = set.Status.Conditions.conditionOf("Ready")
		}
		said = append(said, "node pool "+set.Metadata.Name+": "+describeCondition(c))
	}
	return ready, max(wanted, 1), strings.Join(said, "; ")
}

func describeCondition(c condition) string {
	text := c.Type + " is " + c.Status
	for _, more := range []string{c.Reason, c.Message} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}
