package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

var elbCalls = joined(targetCalls(), map[string]handler{
	"CreateLoadBalancer": createBalancer, "DescribeLoadBalancers": describeBalancers, "DeleteLoadBalancer": deleteBalancer,
	"CreateTargetGroup": createTargets, "DescribeTargetGroups": describeTargets, "DeleteTargetGroup": deleteTargets,
	"CreateListener": createListener, "DescribeListeners": describeListeners, "DeleteListener": deleteListener,
	"DescribeTags": describeTags, "AddTags": addTags,
})

// balancing returns the living resources of one ELB type in the caller's account and region.
func (c *call) balancing(typ string, match func(*Resource) bool) []*Resource {
	return c.Every(func(r *Resource) bool {
		return r.Service == "elasticloadbalancing" && r.Type == typ && r.Account == c.Account && r.Region == c.region && match(r)
	})
}

func (c *call) elbARN(path string) string {
	return fmt.Sprintf("arn:aws:elasticloadbalancing:%s:%s:%s/%s", c.region, c.Account, path, newID("")[:16])
}

func (c *call) pinned(r *Resource) bool { return c.Pinned[r.ID] || (r.Name != "" && c.Pinned[r.Name]) }

func createBalancer(c *call) ([]node, error) {
	name, kind := c.params.get("Name"), cmp.Or(c.params.get("Type"), "application")
	scheme := cmp.Or(c.params.get("Scheme"), "internet-facing")
	if twins := c.balancing("loadbalancer", func(r *Resource) bool { return r.Name == name }); len(twins) > 0 {
		must.EndIf(twins[0].Attrs["scheme"] != scheme || twins[0].Attrs["type"] != kind,
			fault("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists, but with different settings", name))
		return []node{list("LoadBalancers", "member", [][]node{renderBalancer(twins[0])})}, nil
	}
	ids := c.params.list("Subnets")
	for _, m := range c.params.each("SubnetMappings") {
		ids = append(ids, m.get("SubnetId"))
	}
	subnets := must.Get(c.subnets(ids))
	if kind == "network" {
		must.Do(c.checkQuota("L-69A177A2", "", 1))
	}
	path := "loadbalancer/" + map[string]string{"network": "net", "gateway": "gwy"}[kind]
	if kind == "application" {
		path = "loadbalancer/app"
	}
	host := fmt.Sprintf("%s-%s.elb.%s.amazonaws.com", name, newID("")[:16], c.region)
	if scheme == "internal" {
		host = "internal-" + host
	}
	r := c.Add(&Resource{Service: "elasticloadbalancing", Type: "loadbalancer", ID: c.elbARN(path + "/" + name), Name: name, Region: c.region, VPC: subnets[0].VPC,
		Tags: c.params.tags("Tags"), Attrs: map[string]string{"scheme": scheme, "type": kind, "dns": strings.ToLower(host)}})
	c.Move(r, "provisioning", "active")
	r.Values["groups"] = c.params.list("SecurityGroups")
	for _, sub := range subnets {
		r.Values["zones"] = append(r.Values["zones"], sub.Attrs["availability-zone"]+" "+sub.ID)
		c.face(r, sub, "network_load_balancer", "ELB "+strings.TrimPrefix(path, "loadbalancer/")+"/"+name+r.ID[strings.LastIndex(r.ID, "/"):], r.vals("groups"), "")
	}
	return []node{list("LoadBalancers", "member", [][]node{renderBalancer(r)})}, nil
}

// subnets returns a new balancer's subnets, at least one.
func (c *call) subnets(ids []string) ([]*Resource, error) {
	var out []*Resource
	for _, id := range ids {
		sub, err := c.get("subnet", id)
		if err != nil {
			return nil, fault("SubnetNotFound", "The subnet ID '%s' is not valid", id)
		}
		out = append(out, sub)
	}
	if len(out) == 0 {
		return nil, fault("ValidationError", "At least one subnet must be specified")
	}
	return out, nil
}

func renderBalancer(r *Resource) []node {
	return []node{el("LoadBalancerArn", r.ID), el("LoadBalancerName", r.Name), el("DNSName", r.Attrs["dns"]), el("CanonicalHostedZoneId", balancerZone(r.Region)),
		el("CreatedTime", r.Created), el("Scheme", r.Attrs["scheme"]), el("VpcId", r.VPC), el("Type", r.Attrs["type"]), group("State", el("Code", r.State)),
		balancerPlaces(r), texts("SecurityGroups", "member", r.vals("groups")), el("IpAddressType", "ipv4")}
}

