package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// standardFamilies are the letters before the generation in the names of the types that L-1216C47A counts ("Running On-Demand
// Standard (A, C, D, H, I, M, R, T, Z) instances"). im4gn and is4gen are of family I; inf, dl, hpc and mac have limits of their own.
var standardFamilies = []string{"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"}

func standardFamily(instanceType string) bool {
	generation := strings.IndexAny(instanceType, "0123456789")
	return generation > 0 && slices.Contains(standardFamilies, instanceType[:generation])
}

// vcpusHeld counts the vCPUs of pending and running instances of the standard families, on demand or spot: each has a limit of its own. Instances
// on dedicated hosts have another; a type counts with its default vCPUs whatever its CPU options are.
func (c *Client) vcpusHeld(ctx context.Context, region string, spot bool) ([]holding, error) {
	running, err := collectPages(ctx, ec2.NewDescribeInstancesPaginator(c.ec2In(region), &ec2.DescribeInstancesInput{
		Filters: []types.Filter{{Name: awssdk.String("instance-state-name"), Values: []string{"pending", "running"}}},
	}), func(page *ec2.DescribeInstancesOutput) []types.Instance {
		var all []types.Instance
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
		return slices.DeleteFunc(all, func(i types.Instance) bool {
			return spot != (i.InstanceLifecycle == types.InstanceLifecycleTypeSpot) || !standardFamily(string(i.InstanceType)) ||
				i.Placement != nil && i.Placement.Tenancy == types.TenancyHost
		})
	})
	if err != nil {
		return nil, err
	}
	vcpus, err := c.vcpusOf(ctx, region, convertEach(running, func(i types.Instance) string { return string(i.InstanceType) }))
	if err != nil {
		return nil, err
	}
	return convertEach(running, func(i types.Instance) holding {
		h := oneOf(i.Tags)
		h.amount = vcpus[string(i.InstanceType)]
		return h
	}), nil
}

// vcpusOf queries the default vCPUs of instance types, at most a hundred in a call, the limit of DescribeInstanceTypes.
func (c *Client) vcpusOf(ctx context.Context, region string, names []string) (map[string]int, error) {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	vcpus := map[string]int{}
	for some := range slices.Chunk(names, 100) {
		asked := convertEach(some, func(name string) types.InstanceType { return types.InstanceType(name) })
		p := ec2.NewDescribeInstanceTypesPaginator(c.ec2In(region), &ec2.DescribeInstanceTypesInput{InstanceTypes: asked})
		found, err := collectPages(ctx, p, func(page *ec2.DescribeInstanceTypesOutput) []types.InstanceTypeInfo { return page.InstanceTypes })
		if err != nil {
			return nil, fmt.Errorf("look up the vCPUs of %s: %w", strings.Join(some, ", "), explainDenial(err, "ec2:DescribeInstanceTypes"))
		}
		for _, info := range found {
			if info.VCpuInfo != nil {
				vcpus[string(info.InstanceType)] = int(awssdk.ToInt32(info.VCpuInfo.DefaultVCpus))
			}
		}
	}
	for _, name := range names {
		if vcpus[name] == 0 {
			return nil, fmt.Errorf("AWS does not say how many vCPUs %s has", name)
		}
	}
	return vcpus, nil
}
