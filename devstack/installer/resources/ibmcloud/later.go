package ibmcloud

import (
	"context"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Operators creates what a running cluster's operators create: the workers, the registry's Object Storage with its key and bucket, the
// router's load balancer and the record of the applications.
func (b *Build) Operators(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(b.find(ctx))
	must.Do(b.Workers(ctx))
	must.Do(b.registry(ctx))
	router := must.Get(b.serviceBalancer(ctx, b.InfraID))
	zone := must.Get(b.zone(ctx))
	return b.createRecord(ctx, zone, "*.apps."+b.Domain(), router.Hostname)
}

// find looks up by name what an earlier process created.
func (b *Build) find(ctx context.Context) (err error) {
	defer must.Catch(&err)
	group := must.Get(b.FindGroup(ctx, b.Group()))
	b.group = group.ID
	for _, one := range []struct {
		one, path string
		into      func(vpcItem)
		filters   []string
	}{
		{"vpc", "vpcs", func(r vpcItem) {
			if r.Name == b.InfraID+"-vpc" {
				b.vpc = reference{ID: r.ID, CRN: r.CRN, Name: r.Name}
			}
		}, []string{"resource_group.id", b.group}},
		{"image", "images", func(r vpcItem) { b.image = r.ID }, []string{"name", b.InfraID + "-rhcos"}},
		{"subnet", "subnets", func(r vpcItem) { b.subnets[r.Name] = r.ID }, []string{"resource_group.id", b.group}},
		{"security_group", "security_groups", func(r vpcItem) { b.groups[strings.TrimPrefix(r.Name, b.InfraID+"-")] = r.ID }, []string{"resource_group.id", b.group}},
	} {
		all := must.Get(b.firstPage(ctx, one.one, one.path, one.filters...))
		for _, r := range all {
			one.into(r)
		}
	}
	return nil
}

func (b *Build) registry(ctx context.Context) (err error) {
	defer must.Catch(&err)
	name := b.InfraID + "-image-registry"
	storage := must.Get(b.createStorage(ctx, name, "bluemix-global", b.group, "kubernetes.io_cluster_"+b.InfraID+":owned"))
	body := map[string]any{"name": name, "source": storage.GUID, "role": "Writer", "parameters": map[string]bool{"HMAC": true}}
	must.Do(b.do(ctx, call{op: "rc:create_resource_key", method: http.MethodPost, path: "/rc/v2/resource_keys", body: body}, nil))
	bucket := name + "-" + b.Region + "-"
	return b.createBucket(ctx, storage.CRN, bucket+strings.Repeat("x", max(0, 62-len(bucket)-6))+random(6))
}

// serviceBalancer creates the load balancer of a Service, whose name is cut to 63 characters. It has no tags.
func (b *Build) serviceBalancer(ctx context.Context, cluster string) (out balancer, err error) {
	name := "kube-" + cluster + "-" + random(32)
	var subnets []any
	for _, zone := range b.Zones {
		subnets = append(subnets, id(b.subnets[b.InfraID+"-subnet-compute-"+zone]))
	}
	err = b.postVPC(ctx, "create_load_balancer", "load_balancers", map[string]any{
		"name": name[:min(63, len(name))], "is_public": !b.Internal, "subnets": subnets, "resource_group": id(b.group),
	}, &out)
	if err != nil {
		return out, err
	}
	return out, b.ready(ctx, "get_load_balancer", "load_balancers/"+out.ID, "active")
}
