package count

import (
	"context"
	"fmt"
	"slices"

	"github.com/IBM/vpc-go-sdk/vpcv1"
)

// vpcKind is one kind of resource that a region lists.
type vpcKind struct {
	noun    string // also the kind in the leftover
	crnType string // as in a CRN
	call    string
	list    func(context.Context, *vpcv1.VpcV1) ([]thing, error)
	delete  string // the command that deletes one, followed by its id
	hint    string
}

const (
	kindVPC    = "vpc"
	kindSubnet = "subnet"
)

// vpcKinds lists the kinds in the order of queries and reports: what keeps others from being deleted comes first. Every list is of the
// whole region: load balancers have no filter, volumes none for a resource group, and a filter that is misspelt would hide a leftover.
var vpcKinds = []vpcKind{
	{"instance", "instance", "ListInstances", listInstances, "instance-delete", ""},
	{"load-balancer", "load-balancer", "ListLoadBalancers", listLoadBalancers, "load-balancer-delete", "made by a service of the cluster, or by the installer"},
	{"endpoint-gateway", "endpoint-gateway", "ListEndpointGateways", listEndpointGateways, "endpoint-gateway-delete", ""},
	{"virtual-network-interface", "virtual-network-interface", "ListVirtualNetworkInterfaces", listInterfaces, "virtual-network-interface-delete", "first delete what uses it"},
	{"volume", "volume", "ListVolumes", listVolumes, "volume-delete", volumeHint},
	{"snapshot", "snapshot", "ListSnapshots", listSnapshots, "snapshot-delete", volumeHint},
	{"floating-ip", "floating-ip", "ListFloatingIps", listFloatingIPs, "floating-ip-release", "the address of a public gateway goes with its gateway"},
	{"image", "image", "ListImages", listImages, "image-delete", ""},
	{"key", "key", "ListKeys", listKeys, "key-delete", ""},
	{"security-group", "security-group", "ListSecurityGroups", listSecurityGroups, "security-group-delete", "first delete what uses it; a VPC's default group goes with its VPC"},
	{kindSubnet, "subnet", "ListSubnets", listSubnets, "subnet-delete", "after everything in it is gone"},
	{"public-gateway", "public-gateway", "ListPublicGateways", listPublicGateways, "public-gateway-delete", "after its subnets are gone"},
	{kindVPC, "vpc", "ListVpcs", listVPCs, "vpc-delete", "after everything in it is gone"},
}

const volumeHint = "made by a workload's persistent volume; ask its owner whether the data may go"

// vpcQuestion lists one kind in one region. The answer contains other clusters' too.
func (c *Client) vpcQuestion(region string, kind vpcKind, asked string) question {
	return question{
		service: "is", call: kind.call, region: region, asked: asked,
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.vpcIn(region)
			if err != nil {
				return nil, err
			}
			things, err := kind.list(ctx, api)
			for i := range things {
				things[i].kind, things[i].free = kind.noun, vpcFree(kind, things[i].id, region)
			}
			return things, err
		},
	}
}

func vpcFree(kind vpcKind, id, region string) string {
	free := fmt.Sprintf("an administrator of the account: ibmcloud target -r %s && ibmcloud is %s %s", region, kind.delete, id)
	if kind.hint != "" {
		free += " (" + kind.hint + ")"
	}
	return free
}

// regional lists everything in one region and selects what is the cluster's.
func (c *Client) regional(ctx context.Context, region string, id identity) []reply {
	var questions []question
	for _, kind := range vpcKinds {
		questions = append(questions, c.vpcQuestion(region, kind, "all; resource group, VPC, name or tag of the cluster"))
	}
	answers := c.askAll(ctx, questions)
	vpcs := map[string]bool{}
	marked := func(t thing) bool { return id.inGroup(t) || id.named(t.name) || id.tagged(t.tags) }
	each(answers, kindVPC, func(t thing) { vpcs[t.id] = marked(t) })
	subnets := map[string]bool{}
	each(answers, kindSubnet, func(t thing) { subnets[t.id] = marked(t) || vpcs[t.vpc] })
	for i := range answers {
		answers[i].keep(func(t thing) bool {
			return marked(t) || vpcs[t.vpc] || slices.ContainsFunc(t.subnets, func(subnet string) bool { return subnets[subnet] })
		})
	}
	return answers
}

func each(answers []reply, kind string, do func(thing)) {
	for _, a := range answers {
		for _, t := range a.things {
			if t.kind == kind {
				do(t)
			}
		}
	}
}
