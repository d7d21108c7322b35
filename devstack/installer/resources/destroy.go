package resources

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Destroy removes everything with one of the identifiers, and the profiles by name, as the real destroyer does: instances first until
// they are terminated, then the rest repeatedly until nothing is found. Only ctx limits it, and it never touches an untagged
// resource.
type Destroy struct {
	*Cloud
	InfraID     string
	Identifiers []Identifier
	Interval    time.Duration // between two rounds; ten seconds in the real destroyer

	Leave []string // kinds to skip silently, for tests

	Info  func(format string, args ...any)
	Warn  func(format string, args ...any)
	Debug func(format string, args ...any)

	done   map[string]bool
	ended  map[string]bool // instances that end
	failed map[string]int  // failed rounds, by ARN
}

// Run works until nothing is found. Its only errors are a context that ended and a fault.
func (d *Destroy) Run(ctx context.Context) error {
	d.done, d.failed = map[string]bool{}, map[string]int{}
	if err := d.until(ctx, d.instances); err != nil {
		return err
	}
	return d.until(ctx, d.rest)
}

// until repeats a round until it reports that it is done.
func (d *Destroy) until(ctx context.Context, round func(context.Context) (bool, error)) error {
	return Rounds(ctx, d.Interval, len(d.Leave) > 0, round, func(_ int, err error) { d.Debug("%s", err) })
}

// Rounds repeats a round until it reports that it is done, and complains about the errors of those that are not. With leaves something stays,
// which blocks the rest.
func Rounds(ctx context.Context, interval time.Duration, leaves bool, round func(context.Context) (bool, error), complain func(n int, err error)) error {
	for n := 1; ; n++ {
		done, err := round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case act.Ends(err):
			return err
		case err != nil:
			complain(n, err)
		case done:
			return nil
		}
		if leaves && n > 20 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}

func (d *Destroy) instances(ctx context.Context) (bool, error) {
	if d.leaves("instance") {
		return true, nil
	}
	ids, err := d.findInstances(ctx, d.Identifiers)
	if err != nil || len(ids) == 0 {
		return err == nil, err
	}
	d.Debug("search for and delete matching instances by tag in %s: %d found", d.Region, len(ids))
	if _, err := d.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids}); err != nil {
		return false, d.oneByOne(ctx, ids, err)
	}
	for _, id := range ids {
		d.Debug("Terminating id=%s", id)
	}
	return false, nil
}

// oneByOne terminates the instances as the real destroyer always does, when one call for all of them was refused.
func (d *Destroy) oneByOne(ctx context.Context, ids []string, refused error) error {
	if act.Ends(refused) {
		return refused
	}
	if len(ids) == 1 {
		d.grumble(d.instanceARN(ids[0]), refused)
		return nil
	}
	for _, id := range ids {
		_, err := d.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
		switch {
		case act.Ends(err):
			return err
		case err != nil:
			d.grumble(d.instanceARN(id), err)
		case d.ended[id]: // it is on its way
		default:
			d.Debug("Terminating id=%s", id)
			if d.ended == nil {
				d.ended = map[string]bool{}
			}
			d.ended[id] = true
		}
	}
	return nil
}

func (d *Destroy) instanceARN(id string) string {
	return "arn:aws:ec2:" + d.Region + ":" + standinAccount + ":instance/" + id
}

// standinAccount is written into the lines about instances, which have no other use of it.
const standinAccount = "123456789012"

// leaves reports whether to skip a kind, spelt as in an ARN or as people spell it.
func (d *Destroy) leaves(kind string) bool {
	spoken := map[string]string{
		"elastic-ip": "address", "natgateway": "nat-gateway", "loadbalancer": "load-balancer", "targetgroup": "target-group", "hostedzone": "hosted-zone",
	}[kind]
	return slices.Contains(d.Leave, kind) || spoken != "" && slices.Contains(d.Leave, spoken)
}

