package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Machines lists the instances of the cluster's newest infraID: those with its name in the cluster's resource group, and those elsewhere that are
// named like a machine of it, which are not ours. Those that are being deleted are omitted. A machine is ours if it has the tags of the
// cluster and of this installation or, without a tag of any cluster, if it is in the cluster's resource group: tags are attached after a
// machine is made.
//
// Started stays empty: IBM Cloud does not tell it.
func (c *Client) Machines(ctx context.Context, t cloud.Target) ([]cloud.Machine, error) {
	account, err := c.requireAccount(ctx, t)
	if err != nil {
		return nil, err
	}
	infraID, region := t.NewestIdentity()
	if infraID == "" {
		return nil, fmt.Errorf("no infraID of cluster %s is recorded", t.Cluster)
	}
	o := ownerOf(t)
	if err := c.findGroups(ctx, account, o); err != nil {
		return nil, err
	}
	all, err := c.objectsIn(ctx, region, instances)
	if err != nil {
		return nil, err
	}
	var machines []cloud.Machine
	for _, i := range all {
		rest, begins := strings.CutPrefix(i.Name, infraID+"-")
		inGroup := o.groups[i.Group.ID] != ""
		if !begins || i.isGoing() || !inGroup && !made.MatchString(rest) {
			continue
		}
		tags, err := c.tagsOn(ctx, i.CRN)
		if err != nil {
			return nil, err
		}
		ours, err := c.ownsMachine(ctx, o, tags, inGroup, t)
		if err != nil {
			return nil, err
		}
		m := cloud.Machine{
			ID: i.ID, Name: i.Name, ControlPlane: strings.HasPrefix(rest, "master-"), State: i.stateOf(), Ours: ours, Type: i.Profile.Name, Zone: i.Zone.Name,
		}
		for _, r := range i.Reasons { // it accepts a start and says here that it could not
			if strings.HasPrefix(r.Code, "cannot_start") {
				m.Trouble = strings.TrimSuffix(r.Code+": "+r.Message, ": ")
			}
		}
		machines = append(machines, m)
	}
	return machines, nil
}

// ownsMachine decides by the tags if there are any of a cluster, and by the resource group otherwise.
func (c *Client) ownsMachine(ctx context.Context, o *owner, tags []string, inGroup bool, t cloud.Target) (bool, error) {
	tagged := slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, strings.ToLower(tagkey.ClusterID)+":") })
	if tagged || !inGroup {
		return slices.Contains(tags, o.cluster) && slices.Contains(tags, tagkey.IBM(tagkey.Installation, t.Installation)), nil
	}
	mark, err := c.foreignMark(ctx, o, tags)
	return mark == "", err
}

// change is an action of an instance, and the states in which it needs none.
type change struct {
	action string
	unless []string
}

var (
	starting = change{vpcv1.CreateInstanceActionOptionsTypeStartConst, []string{cloud.MachineRunning, "starting", "restarting", "pending"}}
	stopping = change{vpcv1.CreateInstanceActionOptionsTypeStopConst, []string{cloud.MachineStopped, "stopping"}}
)

// SetRunning starts or stops instances. One that is as it should be, or on its way there, stays so.
func (c *Client) SetRunning(ctx context.Context, t cloud.Target, ids []string, running bool) error {
	_, region := t.NewestIdentity()
	all, err := c.objectsIn(ctx, region, instances)
	if err != nil {
		return err
	}
	api, err := c.vpcIn(ctx, region)
	if err != nil {
		return err
	}
	want := stopping
	if running {
		want = starting
	}
	for _, id := range ids {
		at := slices.IndexFunc(all, func(i object) bool { return i.ID == id })
		if at < 0 {
			return fmt.Errorf("%s instance %s: it does not exist", want.action, id)
		}
		if slices.Contains(want.unless, all[at].stateOf()) {
			continue
		}
		if err := c.actOn(ctx, api, id, want.action); err != nil {
			return fmt.Errorf("%s instance %s: %w", want.action, all[at].Name, err)
		}
	}
	return nil
}

func (c *Client) actOn(ctx context.Context, api *vpcv1.VpcV1, id, action string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := resultOrRefusal(api.CreateInstanceActionWithContext(ctx, &vpcv1.CreateInstanceActionOptions{InstanceID: &id, Type: &action}))
	return err
}
