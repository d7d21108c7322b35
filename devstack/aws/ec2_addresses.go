package aws

import (
	"fmt"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func allocateAddress(c *call) ([]node, error) {
	must.Do(c.checkQuota("L-0263D0A3", "", 1))
	r := c.made("elastic-ip", Resource{Attrs: map[string]string{"domain": "vpc"}})
	r.Attrs["public-ip"] = fmt.Sprintf("203.0.%d.%d", 113+r.Seq/250%100, 1+r.Seq%250)
	return []node{el("publicIp", r.Attrs["public-ip"]), el("allocationId", r.ID), el("domain", "vpc")}, nil
}

func renderAddress(c *call, r *Resource) []node {
	out := []node{el("allocationId", r.ID), el("publicIp", r.Attrs["public-ip"]), el("domain", "vpc"), tagSet(r)}
	if by := c.user(r.ID); by != nil {
		out = append(out, el("associationId", "eipassoc-"+by.ID), el("networkInterfaceOwnerId", r.Account))
		if by.Type == "network-interface" {
			out = append(out, el("networkInterfaceId", by.ID))
		}
	}
	return out
}

func createNAT(c *call) ([]node, error) {
	sub := must.Get(c.get("subnet", c.params.get("SubnetId")))
	zone := sub.Attrs["availability-zone"]
	must.Do(c.checkQuota("L-FE5A380F", zone, 1))
	r := Resource{VPC: sub.VPC, Attrs: map[string]string{"subnet-id": sub.ID, "availability-zone": zone}}
	if id := c.params.get("AllocationId"); id != "" {
		ip := must.Get(c.get("elastic-ip", id))
		must.EndIf(c.user(ip.ID) != nil, fault("Resource.AlreadyAssociated", "Elastic IP address [%s] is already associated", ip.ID))
		r.Uses = []string{ip.ID}
		r.Attrs["public-ip"] = ip.Attrs["public-ip"]
		r.Attrs["allocation-id"] = ip.ID
	}
	made := c.made("natgateway", r)
	c.Move(made, "pending", "available")
	c.face(made, sub, "nat_gateway", "Interface for NAT Gateway "+made.ID, nil, made.Attrs["public-ip"])
	return []node{{name: "natGateway", kids: renderNAT(c, made)}}, nil
}

func renderNAT(c *call, r *Resource) []node {
	out := []node{el("natGatewayId", r.ID), el("state", r.State), el("vpcId", r.VPC), el("subnetId", r.Attrs["subnet-id"]), el("createTime", r.Created), tagSet(r)}
	if r.Attrs["allocation-id"] != "" {
		out = append(out, list("natGatewayAddressSet", "item", [][]node{{el("allocationId", r.Attrs["allocation-id"]), el("publicIp", r.Attrs["public-ip"])}}))
	}
	if !r.Alive() {
		out = append(out, el("deleteTime", r.Gone))
	}
	return out
}

func deleteNAT(c *call) ([]node, error) {
	r := must.Get(c.get("natgateway", c.params.get("NatGatewayId")))
	must.Do(c.removable(r))
	if r.Alive() {
		c.Move(r, "deleting", "deleted")
	}
	return []node{el("natGatewayId", r.ID)}, nil
}

// face gives a resource a network interface, which is what prevents the deletion of subnets and security groups in AWS.
func (c *call) face(owner, subnet *Resource, kind, description string, groups []string, public string) *Resource {
	r := Resource{Service: "ec2", Type: "network-interface", Region: subnet.Region, ID: newID("eni-"), VPC: subnet.VPC, Parent: owner.ID, State: "in-use"}
	r.Uses = append([]string{subnet.ID}, groups...)
	r.Tags = c.params.tagsFor("network-interface")
	r.Values = map[string][]string{"groups": groups}
	r.Attrs = map[string]string{"subnet-id": subnet.ID, "interface-type": kind, "description": description, "public-ip": public,
		"availability-zone": subnet.Attrs["availability-zone"]}
	if owner.Type == "instance" {
		r.Attrs["attachment.instance-id"] = owner.ID
	} else {
		r.Attrs["requester-id"] = "amazon-" + map[bool]string{true: "elb", false: owner.Type}[owner.Service == "elasticloadbalancing"]
	}
	made := c.Add(&r)
	made.Attrs["private-ip-address"] = fmt.Sprintf("10.0.%d.%d", made.Seq/250%250, 4+made.Seq%250)
	return made
}

func renderInterface(c *call, r *Resource) []node {
	groups := pick.Map(r.vals("groups"), func(id string) []node { return []node{el("groupId", id)} })
	out := []node{el("networkInterfaceId", r.ID), el("subnetId", r.Attrs["subnet-id"]), el("vpcId", r.VPC), el("availabilityZone", r.Attrs["availability-zone"]),
		el("description", r.Attrs["description"]), el("ownerId", r.Account), el("requesterId", r.Attrs["requester-id"]), el("requesterManaged", r.Attrs["requester-id"] != ""),
		el("status", r.State), el("interfaceType", r.Attrs["interface-type"]), el("privateIpAddress", r.Attrs["private-ip-address"]), list("groupSet", "item", groups), tagSet(r)}
	if id := r.Attrs["attachment.instance-id"]; id != "" {
		out = append(out, group("attachment", el("attachmentId", "eni-attach-"+r.ID[len("eni-"):]), el("attachTime", r.Created), el("instanceId", id), el("status", "attached"), el("deleteOnTermination", true)))
	}
	if ip := r.Attrs["public-ip"]; ip != "" {
		out = append(out, group("association", el("publicIp", ip)))
	}
	return out
}
