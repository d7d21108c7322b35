package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// instance is a virtual server.
type instance struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Zone    reference
	Profile reference
	NIC     struct {
		ID string `json:"id"`
		IP struct {
			Address string `json:"address"`
		} `json:"primary_ip"`
	} `json:"primary_network_interface"`
}

// machine creates a virtual server. Its disk has an invented name and goes with it.
func (b *Build) machine(ctx context.Context, name, profile, role, zone string, groups ...string) (out instance, err error) {
	members := pick.Map(groups, func(g string) any { return id(b.groups[g]) })
	subnet := b.subnets[fmt.Sprintf("%s-subnet-%s-%s", b.InfraID, role, zone)]
	err = b.postVPC(ctx, "create_instance", "instances", map[string]any{
		"name": name, "profile": named(profile), "image": id(b.image), "vpc": id(b.vpc.ID), "zone": named(zone), "resource_group": id(b.group),
		"primary_network_interface": map[string]any{"subnet": id(subnet), "security_groups": members},
	}, &out)
	return out, err
}

// ControlPlane creates the bootstrap machine and the control plane, and waits until they run. The bootstrap machine of a public cluster
// then gets an address.
func (b *Build) ControlPlane(ctx context.Context) (err error) {
	defer must.Catch(&err)
	boot := must.Get(b.machine(ctx, b.InfraID+"-bootstrap", b.MasterType, "control-plane", b.Zones[0], "security-group-bootstrap", "sg-cluster-wide", "sg-control-plane"))
	all := []instance{boot}
	for n := range b.Masters {
		name := fmt.Sprintf("%s-master-%d", b.InfraID, n)
		master := must.Get(b.machine(ctx, name, b.MasterType, "control-plane", b.Zones[n%len(b.Zones)], "sg-cluster-wide", "sg-openshift-net", "sg-control-plane", "sg-cp-internal"))
		all = append(all, master)
	}
	for _, m := range all {
		must.Do(b.ready(ctx, "get_instance", "instances/"+m.ID, "running"))
	}
	b.bootstrapNIC = boot.NIC.ID
	return nil
}

// BootstrapAddress gives the bootstrap machine of a public cluster an address.
func (b *Build) BootstrapAddress(ctx context.Context) error {
	if b.Internal {
		return nil
	}
	return b.postVPC(ctx, "create_floating_ip", "floating_ips", map[string]any{
		"name": b.InfraID + "-bootstrap", "target": id(b.bootstrapNIC), "resource_group": id(b.group),
	}, nil)
}

// Machines returns the ids of the machines of a kind ("bootstrap", "master", "worker").
func (b *Build) Machines(ctx context.Context, kind string) (ids []string, err error) {
	all, err := b.servers(ctx)
	for _, m := range all {
		if strings.HasPrefix(m.Name, b.InfraID+"-"+kind) {
			ids = append(ids, m.ID)
		}
	}
	return ids, err
}

// servers are the machines in the cluster's network.
func (b *Build) servers(ctx context.Context) ([]instance, error) {
	var out struct{ Instances []instance }
	err := b.getVPC(ctx, "list_instances", "instances", &out, "vpc.name", b.InfraID+"-vpc")
	return slices.DeleteFunc(out.Instances, func(m instance) bool { return m.Status == "deleting" }), err
}

// Workers creates the machines that the machine API creates in the cluster. Like it they get no tags.
func (b *Build) Workers(ctx context.Context) error {
	for n := range b.Spec.Workers {
		zone := b.Zones[n%len(b.Zones)]
		name := fmt.Sprintf("%s-worker-%s-%s", b.InfraID, zoneNumber(zone), random(5))
		if _, err := b.machine(ctx, name, b.WorkerType, "compute", zone, "sg-cluster-wide", "sg-openshift-net"); err != nil {
			return err
		}
	}
	return nil
}

// DestroyBootstrap deletes the bootstrap machine and what only it needs. To find the network it asks every region, so that one region
// out of order ends it. keep leaves the bucket with its configuration.
func (b *Build) DestroyBootstrap(ctx context.Context, keep bool) (err error) {
	defer must.Catch(&err)
	must.Do(b.askRegions(ctx))
	boots := must.Get(b.Machines(ctx, "bootstrap"))
	for _, boot := range boots {
		must.Do(b.deleteVPC(ctx, "delete_instance", "instances/"+boot))
		must.Do(b.wait(ctx, func() (bool, error) {
			err := b.getVPC(ctx, "get_instance", "instances/"+boot, nil)
			if Missing(err) {
				return true, nil
			}
			return false, err
		}))
	}
	if !keep {
		must.Do(b.removeBucket(ctx, bootstrapBucket(b.InfraID), "bootstrap.ign"))
	}
	must.Do(b.deleteNamed(ctx, "security_group", "security_groups", b.InfraID+"-security-group-bootstrap"))
	return b.deleteNamed(ctx, "floating_ip", "floating_ips", b.InfraID+"-bootstrap")
}

func (b *Build) askRegions(ctx context.Context) (err error) {
	defer must.Catch(&err)
	var regions struct{ Regions []reference }
	must.Do(b.getVPC(ctx, "list_regions", "regions", &regions))
	for _, r := range regions.Regions {
		must.Wrap(b.do(ctx, call{op: "vpc:list_vpcs", path: b.vpcPath(r.Name, "vpcs"), query: vpcQuery()}, nil), "failed listing VPCs in region %s", r.Name)
	}
	return nil
}

// deleteNamed deletes the resource of a collection with exactly this name, if the first page has it.
func (b *Build) deleteNamed(ctx context.Context, one, path, name string) error {
	all, err := b.firstPage(ctx, one, path)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Name == name {
			return b.deleteVPC(ctx, "delete_"+one, path+"/"+r.ID)
		}
	}
	return nil
}

// firstPage lists a VPC collection's first page.
func (c *Cloud) firstPage(ctx context.Context, one, path string, filters ...string) ([]vpcItem, error) {
	var items struct {
		LoadBalancers  []vpcItem `json:"load_balancers"`
		Subnets        []vpcItem `json:"subnets"`
		PublicGateways []vpcItem `json:"public_gateways"`
		FloatingIPs    []vpcItem `json:"floating_ips"`
		SecurityGroups []vpcItem `json:"security_groups"`
		Instances      []vpcItem `json:"instances"`
		Volumes        []vpcItem `json:"volumes"`
		Images         []vpcItem `json:"images"`
		VPCs           []vpcItem `json:"vpcs"`
	}
	if err := c.getVPC(ctx, "list_"+one+"s", path, &items, filters...); err != nil {
		return nil, err
	}
	return slices.Concat(items.LoadBalancers, items.Subnets, items.PublicGateways, items.FloatingIPs, items.SecurityGroups, items.Instances, items.Volumes, items.Images, items.VPCs), nil
}

// vpcItem is a resource in a list, with the field that its kind shows its state in.
type vpcItem struct {
	ID           string
	Name         string
	CRN          string
	Status       string
	Provisioning string `json:"provisioning_status"`
}