// balancerPlaces are the zones and subnets that a balancer is in.
func balancerPlaces(r *Resource) node {
	var zones [][]node
	for _, z := range r.vals("zones") {
		zone, sub, _ := strings.Cut(z, " ")
		zones = append(zones, []node{el("ZoneName", zone), el("SubnetId", sub)})
	}
	return list("AvailabilityZones", "member", zones)
}

// balancerZone is the zone of a region's network load balancers, to which alias records point
// (docs.aws.amazon.com/general/latest/gr/elb.html).
func balancerZone(region string) string {
	zones := map[string]string{"us-east-1": "Z26RNL4JYFTOTI", "us-east-2": "ZLMOA37VPKANP", "us-west-2": "Z18D5FSROUN65G"}
	return cmp.Or(zones[region], "Z26RNL4JYFTOTI")
}

// elbList lists by ARN or name, in pages, and refuses missing ones.
func elbList(c *call, typ, set, arns, missing string, render func(*Resource) []node) ([]node, error) {
	ids, names := c.params.list(arns), c.params.list("Names")
	for _, id := range append(slices.Clone(ids), names...) {
		if len(c.balancing(typ, func(r *Resource) bool { return r.ID == id || r.Name == id })) == 0 {
			return nil, fault(missing, "One or more %ss not found: '%s'", typ, id)
		}
	}
	owner := c.params.get("LoadBalancerArn")
	found := c.balancing(typ, func(r *Resource) bool {
		asked := len(ids)+len(names) == 0 || slices.Contains(ids, r.ID) || slices.Contains(names, r.Name)
		return asked && (owner == "" || r.Parent == owner || slices.Contains(r.vals("balancers"), owner))
	})
	found, next, err := after(found, c.params.get("Marker"), c.limited(c.params.number("PageSize"), 400), bySeq)
	if err != nil {
		return nil, fault("ValidationError", "'%s' is not a valid marker", c.params.get("Marker"))
	}
	items := pick.Map(found, render)
	out := []node{list(set, "member", items)}
	if next != "" {
		out = append(out, el("NextMarker", next))
	}
	return out, nil
}

func describeBalancers(c *call) ([]node, error) {
	return elbList(c, "loadbalancer", "LoadBalancers", "LoadBalancerArns", "LoadBalancerNotFound", renderBalancer)
}

func describeTargets(c *call) ([]node, error) {
	return elbList(c, "targetgroup", "TargetGroups", "TargetGroupArns", "TargetGroupNotFound", renderTargets)
}

func describeListeners(c *call) ([]node, error) {
	return elbList(c, "listener", "Listeners", "ListenerArns", "ListenerNotFound", renderListener)
}

// withdraw removes a balancer. Its interfaces stay for a moment, so deleting a subnet right afterwards fails.
func (c *call) withdraw(r *Resource) {
	for _, face := range c.Every(func(k *Resource) bool { return k.Parent == r.ID && k.Type == "network-interface" }) {
		face.Parent = ""
		c.Move(face, "in-use", "gone")
	}
	c.world.Remove(r)
}

// deleteBalancer succeeds if there is none, as the real call does.
func deleteBalancer(c *call) ([]node, error) {
	for _, r := range c.balancing("loadbalancer", func(r *Resource) bool { return r.ID == c.params.get("LoadBalancerArn") }) {
		must.Do(c.protected(r))
		if c.pinned(r) {
			return nil, fault("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", r.ID)
		}
		c.withdraw(r)
	}
	return nil, nil
}

// byARN finds the resources that ELB's tag calls name.
func (c *call) byARN() (_ []*Resource, err error) {
	defer must.Catch(&err)
	var out []*Resource
	for _, arn := range c.params.list("ResourceArns") {
		r := c.First(func(r *Resource) bool {
			return r.Service == "elasticloadbalancing" && r.Type != "classic" && r.ID == arn && r.Account == c.Account
		})
		must.EndIf(r == nil && strings.Contains(arn, ":targetgroup/"), fault("TargetGroupNotFound", "Target groups '%s' not found", arn))
		must.EndIf(r == nil, fault("LoadBalancerNotFound", "Load balancers '%s' not found", arn))
		out = append(out, r)
	}
	return out, nil
}

func describeTags(c *call) ([]node, error) {
	found := must.Get(c.byARN())
	items := pick.Map(found, func(r *Resource) []node { return []node{el("ResourceArn", r.ID), tagMembers(r)} })
	return []node{list("TagDescriptions", "member", items)}, nil
}

