package aws

import (
	"cmp"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func createTargets(c *call) ([]node, error) {
	name := c.params.get("Name")
	must.EndIf(len(c.balancing("targetgroup", func(r *Resource) bool { return r.Name == name })) > 0,
		fault("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", name))
	r := c.Add(&Resource{Service: "elasticloadbalancing", Type: "targetgroup", ID: c.elbARN("targetgroup/" + name), Name: name, Region: c.region, VPC: c.params.get("VpcId"),
		Tags: c.params.tags("Tags"), Attrs: map[string]string{"protocol": c.params.get("Protocol"), "port": c.params.get("Port"), "type": cmp.Or(c.params.get("TargetType"), "instance")}})
	return []node{list("TargetGroups", "member", [][]node{renderTargets(r)})}, nil
}

func renderTargets(r *Resource) []node {
	return []node{el("TargetGroupArn", r.ID), el("TargetGroupName", r.Name), el("Protocol", r.Attrs["protocol"]), el("Port", cmp.Or(r.Attrs["port"], "0")), el("VpcId", r.VPC),
		el("TargetType", r.Attrs["type"]), texts("LoadBalancerArns", "member", r.vals("balancers"))}
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
	var actions [][]node
	for _, id := range r.Uses {
		actions = append(actions, []node{el("Type", "forward"), el("TargetGroupArn", id)})
	}
	return []node{el("ListenerArn", r.ID), el("LoadBalancerArn", r.Parent), el("Protocol", r.Attrs["protocol"]), el("Port", cmp.Or(r.Attrs["port"], "0")),
		list("DefaultActions", "member", actions)}
}

func deleteListener(c *call) ([]node, error) {
	found := c.balancing("listener", func(r *Resource) bool { return r.ID == c.params.get("ListenerArn") })
	must.EndIf(len(found) == 0, fault("ListenerNotFound", "One or more listeners not found"))
	c.world.Remove(found[0])
	return nil, nil
}
