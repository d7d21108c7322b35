package aws

import (
	"context"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Machines lists the instances with the mark of the cluster's newest infraID, by the installer's exact tag. Those that are terminated or
// going are omitted. The installer and the machine API name an instance after its machine: <infraID>-master-0.
func (c *Client) Machines(ctx context.Context, t cloud.Target) ([]cloud.Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	infraID, region := t.NewestIdentity()
	if infraID == "" {
		return nil, fmt.Errorf("no infraID of cluster %s is recorded", t.Cluster)
	}
	found, err := collectPages(ctx, ec2.NewDescribeInstancesPaginator(c.ec2In(region), &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: awssdk.String("tag:" + tagkey.KubernetesCluster + infraID), Values: []string{tagkey.Owned}},
		{Name: awssdk.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped"}},
	}}), func(page *ec2.DescribeInstancesOutput) (all []types.Instance) {
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
		return all
	})
	if err != nil {
		return nil, explainDenial(err, "ec2:DescribeInstances")
	}
	return convertEach(found, func(i types.Instance) cloud.Machine {
		tags := map[string]string{}
		for _, tag := range i.Tags {
			tags[awssdk.ToString(tag.Key)] = awssdk.ToString(tag.Value)
		}
		m := cloud.Machine{
			ID: awssdk.ToString(i.InstanceId), Name: tags[tagkey.Name], ControlPlane: strings.HasPrefix(tags[tagkey.Name], infraID+"-master-"),
			Spot: i.InstanceLifecycle == types.InstanceLifecycleTypeSpot, Started: awssdk.ToTime(i.LaunchTime),
			Ours: tags[tagkey.ClusterID] == t.Cluster && tags[tagkey.Installation] == t.Installation, Type: string(i.InstanceType),
		}
		if i.Placement != nil {
			m.Zone = awssdk.ToString(i.Placement.AvailabilityZone)
		}
		if r := i.StateReason; r != nil && strings.HasPrefix(awssdk.ToString(r.Code), "Server.") { // a stop on request has one of the client
			m.Trouble = awssdk.ToString(r.Message)
		}
		if i.State != nil {
			m.State = string(i.State.Name)
		}
		return m
	}), nil
}

// SetRunning starts or stops instances. An instance that is as it should be stays so.
func (c *Client) SetRunning(ctx context.Context, t cloud.Target, ids []string, running bool) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, region := t.NewestIdentity()
	if running {
		_, err := c.ec2In(region).StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: ids})
		return explainDenial(err, "ec2:StartInstances")
	}
	_, err := c.ec2In(region).StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids})
	return explainDenial(err, "ec2:StopInstances")
}
