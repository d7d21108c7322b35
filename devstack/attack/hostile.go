package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// hostileAttacks are those of an admin of their own cluster, who has the cloud roles of its operators and nodes.
func hostileAttacks() []attack {
	return []attack{
		{name: "hostile/roles", who: "admin of a cluster", tried: "use each role of the own cluster on the victim's machines, disks, records, identity bucket and roles", short: true, play: hostileRoles},
		{name: "hostile/forged", who: "a tagger in the account", tried: "give an older disk of somebody else all tags of the own cluster, then destroy the own", play: forgedTags},
	}
}

// role returns a client configuration with a role's credentials, which the cluster's tokens and its machines give to whoever is admin there.
func (t *target) role(name string) (awssdk.Config, error) {
	of, token, err := t.AWS.RoleCredentials(name)
	return awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String(t.AWS.URL()), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(of.AccessKey, of.SecretKey, token),
	}, err
}

func hostileRoles(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	own := must.Get(t.newPrey(ctx, attacker, t.unique("hostile")))
	tries := must.Get(t.hostileTries(ctx, v))
	var roles, done []string
	for _, r := range t.AWS.Resources("") {
		if r.Type != "role" || !strings.HasPrefix(r.Name, own.CCOName+"-") && !strings.HasPrefix(r.Name, own.InfraID+"-") {
			continue
		}
		roles = append(roles, r.Name)
		as := must.Get(t.role(r.Name))
		for what, try := range tries {
			if err := try(as); err == nil {
				done = append(done, r.Name+" could "+what)
			} else if !strings.Contains(err.Error(), "AccessDenied") && !strings.Contains(err.Error(), "UnauthorizedOperation") {
				return result{}, fmt.Errorf("%s: %s: %w", r.Name, what, err)
			}
		}
	}
	must.FailIf(len(roles) < 9, "the own cluster has the roles %v; seven of operators and two of nodes were expected", roles)
	harm := must.Get(t.harm(ctx, v))
	must.Do(t.endOf(ctx, own.ID))
	if len(done) > 0 || harm != "" {
		slices.Sort(done)
		return through("%s; %s", strings.Join(done, "; "), harm)
	}
	return held("%d roles with %d acts each were refused; %s", len(roles), len(tries), v.unharmed())
}

// forgedTags gives a disk that is older than the attacker's cluster all its tags. The destroyer deletes by tag.
func forgedTags(ctx context.Context, t *target) (result, error) {
	own := must.Get(t.newPrey(ctx, attacker, t.unique("forger")))
	disk := must.Get(t.AWS.Plant(aws.Resource{Service: "ec2", Type: "volume", Region: "us-east-1", Name: "payroll", Created: time.Now().AddDate(-1, 0, 0)}))
	var tags []types.Tag
	for _, r := range t.AWS.Resources(own.InfraID) {
		if r.Type == "vpc" && r.Tags["kubernetes.io/cluster/"+own.InfraID] != "" {
			for key, value := range r.Tags {
				tags = append(tags, types.Tag{Key: &key, Value: &value})
			}
		}
	}
	must.FailIf(len(tags) == 0, "the own network has no tags")
	must.Get(t.cloud().CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{disk.ID}, Tags: tags}))
	must.Do(t.endOf(ctx, own.ID))
	seen := must.Get(t.tornDown(ctx, own.ID, disk.ID))
	there := slices.ContainsFunc(t.AWS.Resources(""), func(r aws.Resource) bool { return r.ID == disk.ID })
	must.Do(t.AWS.Free(disk.ID))
	throughIf(!there, "the disk was deleted; %s", seen)
	return held("the disk is there; %s", seen)
}

// tornDown waits until a teardown is over or has stopped because of a resource, and says how it is then.
func (t *target) tornDown(ctx context.Context, id, resource string) (seen string, err error) {
	err = await(ctx, "the teardown to stop or to be over", func(ctx context.Context) (bool, error) {
		now, err := t.state(ctx, id)
		if err != nil {
			return false, err
		}
		seen = now.String()
		named, err := t.count(ctx, "SELECT count(*) FROM clusters WHERE id = $1 AND (blockers::text || why::text) LIKE '%' || $2 || '%'", id, resource)
		return now.Phase == "released" || now.Phase == "destroy_blocked" || named > 0, err
	})
	if err != nil {
		return "", fmt.Errorf("%w; %s", err, seen)
	}
	return seen, nil
}

// hostileTries are acts on a cluster, by what they would achieve.
func (t *target) hostileTries(ctx context.Context, v prey) (map[string]func(awssdk.Config) error, error) {
	var machine, disk string
	for _, r := range t.AWS.Resources(v.InfraID) {
		switch r.Type {
		case "instance":
			machine = r.ID
		case "volume":
			disk = r.ID
		}
	}
	zone, err := t.publicZone(ctx)
	if err != nil || machine == "" || disk == "" {
		return nil, errors.Join(err, fmt.Errorf("the victim's machine %q, disk %q", machine, disk))
	}
	onMachine := func(do func(*ec2.Client) error) func(awssdk.Config) error {
		return func(as awssdk.Config) error { return do(ec2.NewFromConfig(as)) }
	}
	return map[string]func(awssdk.Config) error{
		"stop a machine": onMachine(func(api *ec2.Client) error {
			_, err := api.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{machine}})
			return err
		}),
		"end a machine": onMachine(func(api *ec2.Client) error {
			_, err := api.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{machine}})
			return err
		}),
		"copy a disk": onMachine(func(api *ec2.Client) error {
			_, err := api.CreateSnapshot(ctx, &ec2.CreateSnapshotInput{VolumeId: &disk})
			return err
		}),
		"take a disk": onMachine(func(api *ec2.Client) error {
			_, err := api.DetachVolume(ctx, &ec2.DetachVolumeInput{VolumeId: &disk})
			return err
		}),
		"mark a machine": onMachine(func(api *ec2.Client) error {
			_, err := api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{machine}, Tags: []types.Tag{{Key: awssdk.String("x"), Value: awssdk.String("y")}}})
			return err
		}),
		"redirect the API": func(as awssdk.Config) error {
			_, err := route53.NewFromConfig(as).ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &r53types.ChangeBatch{
				Changes: []r53types.Change{{Action: "UPSERT", ResourceRecordSet: &r53types.ResourceRecordSet{Name: awssdk.String("api." + v.Name + "." + v.BaseDomain), Type: "CNAME",
					TTL: awssdk.Int64(30), ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("evil.example")}}}}},
			}})
			return err
		},
		"replace the keys that sign tokens": func(as awssdk.Config) error {
			api := s3.NewFromConfig(as, func(o *s3.Options) { o.UsePathStyle, o.BaseEndpoint = true, awssdk.String(t.S3.URL()) })
			_, err := api.PutObject(ctx, &s3.PutObjectInput{Bucket: awssdk.String(v.CCOName + "-oidc"), Key: awssdk.String("keys.json"), Body: strings.NewReader("{}")})
			return err
		},
	}, nil
}

// publicZone returns the id of the base domain's public zone.
func (t *target) publicZone(ctx context.Context) (string, error) {
	api := route53.NewFromConfig(awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String(t.AWS.URL()), Credentials: t.cloud().Options().Credentials,
	})
	all, err := api.ListHostedZones(ctx, &route53.ListHostedZonesInput{})
	if err != nil {
		return "", err
	}
	for _, z := range all.HostedZones {
		if z.Config == nil || !z.Config.PrivateZone {
			return strings.TrimPrefix(awssdk.ToString(z.Id), "/hostedzone/"), nil
		}
	}
	return "", errors.New("the account has no public zone")
}
