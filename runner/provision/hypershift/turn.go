package hypershift

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	hub "github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

// Turn implements runner.Hosted: the control plane stays, and its nodes end or start again.
func (p *Provisioner) Turn(ctx context.Context, o provision.Order, on bool) (provision.Look, error) {
	path := objects.PathIn(o.InfraID, version, pools)
	err := objects.Enter(ctx, p.Hub, o.InfraID, role)
	var sets []nodePool
	if err == nil {
		err = objects.OnceAllowed(ctx, func() (err error) { sets, err = api.List[nodePool](ctx, p.API, path, ""); return err })
	}
	if err != nil {
		return provision.Look{}, objects.Wrap(err, "list node pools")
	}
	for i, set := range sets {
		wanted := 0
		if on {
			if wanted, err = strconv.Atoi(set.Metadata.Annotations[awakeNote]); err != nil {
				return provision.Look{}, fmt.Errorf("node pool %s does not say how many nodes it has awake (annotation %s)", set.Metadata.Name, awakeNote)
			}
		}
		if set.Spec.Replicas == wanted {
			continue
		}
		if err := p.API.Merge(ctx, path+"/"+set.Metadata.Name, object{"spec": object{"replicas": wanted}}); err != nil {
			return provision.Look{}, objects.Wrap(err, "scale node pool "+set.Metadata.Name)
		}
		sets[i].Spec.Replicas, sets[i].Status.Conditions = wanted, nil // what it says is about the earlier number
	}
	if !on {
		return p.lookAsleep(ctx, o)
	}
	ready, wanted, why := countReady(sets)
	return provision.Look{
		Ready: ready >= wanted, Waits: true, Step: fmt.Sprintf("%d of %d nodes are ready", ready, wanted),
		Reason: "HostedNoRoom", Message: why, Whose: contract.WhoseQuota, Next: askHub + o.InfraID,
	}, nil
}

// lookAsleep looks for machines: what a node pool says of its nodes is that they are available, and a machine that drains is not, but costs.
func (p *Provisioner) lookAsleep(ctx context.Context, o provision.Order) (provision.Look, error) {
	left, err := api.List[hub.Object](ctx, p.API, objects.PathIn(hub.ControlPlane(o.InfraID, o.Name), "kubevirt.io/v1", "virtualmachines"), "")
	if err != nil {
		return provision.Look{}, objects.Wrap(err, "list virtual machines")
	}
	return provision.Look{
		Ready: len(left) == 0, Waits: true, Step: fmt.Sprintf("%d nodes end", len(left)),
		Reason: "HostedLate", Message: fmt.Sprintf("%d virtual machines have not ended", len(left)), Whose: contract.WhoseCloud, Next: askHub + o.InfraID,
	}, nil
}
