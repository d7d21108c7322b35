package resources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// ErrNoCluster means that no cluster has this name.
var ErrNoCluster = errors.New("no such host")

// Locate finds the network in which the names below a domain resolve: that of the domain's private zone.
func (c *Cloud) Locate(ctx context.Context, domain string) (network, region string, err error) {
	defer must.Catch(&err)
	zones := must.Get(c.zones(ctx))
	for _, z := range zones {
		if aws.ToString(z.Name) != domain+"." || z.Config == nil || !z.Config.PrivateZone {
			continue
		}
		id := zoneID(z)
		full := must.Get(c.r53.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id}))
		if len(full.VPCs) > 0 {
			return aws.ToString(full.VPCs[0].VPCId), string(full.VPCs[0].VPCRegion), nil
		}
	}
	return "", "", fmt.Errorf("lookup api.%s: %w", domain, ErrNoCluster)
}

// In returns the infraID of the cluster that owns a network.
func (c *Cloud) In(ctx context.Context, network string) (infraID string, err error) {
	out, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{network}})
	if err != nil {
		return "", err
	}
	for _, v := range out.Vpcs {
		for _, t := range v.Tags {
			if infraID, ok := strings.CutPrefix(aws.ToString(t.Key), KubernetesTag("")); ok && aws.ToString(t.Value) == "owned" {
				return infraID, nil
			}
		}
	}
	return "", ErrNoCluster
}

// Machine is one node of a running cluster.
type Machine struct {
	ID, Name, Zone, Type string
	Master               bool
	Running              bool            // its instance is running; not one that is starting or ending
	Mute                 bool            // its node never becomes ready, because a test asks for it
	IP, Egress           string          // Egress is its node's additional address for outgoing traffic, because a test noted one
	Started              string          // its last start, if it was started again
	Restarted            bool            // it was stopped since it was created, so its node's certificates ran out
	Certified            map[string]bool // the certificates that its node got since its last start: client, serving
}

// Joined reports that the machine's node works: it runs, and has a client certificate that is valid.
func (m Machine) Joined() bool {
	return m.Running && !m.Mute && (!m.Restarted || m.Certified[ClientCertificate])
}

// Living is a running cluster: the data for its own machine API.
type Living struct {
	InfraID, Region        string
	Zones                  []string
	MasterType, WorkerType string
	Machines               []Machine
	Network                string                       // its id
	Domains                []string                     // of the network's DHCP options, besides the cloud's own
	Subnets                map[string]string            // ids of those for workers, by zone
	Notes                  map[string]map[string]string // by the id of the resource that has them, and key
	On                     Platform
}

// Platform is what differs between the clouds for a running cluster.
type Platform interface {
	Launch(ctx context.Context, l *Living, zone, subnet string) (id string, err error)
	Terminate(ctx context.Context, ids []string) error
	Note(ctx context.Context, id, key, value string) error
	ProviderID(l *Living, m Machine) string
	SetName(l *Living, zone string) string // of a zone's workers
	Again(ctx context.Context) (*Living, error)
}

// The certificates of a node.
const (
	ClientCertificate  = "client"
	ServingCertificate = "serving"
)

// The stand-in has no cluster to store these in, so they are notes on resources that are deleted with it: a zone's private subnet has
// the requested number of workers and the last error, the network whether the control plane accepts workloads, an instance that its
// node never becomes ready. AWS keeps them as tags.
const (
	replicasTag    = "ocpctl-standin/replicas"
	errorTag       = "ocpctl-standin/error"
	schedulableTag = "ocpctl-standin/masters-schedulable"
	muteTag        = "ocpctl-standin/mute"
	egressTag      = "ocpctl-standin/egress"       // an instance's egress address, which the network gave its node
	certificateTag = "ocpctl-standin/certificate-" // an instance's last start for which its node has the certificate
)

// awsLiving is a running cluster in AWS.
type awsLiving struct{ *Build }

