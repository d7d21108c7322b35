package ibmcloud

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func random(n int) string {
	raw := make([]byte, (n+1)/2)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)[:n]
}

// ServiceBalancer is the load balancer of a user's Service. Its name contains the infraID, so destroy removes it.
func (b *Build) ServiceBalancer(ctx context.Context) error {
	_, err := b.serviceBalancer(ctx, b.InfraID)
	return err
}

// ForeignBalancer is a load balancer that a user made in the cluster's subnets under a name of their own: the subnets can never be
// deleted.
func (b *Build) ForeignBalancer(ctx context.Context) error {
	var out balancer
	err := b.postVPC(ctx, "create_load_balancer", "load_balancers", map[string]any{
		"name": "reports-" + random(6), "is_public": false, "subnets": []any{id(b.subnets[b.InfraID+"-subnet-compute-"+b.Zones[0]])}, "resource_group": id(b.group),
	}, &out)
	if err != nil {
		return err
	}
	return b.ready(ctx, "get_load_balancer", "load_balancers/"+out.ID, "active")
}

// ClaimedVolume is the disk of a claim. The storage driver gives it no tag of the cluster's.
func (b *Build) ClaimedVolume(ctx context.Context) (out reference, err error) {
	err = b.postVPC(ctx, "create_volume", "volumes", map[string]any{
		"name": "pvc-" + random(12), "capacity": 10, "profile": named("general-purpose"), "zone": named(b.Spec.Zones[0]), "resource_group": id(b.group),
	}, &out)
	if err != nil {
		return out, err
	}
	return out, b.ready(ctx, "get_volume", "volumes/"+out.ID, "available")
}

// RetainedSnapshot is a snapshot of a claimed volume that is gone.
func (b *Build) RetainedSnapshot(ctx context.Context) (err error) {
	defer must.Catch(&err)
	volume := must.Get(b.ClaimedVolume(ctx))
	must.Do(b.postVPC(ctx, "create_snapshot", "snapshots", map[string]any{
		"name": "snapshot-" + random(12), "source_volume": id(volume.ID), "resource_group": id(b.group),
	}, nil))
	return b.deleteVPC(ctx, "delete_volume", "volumes/"+volume.ID)
}

// ExternalRecord is a record for the cluster's domain itself, as external-dns makes them.
func (b *Build) ExternalRecord(ctx context.Context) error {
	zone, err := b.zone(ctx)
	if err != nil {
		return err
	}
	return b.createRecord(ctx, zone, b.Domain(), "shop.example.com")
}

// SpareAddress is an address that somebody reserved in the cluster's resource group under an invented name.
func (b *Build) SpareAddress(ctx context.Context) error {
	return b.postVPC(ctx, "create_floating_ip", "floating_ips", map[string]any{"zone": named(b.Spec.Zones[0]), "resource_group": id(b.group)}, nil)
}

// SSHKey is an SSH key in the cluster's resource group.
func (b *Build) SSHKey(ctx context.Context) error {
	return b.postVPC(ctx, "create_key", "keys", map[string]any{
		"name": b.InfraID + "-debug", "public_key": "ssh-rsa AAAAB3NzaC1yc2E", "type": "rsa", "resource_group": id(b.group),
	}, nil)
}

// Permit lets the network of a public cluster into the first zone of DNS Services, as users do who need names there.
func (b *Build) Permit(ctx context.Context) error {
	zones, err := b.Cloud.DNSZones(ctx, true)
	if err != nil || len(zones) == 0 {
		return err
	}
	return b.permit(ctx, zones[0])
}

// Ghost makes Resource Controller list the boot image as a resource that VPC does not know: it stays active after the image is gone, and
// blocks the resource group.
func (b *Build) Ghost(ctx context.Context) error {
	body := map[string]any{"resource": map[string]any{
		"service": "is", "type": "image", "name": b.InfraID + "-rhcos", "group": b.group, "account": b.Account, "region": b.Region, "state": "active",
		"attrs": map[string]string{"ghost": "true"},
	}}
	return b.do(ctx, call{op: "standin:plant", method: http.MethodPost, path: "/_standin/plant", body: body, reads: true}, nil)
}

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
	subnets := pick.Map(b.Zones, func(zone string) any { return id(b.subnets[b.InfraID+"-subnet-compute-"+zone]) })
	err = b.postVPC(ctx, "create_load_balancer", "load_balancers", map[string]any{
		"name": name[:min(63, len(name))], "is_public": !b.Internal, "subnets": subnets, "resource_group": id(b.group),
	}, &out)
	if err != nil {
		return out, err
	}
	return out, b.ready(ctx, "get_load_balancer", "load_balancers/"+out.ID, "active")
}
