package aws

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// classicCalls are the load balancers of 2012. They share the service's endpoint and name with the newer ones and are distinguished
// by the call's Version. An ingress controller and every Service of type LoadBalancer makes one.
var classicCalls = map[string]handler{
	"CreateLoadBalancer": createClassic, "DescribeLoadBalancers": describeClassic, "DeleteLoadBalancer": deleteClassic,
	"DescribeTags": describeClassicTags,
}

func (c *call) classic(name string) *Resource {
	for _, r := range c.balancing("classic", func(r *Resource) bool { return r.Name == name }) {
		return r
	}
	return nil
}

func createClassic(c *call) ([]node, error) {
	name, scheme := c.params.get("LoadBalancerName"), cmp.Or(c.params.get("Scheme"), "internet-facing")
	if twin := c.classic(name); twin != nil {
		must.EndIf(twin.Attrs["scheme"] != scheme,
			fault("DuplicateLoadBalancerName", "Load Balancer named %s already exists and it is configured with different parameters.", name))
		return []node{el("DNSName", twin.Attrs["dns"])}, nil
	}
	must.Do(c.checkQuota("L-E9E9831D", "", 1))
	subnets := must.Get(c.subnets(c.params.list("Subnets")))
	groups := c.params.list("SecurityGroups")
	for _, id := range groups {
		if _, err := c.get("security-group", id); err != nil {
			return nil, fault("InvalidSecurityGroup", "The security group '%s' does not exist", id)
		}
	}
	host := fmt.Sprintf("%s-%d.%s.elb.amazonaws.com", name, hash(name+c.region), c.region)
	if scheme == "internal" {
		host = "internal-" + host
	}
	r := c.Add(&Resource{Service: "elasticloadbalancing", Type: "classic", Name: name, Region: c.region, VPC: subnets[0].VPC, Tags: c.params.tags("Tags"),
		ID: fmt.Sprintf("arn:aws:elasticloadbalancing:%s:%s:loadbalancer/%s", c.region, c.Account, name), Attrs: map[string]string{"scheme": scheme, "dns": strings.ToLower(host)}})
	r.Values["groups"] = groups
	for _, l := range c.params.each("Listeners") {
		r.Values["listeners"] = append(r.Values["listeners"], strings.Join([]string{l.get("Protocol"), l.get("LoadBalancerPort"), l.get("InstancePort")}, " "))
	}
	for _, sub := range subnets {
		r.Values["zones"] = append(r.Values["zones"], sub.Attrs["availability-zone"])
		r.Values["subnets"] = append(r.Values["subnets"], sub.ID)
		c.face(r, sub, "interface", "ELB "+name, groups, "")
	}
	return []node{el("DNSName", r.Attrs["dns"])}, nil
}

func renderClassic(r *Resource) []node {
	var listeners [][]node
	for _, l := range r.vals("listeners") {
		f := strings.Split(l, " ")
		listeners = append(listeners, []node{group("Listener", el("Protocol", f[0]), el("LoadBalancerPort", cmp.Or(f[1], "0")), el("InstancePort", cmp.Or(f[2], "0")))})
	}
	return []node{el("LoadBalancerName", r.Name), el("DNSName", r.Attrs["dns"]), el("CanonicalHostedZoneName", r.Attrs["dns"]), el("CanonicalHostedZoneNameID", classicZone(r.Region)),
		el("CreatedTime", r.Created), el("Scheme", r.Attrs["scheme"]), el("VPCId", r.VPC), texts("AvailabilityZones", "member", r.vals("zones")),
		texts("Subnets", "member", r.vals("subnets")), texts("SecurityGroups", "member", r.vals("groups")), list("ListenerDescriptions", "member", listeners)}
}

// classicZone is the zone of a region's classic load balancers (docs.aws.amazon.com/general/latest/gr/elb.html).
func classicZone(region string) string {
	zones := map[string]string{"us-east-1": "Z35SXDOTRQ7X7K", "us-east-2": "Z3AADJGX6KTTL2", "us-west-2": "Z1H1FL5HABSF5"}
	return cmp.Or(zones[region], "Z35SXDOTRQ7X7K")
}

// classics returns the balancers that a call names; all if it names none.
func (c *call) classics() ([]*Resource, error) {
	names := c.params.list("LoadBalancerNames")
	for _, name := range names {
		if c.classic(name) == nil {
			return nil, fault("LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", name)
		}
	}
	return c.balancing("classic", func(r *Resource) bool { return wanted(names, r.Name) }), nil
}

func describeClassic(c *call) ([]node, error) {
	found := must.Get(c.classics())
	found, next, err := after(found, c.params.get("Marker"), c.limited(c.params.number("PageSize"), 400), bySeq)
	if err != nil {
		return nil, fault("ValidationError", "'%s' is not a valid marker", c.params.get("Marker"))
	}
	items := pick.Map(found, renderClassic)
	out := []node{list("LoadBalancerDescriptions", "member", items)}
	if next != "" {
		out = append(out, el("NextMarker", next))
	}
	return out, nil
}

func deleteClassic(c *call) ([]node, error) {
	if r := c.classic(c.params.get("LoadBalancerName")); r != nil {
		must.Do(c.protected(r))
		if c.pinned(r) {
			return nil, fault("OperationNotPermitted", "Load balancer '%s' cannot be deleted", r.Name)
		}
		c.withdraw(r)
	}
	return nil, nil
}

func describeClassicTags(c *call) ([]node, error) {
	found := must.Get(c.classics())
	items := pick.Map(found, func(r *Resource) []node { return []node{el("LoadBalancerName", r.Name), tagMembers(r)} })
	return []node{list("TagDescriptions", "member", items)}, nil
}
