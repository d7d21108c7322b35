package ibmcloud

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// wait repeats a look until it reports that it is done. Only ctx and an error limit it; the installer's own limits are longer than
// anything the stand-in cloud does.
func (b *Build) wait(ctx context.Context, look func() (bool, error)) error {
	for {
		done, err := look()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// tag attaches the cluster API provider's tag, whose name is the bare infraID and which belongs to the account.
func (b *Build) tag(ctx context.Context, crn string) error {
	user := url.Values{"tag_type": {"user"}}
	body := map[string]any{"tag_names": []string{b.InfraID}, "resources": []any{map[string]string{"resource_id": crn}}}
	return b.do(ctx, call{op: "tags:attach_tag", method: http.MethodPost, path: "/tags/v3/tags/attach", query: user, body: body}, nil)
}

// createTagged creates a VPC resource in the cluster's resource group and tags it.
func (b *Build) createTagged(ctx context.Context, op, path string, body map[string]any) (out reference, err error) {
	body["resource_group"] = id(b.group)
	if err = b.postVPC(ctx, op, path, body, &out); err != nil {
		return out, err
	}
	return out, b.tag(ctx, out.CRN)
}

// VPC creates the network, and the tag before its first use.
func (b *Build) VPC(ctx context.Context) (err error) {
	defer must.Catch(&err)
	body := map[string]any{"tag_names": []string{b.InfraID}}
	must.Do(b.do(ctx, call{op: "tags:create_tag", method: http.MethodPost, path: "/tags/v3/tags", query: url.Values{"tag_type": {"user"}}, body: body}, nil))
	b.vpc = must.Get(b.createTagged(ctx, "create_vpc", "vpcs", map[string]any{"name": b.InfraID + "-vpc"}))
	return b.ready(ctx, "get_vpc", "vpcs/"+b.vpc.ID, "available")
}

// ready waits for a resource's state.
func (b *Build) ready(ctx context.Context, op, path, state string) error {
	return b.wait(ctx, func() (bool, error) {
		var now struct {
			Status       string
			Provisioning string `json:"provisioning_status"`
		}
		err := b.getVPC(ctx, op, path, &now)
		if now.Status == "failed" || now.Provisioning == "failed" {
			return false, fmt.Errorf("%s is failed", path)
		}
		return now.Status == state || now.Provisioning == state, err
	})
}

// Image imports the boot image.
func (b *Build) Image(ctx context.Context) error {
	image, err := b.createTagged(ctx, "create_image", "images", map[string]any{
		"name": b.InfraID + "-rhcos", "file": map[string]string{"href": "cos://" + b.Region + "/" + imageBucket(b.InfraID) + "/" + imageFile},
		"operating_system": named("rhel-coreos-stable-amd64"),
	})
	b.image = image.ID
	return err
}

// Network creates gateways, subnets and security groups, and waits for the image.
func (b *Build) Network(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for _, zone := range b.Zones {
		gateway := must.Get(b.createTagged(ctx, "create_public_gateway", "public_gateways", map[string]any{
			"name": b.InfraID + "-pgateway-" + zone, "vpc": id(b.vpc.ID), "zone": named(zone),
		}))
		b.gateways[zone] = gateway.ID
		for _, role := range []string{"control-plane", "compute"} {
			name := fmt.Sprintf("%s-subnet-%s-%s", b.InfraID, role, zone)
			subnet := must.Get(b.createTagged(ctx, "create_subnet", "subnets", map[string]any{
				"name": name, "vpc": id(b.vpc.ID), "zone": named(zone), "public_gateway": id(gateway.ID), "total_ipv4_address_count": 256, "ip_version": "ipv4",
			}))
			b.subnets[name] = subnet.ID
		}
	}
	for _, name := range []string{"sg-cluster-wide", "sg-openshift-net", "sg-kube-api-lb", "sg-control-plane", "sg-cp-internal", "security-group-bootstrap"} {
		group := must.Get(b.createTagged(ctx, "create_security_group", "security_groups", map[string]any{"name": b.InfraID + "-" + name, "vpc": id(b.vpc.ID)}))
		b.groups[name] = group.ID
	}
	return b.ready(ctx, "get_image", "images/"+b.image, "available")
}

// Balancers creates the load balancers of the Kubernetes API.
func (b *Build) Balancers(ctx context.Context) (err error) {
	defer must.Catch(&err)
	subnets := pick.Map(b.Zones, func(zone string) any {
		return id(b.subnets[fmt.Sprintf("%s-subnet-control-plane-%s", b.InfraID, zone)])
	})
	for _, one := range []struct {
		name   string
		public bool
		into   *balancer
	}{{"private", false, &b.local}, {"public", true, &b.public}} {
		if one.public && b.Internal {
			continue
		}
		made := must.Get(b.createTagged(ctx, "create_load_balancer", "load_balancers", map[string]any{
			"name": b.InfraID + "-kubernetes-api-" + one.name, "is_public": one.public, "subnets": subnets, "security_groups": []any{id(b.groups["sg-kube-api-lb"])},
		}))
		must.Do(b.ready(ctx, "get_load_balancer", "load_balancers/"+made.ID, "active"))
		must.Do(b.getVPC(ctx, "get_load_balancer", "load_balancers/"+made.ID, one.into))
	}
	return nil
}

func (b *Build) zone(ctx context.Context) (Zone, error) {
	return b.FindZone(ctx, b.BaseDomain, b.Internal)
}

// APIRecord creates the record of the Kubernetes API.
func (b *Build) APIRecord(ctx context.Context) error {
	zone, err := b.zone(ctx)
	if err != nil {
		return err
	}
	target := b.public.Hostname
	if b.Internal {
		target = b.local.Hostname
	}
	return b.createRecord(ctx, zone, "api."+b.Domain(), target)
}

// InternalRecord creates the record that the machines use, and lets the network into a private zone.
func (b *Build) InternalRecord(ctx context.Context) error {
	zone, err := b.zone(ctx)
	if err != nil {
		return err
	}
	if err := b.createRecord(ctx, zone, "api-int."+b.Domain(), b.local.Hostname); err != nil || !b.Internal {
		return err
	}
	return b.permit(ctx, zone)
}

// permit lets the cluster's network into a zone of DNS Services. Nothing of the installer ever undoes it.
func (b *Build) permit(ctx context.Context, zone Zone) error {
	body := map[string]any{"type": "vpc", "permitted_network": map[string]string{"vpc_crn": b.vpc.CRN}}
	return b.do(ctx, call{op: "dns:create_permitted_network", method: http.MethodPost, path: zone.path("permitted_networks"), body: body}, nil)
}
