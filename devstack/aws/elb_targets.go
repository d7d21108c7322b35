package aws

import (
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// targetCalls are the calls about what is behind a load balancer and how it works, as Cluster API's provider makes them.
func targetCalls() map[string]handler {
	return map[string]handler{
		"RegisterTargets": registerTargets, "DeregisterTargets": deregisterTargets, "DescribeTargetHealth": describeTargetHealth,
		"DescribeLoadBalancerAttributes": describeSettings("loadbalancer", "LoadBalancerArn"), "ModifyLoadBalancerAttributes": modifySettings("loadbalancer", "LoadBalancerArn"),
		"ModifyTargetGroupAttributes": modifySettings("targetgroup", "TargetGroupArn"),
		"SetSecurityGroups":           setSecurityGroups, "SetSubnets": setSubnets, "RemoveTags": removeTags,
	}
}

// balanced finds the resource of an ELB type that a parameter names.
func (c *call) balanced(typ, param string) (*Resource, error) {
	arn := c.params.get(param)
	if found := c.balancing(typ, func(r *Resource) bool { return r.ID == arn }); len(found) > 0 {
		return found[0], nil
	}
	return nil, fault(map[string]string{"loadbalancer": "LoadBalancerNotFound", "targetgroup": "TargetGroupNotFound"}[typ], "'%s' not found", arn)
}

// targets returns the targets of a call, each as "id port".
func (c *call) targets(group *Resource) []string {
	return pick.Map(c.params.each("Targets"), func(t params) string {
		port := t.get("Port")
		if port == "" {
			port = group.Attrs["port"]
		}
		return t.get("Id") + " " + port
	})
}

func registerTargets(c *call) ([]node, error) {
	group := must.Get(c.balanced("targetgroup", "TargetGroupArn"))
	for _, target := range c.targets(group) {
		id, _, _ := strings.Cut(target, " ")
		machine, err := c.get("instance", id)
		must.EndIf(group.Attrs["type"] == "instance" && (err != nil || machine.State != "running"),
			fault("InvalidTarget", "The following targets are not in a running state and cannot be registered: '%s'", id))
		if !slices.Contains(group.vals("targets"), target) {
			group.Values["targets"] = append(group.Values["targets"], target)
		}
	}
	return nil, nil
}

func deregisterTargets(c *call) ([]node, error) {
	group := must.Get(c.balanced("targetgroup", "TargetGroupArn"))
	gone := c.targets(group)
	group.Values["targets"] = slices.DeleteFunc(group.vals("targets"), func(target string) bool { return slices.Contains(gone, target) })
	return nil, nil
}

// describeTargetHealth calls every running machine healthy: nothing is behind its port.
func describeTargetHealth(c *call) ([]node, error) {
	of := must.Get(c.balanced("targetgroup", "TargetGroupArn"))
	items := pick.Map(of.vals("targets"), func(target string) []node {
		id, port, _ := strings.Cut(target, " ")
		return []node{group("Target", el("Id", id), el("Port", port)), group("TargetHealth", el("State", "healthy"))}
	})
	return []node{list("TargetHealthDescriptions", "member", items)}, nil
}

// setting is the prefix of the attributes in which the settings of a balancer or target group are stored.
const setting = "setting "

func describeSettings(typ, param string) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.balanced(typ, param))
		var items [][]node
		for _, name := range slices.Sorted(maps.Keys(r.Attrs)) {
			if key, is := strings.CutPrefix(name, setting); is {
				items = append(items, []node{el("Key", key), el("Value", r.Attrs[name])})
			}
		}
		return []node{list("Attributes", "member", items)}, nil
	}
}

func modifySettings(typ, param string) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.balanced(typ, param))
		for _, one := range c.params.each("Attributes") {
			r.Attrs[setting+one.get("Key")] = one.get("Value")
		}
		return describeSettings(typ, param)(c)
	}
}

// setSecurityGroups replaces a balancer's groups, and those of its interfaces.
func setSecurityGroups(c *call) ([]node, error) {
	r := must.Get(c.balanced("loadbalancer", "LoadBalancerArn"))
	groups := c.params.list("SecurityGroups")
	r.Values["groups"] = groups
	for _, face := range c.Every(func(k *Resource) bool { return k.Parent == r.ID && k.Type == "network-interface" }) {
		face.Uses, face.Values["groups"] = append([]string{face.Attrs["subnet-id"]}, groups...), groups
	}
	return []node{texts("SecurityGroupIds", "member", groups)}, nil
}

// setSubnets adds the subnets that a balancer does not have yet.
func setSubnets(c *call) ([]node, error) {
	r := must.Get(c.balanced("loadbalancer", "LoadBalancerArn"))
	for _, sub := range must.Get(c.subnets(c.params.list("Subnets"))) {
		if zone := sub.Attrs["availability-zone"] + " " + sub.ID; !slices.Contains(r.vals("zones"), zone) {
			r.Values["zones"] = append(r.Values["zones"], zone)
			c.face(r, sub, "network_load_balancer", "ELB net/"+r.Name+r.ID[strings.LastIndex(r.ID, "/"):], r.vals("groups"), "")
		}
	}
	return []node{balancerPlaces(r)}, nil
}

func removeTags(c *call) ([]node, error) {
	for _, r := range must.Get(c.byARN()) {
		for _, key := range c.params.list("TagKeys") {
			delete(r.Tags, key)
		}
	}
	return nil, nil
}
