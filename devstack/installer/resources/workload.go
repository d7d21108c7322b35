package resources

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	classictypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// serviceName returns a name like the cloud controller's for a Service's load balancer: an a and 31 hex digits.
func serviceName() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	return "a" + hex.EncodeToString(raw)[:31]
}

// ServiceBalancer creates what a Service of type LoadBalancer creates: a classic load balancer with its own security group, both with
// the cluster's tag.
func (b *Build) ServiceBalancer(ctx context.Context, ports ...int32) (_ balancer, err error) {
	defer must.Catch(&err)
	name := serviceName()
	group := "k8s-elb-" + name
	made, err := b.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
		VpcId: &b.vpc, GroupName: &group, Description: aws.String("Security group for Kubernetes ELB " + name),
		TagSpecifications: b.ec2Tags(types.ResourceTypeSecurityGroup, group),
	})
	must.Wrap(err, "failed to create security group of a service")
	listeners := make([]classictypes.Listener, len(ports))
	for i, port := range ports {
		listeners[i] = classictypes.Listener{Protocol: aws.String("TCP"), LoadBalancerPort: port, InstancePort: aws.Int32(30000 + port)}
	}
	out, err := b.classic.CreateLoadBalancer(ctx, &elasticloadbalancing.CreateLoadBalancerInput{
		LoadBalancerName: &name, Subnets: b.publicSubnets, SecurityGroups: []string{aws.ToString(made.GroupId)}, Listeners: listeners,
		Tags: sorted(b.tags(name), func(k, v *string) classictypes.Tag { return classictypes.Tag{Key: k, Value: v} }),
	})
	must.Wrap(err, "failed to create load balancer of a service")
	got, err := b.classic.DescribeLoadBalancers(ctx, &elasticloadbalancing.DescribeLoadBalancersInput{LoadBalancerNames: []string{name}})
	must.Wrap(err, "failed to describe load balancer of a service")
	of := balancer{dnsName: aws.ToString(out.DNSName)}
	for _, d := range got.LoadBalancerDescriptions {
		of.zone = aws.ToString(d.CanonicalHostedZoneNameID)
	}
	return of, nil
}

// ownTags are the storage driver's tags on a volume or snapshot if it does not know the cluster's tag.
func (b *Build) ownTags(name, key, value string) []types.Tag {
	tags := map[string]string{"Name": name, key: value, "ebs.csi.aws.com/cluster": "true"}
	maps.Copy(tags, b.UserTags)
	return sorted(tags, func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} })
}

// ClaimedVolume creates the volume of a claim. It has the user's tags and its own, not the cluster's.
func (b *Build) ClaimedVolume(ctx context.Context) (id string, err error) {
	name := b.InfraID + "-dynamic-pvc-" + RandomSuffix()
	out, err := b.ec2.CreateVolume(ctx, &ec2.CreateVolumeInput{
		AvailabilityZone: &b.Zones[0], Size: aws.Int32(10), VolumeType: types.VolumeTypeGp3,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeVolume, Tags: b.ownTags(name, "CSIVolumeName", name)}},
	})
	if err != nil {
		return "", fmt.Errorf("failed to create volume of a claim: %w", err)
	}
	return aws.ToString(out.VolumeId), nil
}

// RetainedSnapshot creates a snapshot of a claim's volume that outlives it: the volume is deleted again.
func (b *Build) RetainedSnapshot(ctx context.Context) (err error) {
	defer must.Catch(&err)
	volume := must.Get(b.ClaimedVolume(ctx))
	name := b.InfraID + "-dynamic-snapshot-" + RandomSuffix()
	_, err = b.ec2.CreateSnapshot(ctx, &ec2.CreateSnapshotInput{
		VolumeId: &volume, Description: aws.String("Created by AWS EBS CSI driver for volume " + volume),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSnapshot, Tags: b.ownTags(name, "CSIVolumeSnapshotName", name)}},
	})
	must.Wrap(err, "failed to create snapshot of a claim")
	_, err = b.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: &volume})
	must.Wrap(err, "failed to delete volume of a claim")
	return nil
}