func addTags(c *call) ([]node, error) {
	found := must.Get(c.byARN())
	for _, r := range found {
		maps.Copy(r.Tags, c.params.tags("Tags"))
	}
	return nil, nil
}

// tagMembers returns a resource's tags in the query protocol's form.
func tagMembers(r *Resource) node {
	items := pick.Map(slices.Sorted(maps.Keys(r.Tags)), func(k string) []node { return []node{el("Key", k), el("Value", r.Tags[k])} })
	return list("Tags", "member", items)
}

func createTargets(c *call) ([]node, error) {
	name := c.params.get("Name")
	must.EndIf(len(c.balancing("targetgroup", func(r *Resource) bool { return r.Name == name })) > 0,
		fault("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", name))
	r := c.Add(&Resource{Service: "elasticloadbalancing", Type: "targetgroup", ID: c.elbARN("targetgroup/" + name), Name: name, Region: c.region, VPC: c.params.get("VpcId"),
		Tags: c.params.tags("Tags"), Attrs: map[string]string{"protocol": c.params.get("Protocol"), "port": c.params.get("Port"), "type": cmp.Or(c.params.get("TargetType"), "instance"),
			"health protocol": c.params.get("HealthCheckProtocol"), "health port": c.params.get("HealthCheckPort"), "health path": c.params.get("HealthCheckPath")}})
	return []node{list("TargetGroups", "member", [][]node{renderTargets(r)})}, nil
}

func renderTargets(r *Resource) []node {
	return []node{el("TargetGroupArn", r.ID), el("TargetGroupName", r.Name), el("Protocol", r.Attrs["protocol"]), el("Port", cmp.Or(r.Attrs["port"], "0")), el("VpcId", r.VPC),
		el("TargetType", r.Attrs["type"]), texts("LoadBalancerArns", "member", r.vals("balancers")), el("HealthCheckEnabled", true), el("HealthCheckProtocol", cmp.Or(r.Attrs["health protocol"], r.Attrs["protocol"])),
		el("HealthCheckPort", cmp.Or(r.Attrs["health port"], "traffic-port")), el("HealthCheckPath", r.Attrs["health path"])}
}

func deleteTargets(c *call) ([]node, error) {
	for _, r := range c.balancing("targetgroup", func(r *Resource) bool { return r.ID == c.params.get("TargetGroupArn") }) {
		must.Do(c.protected(r))
		must.EndIf(c.user(r.ID) != nil || c.pinned(r), fault("ResourceInUse", "Target group '%s' is currently in use by a listener or a rule", r.ID))
		c.world.Remove(r)
	}
	return nil, nil
}

func createListener(c *call) ([]node, error) {
	arn := c.params.get("LoadBalancerArn")
	balancers := c.balancing("loadbalancer", func(r *Resource) bool { return r.ID == arn })
	must.EndIf(len(balancers) == 0, fault("LoadBalancerNotFound", "Load balancer '%s' not found", arn))
	r := Resource{Service: "elasticloadbalancing", Type: "listener", Region: c.region, Parent: arn, VPC: balancers[0].VPC, Tags: c.params.tags("Tags"),
		Attrs: map[string]string{"protocol": c.params.get("Protocol"), "port": c.params.get("Port")}}
	r.ID = strings.Replace(arn, ":loadbalancer/", ":listener/", 1) + "/" + newID("")[:16]
	for _, action := range c.params.each("DefaultActions") {
		id := action.get("TargetGroupArn")
		targets := c.balancing("targetgroup", func(r *Resource) bool { return r.ID == id })
		must.EndIf(len(targets) == 0, fault("TargetGroupNotFound", "Target group '%s' not found", id))
		targets[0].Values["balancers"] = append(targets[0].Values["balancers"], arn)
		r.Uses = append(r.Uses, id)
	}
	return []node{list("Listeners", "member", [][]node{renderListener(c.Add(&r))})}, nil
}

func renderListener(r *Resource) []node {
	actions := pick.Map(r.Uses, func(id string) []node { return []node{el("Type", "forward"), el("TargetGroupArn", id)} })
	return []node{el("ListenerArn", r.ID), el("LoadBalancerArn", r.Parent), el("Protocol", r.Attrs["protocol"]), el("Port", cmp.Or(r.Attrs["port"], "0")),
		list("DefaultActions", "member", actions)}
}

func deleteListener(c *call) ([]node, error) {
	found := c.balancing("listener", func(r *Resource) bool { return r.ID == c.params.get("ListenerArn") })
	must.EndIf(len(found) == 0, fault("ListenerNotFound", "One or more listeners not found"))
	c.world.Remove(found[0])
	return nil, nil
}
