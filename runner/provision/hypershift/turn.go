package hypershift

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
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
	left := 0
	for i, set := range sets {
		wanted := 0
		if on {
			if wanted, err = strconv.Atoi(set.Metadata.Annotations[awakeNote]); err != nil {
				return provision.Look{}, fmt.Errorf("node pool %s does not say how many nodes it has awake (annotation %s)", set.Metadata.Name, awakeNote)
			}
		}
		if left += set.Status.Replicas; set.Spec.Replicas == wanted {
			continue
		}
		if err := p.API.Merge(ctx, path+"/"+set.Metadata.Name, object{"spec": object{"replicas": wanted}}); err != nil {
			return provision.Look{}, objects.Wrap(err, "scale node pool "+set.Metadata.Name)
		}
		sets[i].Spec.Replicas, sets[i].Status.Conditions = wanted, nil // what it says is about the earlier number
	}
	look := provision.Look{Waits: true, Reason: "HostedNoRoom", Whose: contract.WhoseQuota, Next: askHub + o.InfraID}
	ready, wanted, why := countReady(sets)
	switch {
	case on:
		look.Ready, look.Step, look.Message = ready >= wanted, fmt.Sprintf("%d of %d nodes are ready", ready, wanted), why
	default:
		look.Ready, look.Step, look.Message = left == 0, fmt.Sprintf("%d nodes end", left), fmt.Sprintf("%d nodes have not ended", left)
	}
	return look, nil
}