// ExternalRecord creates what external-dns creates for a route: an address and a record with its owner, in the public zone.
func (b *Build) ExternalRecord(ctx context.Context) error {
	name := "shop." + b.Domain() + "."
	record := func(kind r53types.RRType, name, value string) r53types.Change {
		return r53types.Change{Action: r53types.ChangeActionUpsert, ResourceRecordSet: &r53types.ResourceRecordSet{
			Name: aws.String(name), Type: kind, TTL: aws.Int64(300), ResourceRecords: []r53types.ResourceRecord{{Value: aws.String(value)}},
		}}
	}
	_, err := b.r53.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &b.publicZone, ChangeBatch: &r53types.ChangeBatch{
		Changes: []r53types.Change{record(r53types.RRTypeA, name, "192.0.2.10"), record(r53types.RRTypeTxt, "a-"+name, `"heritage=external-dns,external-dns/owner=shop"`)},
	}})
	if err != nil {
		return fmt.Errorf("failed to create record of a workload: %w", err)
	}
	return nil
}

// Operators creates what a starting cluster's own operators create: users, workers, the ingress with its records, the registry's
// bucket. They run in the cluster, so a signal to the installer does not interrupt them; here ctx stops only between two of them.
func (b *Build) Operators(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for _, operator := range []func(context.Context) error{b.OperatorUsers, b.WorkerMachines, b.ingress, b.registry} {
		must.Do(ctx.Err())
		must.Do(operator(context.WithoutCancel(ctx)))
	}
	return nil
}

// ingress creates the router's load balancer, named as the cloud controller names one, and the wildcard records.
func (b *Build) ingress(ctx context.Context) (err error) {
	var made balancer
	if b.ClassicIngress {
		made, err = b.ServiceBalancer(ctx, 80, 443)
	} else {
		made, err = b.balancer(ctx, serviceName(), elbtypes.LoadBalancerSchemeEnumInternetFacing, b.publicSubnets, 80, 443)
	}
	if err != nil {
		return err
	}
	return b.ingressRecords(ctx, made)
}

// registry creates the image registry's bucket. Its name has a random suffix, so that nobody can guess it.
func (b *Build) registry(ctx context.Context) error {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	name := fmt.Sprintf("%.62s", registryPrefix(b.InfraID)+b.Region+"-"+hex.EncodeToString(raw))
	if err := b.createBucket(ctx, name); err != nil {
		return err
	}
	return b.tagBucket(ctx, name)
}

func registryPrefix(infraID string) string { return infraID + "-image-registry-" }

// Requests are what one user sent to a cluster's API in the newest hour in which they sent anything.
type Requests struct {
	User  string
	Hour  time.Time
	Count int
}

// RequestsTag is the prefix of the network's tags that count requests, one tag for each user.
const RequestsTag = "ocpctl-standin/requests/"

// Requests returns what each user sent. The stand-in remembers the newest hour of each.
func (l *Living) Requests() (all []Requests) {
	for key, value := range l.Notes[l.Network] {
		var r Requests
		var hour int64
		if n, _ := fmt.Sscan(value, &r.User, &hour, &r.Count); strings.HasPrefix(key, RequestsTag) && n == 3 {
			r.Hour = time.Unix(hour, 0).UTC()
			all = append(all, r)
		}
	}
	return all
}

// CountRequest counts a request of a user.
func (l *Living) CountRequest(ctx context.Context, user string, now time.Time) error {
	count, hour := 1, now.UTC().Truncate(time.Hour)
	for _, r := range l.Requests() {
		if r.User == user && r.Hour.Equal(hour) {
			count += r.Count
		}
	}
	return l.remember(ctx, l.Network, RequestsTag+short(user), fmt.Sprintf("%s %d %d", user, hour.Unix(), count))
}