// Living reads a running cluster. ErrNoCluster: it has no control plane any more.
func (c *Cloud) Living(ctx context.Context, infraID string) (_ *Living, err error) {
	defer must.Catch(&err)
	b := awsLiving{c.NewBuild(Spec{InfraID: infraID, UserTags: map[string]string{}})}
	l := &Living{InfraID: infraID, Region: c.Region, Subnets: map[string]string{}, Notes: map[string]map[string]string{}, On: b}
	owned := types.Filter{Name: aws.String("tag:" + KubernetesTag(infraID)), Values: []string{"owned"}}
	vpcs := must.Get(c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: []types.Filter{owned}}))
	subnets := must.Get(c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []types.Filter{owned}}))
	for _, s := range subnets.Subnets {
		if strings.HasPrefix(tag(s.Tags, "Name"), infraID+"-subnet-private-") {
			zone, id := aws.ToString(s.AvailabilityZone), aws.ToString(s.SubnetId)
			l.Subnets[zone], l.Notes[id], l.Zones = id, notes(s.Tags), append(l.Zones, zone)
		}
	}
	slices.Sort(l.Zones)
	must.Do(b.readMachines(ctx, l, owned))
	must.EndIf(len(vpcs.Vpcs) == 0 || l.MasterType == "", ErrNoCluster)
	l.Network = aws.ToString(vpcs.Vpcs[0].VpcId)
	l.Notes[l.Network] = notes(vpcs.Vpcs[0].Tags)
	l.Domains, err = c.domains(ctx, aws.ToString(vpcs.Vpcs[0].DhcpOptionsId))
	return l, err
}

// domains returns the domains of DHCP options, which AWS keeps as one value with spaces.
func (c *Cloud) domains(ctx context.Context, options string) (domains []string, err error) {
	if options == "" || options == "default" {
		return nil, nil
	}
	out, err := c.ec2.DescribeDhcpOptions(ctx, &ec2.DescribeDhcpOptionsInput{DhcpOptionsIds: []string{options}})
	if err != nil {
		return nil, err
	}
	for _, set := range out.DhcpOptions {
		for _, o := range set.DhcpConfigurations {
			if aws.ToString(o.Key) == "domain-name" {
				for _, v := range o.Values {
					domains = append(domains, strings.Fields(aws.ToString(v.Value))...)
				}
			}
		}
	}
	return domains, nil
}

func notes(tags []types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}

// readMachines copies from the control plane what a new worker needs: its image, its security group, and the common tags.
func (b awsLiving) readMachines(ctx context.Context, l *Living, owned types.Filter) error {
	out, err := b.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: []types.Filter{owned}})
	if err != nil {
		return err
	}
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			name, state := tag(i.Tags, "Name"), types.InstanceStateName("")
			if i.State != nil {
				state = i.State.Name
			}
			m := Machine{ID: aws.ToString(i.InstanceId), Name: name, Type: string(i.InstanceType), Running: state == types.InstanceStateNameRunning, IP: aws.ToString(i.PrivateIpAddress)}
			launched := aws.ToTime(i.LaunchTime)
			m.Restarted, m.Started = !launched.Equal(aws.ToTime(i.UsageOperationUpdateTime)), launched.Format(time.RFC3339Nano)
			if i.Placement != nil {
				m.Zone = aws.ToString(i.Placement.AvailabilityZone)
			}
			b.SpotWorkers = b.SpotWorkers || i.InstanceLifecycle == types.InstanceLifecycleTypeSpot
			if state == types.InstanceStateNameTerminated || !l.Add(m, notes(i.Tags)) || !strings.HasPrefix(name, l.InfraID+"-master-") {
				continue
			}
			b.image = aws.ToString(i.ImageId)
			for _, g := range i.SecurityGroups {
				b.nodeGroup = aws.ToString(g.GroupId)
			}
			for _, t := range i.Tags {
				b.UserTags[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
		}
	}
	return nil
}

// Add adds a machine of the cluster with its notes. A machine of another kind is left out.
func (l *Living) Add(m Machine, notes map[string]string) bool {
	m.Master = strings.HasPrefix(m.Name, l.InfraID+"-master-")
	if !m.Master && !strings.HasPrefix(m.Name, l.InfraID+"-worker-") {
		return false
	}
	m.Mute, m.Egress, m.Certified = notes[muteTag] != "", notes[egressTag], map[string]bool{}
	for _, kind := range []string{ClientCertificate, ServingCertificate} {
		m.Certified[kind] = notes[certificateTag+kind] == m.Started
	}
	switch {
	case m.Master:
		l.MasterType = m.Type
	default:
		l.WorkerType = m.Type
	}
	if l.WorkerType == "" {
		l.WorkerType = l.MasterType
	}
	l.Machines = append(l.Machines, m)
	slices.SortFunc(l.Machines, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })
	return true
}