// order is the order of the kinds within a round, chosen so that one round is usually enough.
var order = []string{
	"instance", "loadbalancer", "listener", "targetgroup", "natgateway", "vpc-endpoint", "network-interface", "elastic-ip",
	"security-group", "route-table", "subnet", "internet-gateway", "volume", "snapshot", "image", "vpc",
}

func (d *Destroy) rest(ctx context.Context) (bool, error) {
	arns, err := d.find(ctx)
	if err != nil {
		return false, err
	}
	slices.SortStableFunc(arns, func(a, b string) int { return rank(a) - rank(b) })
	left := 0
	for _, arn := range arns {
		kind, _ := kindAndID(arn)
		if d.done[arn] || d.leaves(kind) {
			continue
		}
		left++
		switch err := d.delete(ctx, arn); {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case act.Ends(err):
			return false, err
		case err == nil || missing(err):
			d.done[arn] = true
			d.Info("Deleted arn=%q", arn)
		case kind == "image" && codeSays(err, "AuthFailure"): // AWS Backup holds it
			d.done[arn] = true
			d.Warn("Skipping AMI image %s deletion error=%q", arn[strings.LastIndex(arn, "/")+1:], err)
		default:
			d.grumble(arn, err)
		}
	}
	return left == 0, nil
}

// quiet is how many rounds an ARN's failures are logged at debug level before one is a warning: five minutes of the real destroyer's
// ten seconds.
const quiet = 30

func (d *Destroy) grumble(arn string, err error) {
	d.failed[arn]++
	say := d.Debug
	if d.failed[arn]%quiet == 0 {
		say = d.Warn
	}
	say("%s arn=%s", strings.ReplaceAll(err.Error(), "\n", "; "), arn)
}

func (d *Destroy) find(ctx context.Context) (_ []string, err error) {
	defer must.Catch(&err)
	arns, err := d.findTagged(ctx, d.Identifiers)
	must.Wrap(err, "get tagged resources")
	arns = slices.DeleteFunc(arns, func(arn string) bool { // the tagging API knows some users: no rule says which
		kind, _ := kindAndID(arn)
		return d.blind(kind)
	})
	inIAM, err := d.findIAM(ctx, d.InfraID, d.Identifiers)
	must.Wrap(err, "get IAM roles and users")
	buckets, err := d.findBuckets(ctx, d.InfraID, d.Identifiers)
	must.Wrap(err, "list buckets")
	arns = append(append(arns, inIAM...), buckets...)
	slices.Sort(arns)
	return slices.Compact(arns), nil
}

func rank(arn string) int {
	kind, _ := kindAndID(arn)
	if i := slices.Index(order, kind); i >= 0 {
		return i
	}
	return len(order)
}

// kindAndID splits an ARN's resource into "vpc" and "vpc-1"; for a bucket, which has no kind, the kind is bucket.
func kindAndID(arn string) (kind, id string) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return "", arn
	}
	if parts[2] == "s3" {
		return "bucket", parts[5]
	}
	kind, id, _ = strings.Cut(parts[5], "/")
	return kind, id
}

// delete removes one resource. For a service that it does not know it logs this in every round, for ever, as the real destroyer does.
func (d *Destroy) delete(ctx context.Context, arn string) error {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return fmt.Errorf("unrecognized ARN %q", arn)
	}
	kind, id := kindAndID(arn)
	switch parts[2] {
	case "ec2":
		return d.deleteEC2(ctx, kind, id)
	case "elasticloadbalancing":
		return d.deleteELB(ctx, kind, arn)
	case "iam":
		return d.deleteIAM(ctx, kind, id[strings.LastIndex(id, "/")+1:])
	case "route53":
		return d.deleteZone(ctx, id)
	case "s3":
		return d.deleteBucket(ctx, id)
	}
	return fmt.Errorf("unrecognized ARN service %s (%s)", parts[2], arn)
}