// Workers returns the machines of a zone's set, including those that are starting or ending.
func (l *Living) Workers(zone string) (all []Machine) {
	for _, m := range l.Machines {
		if !m.Master && m.Zone == zone {
			all = append(all, m)
		}
	}
	return all
}

// Replicas returns the last requested number of workers of a zone.
func (l *Living) Replicas(zone string) (n int) {
	if asked := l.Notes[l.Subnets[zone]][replicasTag]; asked != "" {
		_, _ = fmt.Sscan(asked, &n)
		return n
	}
	return len(l.Workers(zone))
}

// Complaint says why a zone's last machine could not be created; empty: it could.
func (l *Living) Complaint(zone string) string { return l.Notes[l.Subnets[zone]][errorTag] }

// Schedulable reports whether the control plane accepts workloads: as it was set, otherwise whether there are no workers.
func (l *Living) Schedulable() bool {
	if set := l.Notes[l.Network][schedulableTag]; set != "" {
		return set == "true"
	}
	return !slices.ContainsFunc(l.Machines, func(m Machine) bool { return !m.Master })
}

// SetSchedulable sets whether the control plane accepts workloads.
func (l *Living) SetSchedulable(ctx context.Context, to bool) error {
	return l.remember(ctx, l.Network, schedulableTag, fmt.Sprint(to))
}

// Resize does what the machine API does when a zone's set is scaled: it creates machines or deletes the newest. fails, if not empty,
// is the cloud's error instead of a machine; nodes of mute machines never become ready.
func (l *Living) Resize(ctx context.Context, zone string, to int, fails string, mute bool) (err error) {
	defer must.Catch(&err)
	subnet := l.Subnets[zone]
	must.Do(l.remember(ctx, subnet, replicasTag, fmt.Sprint(to)))
	have := l.Workers(zone)
	for n := len(have); n < to; n++ {
		if fails == "" {
			if err := l.addWorker(ctx, zone, subnet, mute); err != nil {
				fails = err.Error()
			}
		}
		if fails != "" {
			return l.remember(ctx, subnet, errorTag, fmt.Sprintf("%.250s", fails))
		}
	}
	var surplus []string
	for n := len(have); n > to; n-- {
		surplus = append(surplus, have[n-1].ID)
	}
	if len(surplus) > 0 {
		must.Do(l.On.Terminate(ctx, surplus))
	}
	return l.remember(ctx, subnet, errorTag, "")
}

func (l *Living) addWorker(ctx context.Context, zone, subnet string, mute bool) error {
	id, err := l.On.Launch(ctx, l, zone, subnet)
	if err != nil || !mute {
		return err
	}
	return l.remember(ctx, id, muteTag, "true")
}

// Launch creates a worker.
func (b awsLiving) Launch(ctx context.Context, l *Living, zone, subnet string) (id string, err error) {
	return b.instance(ctx, fmt.Sprintf("%s-worker-%s-%s", l.InfraID, zone, RandomSuffix()), l.WorkerType, l.InfraID+"-worker-profile", subnet, b.SpotWorkers)
}

// SetName ends in the zone.
func (awsLiving) SetName(l *Living, zone string) string { return l.InfraID + "-worker-" + zone }

// Terminate deletes workers.
func (b awsLiving) Terminate(ctx context.Context, ids []string) error {
	_, err := b.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	return err
}

// ProviderID names a machine as its node does.
func (awsLiving) ProviderID(_ *Living, m Machine) string {
	return fmt.Sprintf("aws:///%s/%s", m.Zone, m.ID)
}

// Again reads the cluster's current state.
func (b awsLiving) Again(ctx context.Context) (*Living, error) { return b.Cloud.Living(ctx, b.InfraID) }

// Certify remembers that a machine's node got a certificate.
func (l *Living) Certify(ctx context.Context, m Machine, kind string) error {
	return l.remember(ctx, m.ID, certificateTag+kind, m.Started)
}

// remember keeps a note, or removes it if it is empty.
func (l *Living) remember(ctx context.Context, id, key, value string) error {
	return l.On.Note(ctx, id, key, value)
}

// Note sets a tag, or removes it if it is empty.
func (b awsLiving) Note(ctx context.Context, id, key, value string) (err error) {
	if value == "" {
		_, err = b.ec2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: &key}}})
		return err
	}
	_, err = b.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: &key, Value: &value}}})
	return err
}

func tag(tags []types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}
