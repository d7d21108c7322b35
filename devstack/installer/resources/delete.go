package resources

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (c *Cloud) deleteELB(ctx context.Context, kind, arn string) (err error) {
	switch kind {
	case "loadbalancer":
		if name := arn[strings.Index(arn, "loadbalancer/")+len("loadbalancer/"):]; !strings.Contains(name, "/") { // a classic load balancer
			_, err = c.classic.DeleteLoadBalancer(ctx, &elasticloadbalancing.DeleteLoadBalancerInput{LoadBalancerName: &name})
			return err
		}
		_, err = c.elb.DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerArn: &arn})
	case "targetgroup":
		_, err = c.elb.DeleteTargetGroup(ctx, &elb.DeleteTargetGroupInput{TargetGroupArn: &arn})
	case "listener":
		_, err = c.elb.DeleteListener(ctx, &elb.DeleteListenerInput{ListenerArn: &arn})
	default:
		return fmt.Errorf("unrecognized elastic load balancing resource type %s", kind)
	}
	return err
}

func (c *Cloud) deleteIAM(ctx context.Context, kind, name string) error {
	switch kind {
	case "role":
		return c.deleteRole(ctx, name)
	case "instance-profile":
		return c.deleteProfile(ctx, name)
	case "user":
		return c.deleteUser(ctx, name)
	}
	return fmt.Errorf("unrecognized IAM resource type %s", kind)
}

func (c *Cloud) deleteRole(ctx context.Context, name string) (err error) {
	defer must.Catch(&err)
	policies := must.Get(c.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &name}))
	for _, policy := range policies.PolicyNames {
		if _, err := c.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: &policy}); err != nil && !missing(err) {
			return err
		}
	}
	profiles := must.Get(c.iam.ListInstanceProfilesForRole(ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: &name}))
	for _, p := range profiles.InstanceProfiles {
		if err := c.deleteProfile(ctx, aws.ToString(p.InstanceProfileName)); err != nil && !missing(err) {
			return err
		}
	}
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
	return err
}

func (c *Cloud) deleteProfile(ctx context.Context, name string) error {
	out, err := c.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if err != nil {
		return err
	}
	for _, role := range out.InstanceProfile.Roles {
		_, err := c.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: role.RoleName})
		if err != nil && !missing(err) {
			return err
		}
	}
	if c.blind("instance-profile") {
		return nil
	}
	_, err = c.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
	return err
}

func (c *Cloud) deleteUser(ctx context.Context, name string) (err error) {
	defer must.Catch(&err)
	policies := must.Get(c.iam.ListUserPolicies(ctx, &iam.ListUserPoliciesInput{UserName: &name}))
	for _, policy := range policies.PolicyNames {
		if _, err := c.iam.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{UserName: &name, PolicyName: &policy}); err != nil && !missing(err) {
			return err
		}
	}
	keys := must.Get(c.iam.ListAccessKeys(ctx, &iam.ListAccessKeysInput{UserName: &name}))
	for _, key := range keys.AccessKeyMetadata {
		if _, err := c.iam.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: &name, AccessKeyId: key.AccessKeyId}); err != nil && !missing(err) {
			return err
		}
	}
	_, err = c.iam.DeleteUser(ctx, &iam.DeleteUserInput{UserName: &name})
	return err
}

// deleteZone deletes a private zone with its records, and each record's twin in a public zone above it. It never looks at a public
// record without a twin: the real destroyer leaks it too.
func (c *Cloud) deleteZone(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	zone := must.Get(c.r53.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id}))
	parents := must.Get(c.publicParents(ctx, aws.ToString(zone.HostedZone.Name)))
	records := must.Get(c.records(ctx, id))
	for _, r := range records {
		if r.Type == types.RRTypeNs || r.Type == types.RRTypeSoa {
			continue
		}
		for _, parent := range parents {
			must.Do(c.deleteTwin(ctx, parent, r))
		}
		must.Do(c.deleteRecord(ctx, id, r))
	}
	_, err = c.r53.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: &id})
	return err
}

func (c *Cloud) publicParents(ctx context.Context, name string) ([]string, error) {
	zones, err := c.zones(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, z := range zones {
		if (z.Config == nil || !z.Config.PrivateZone) && strings.HasSuffix(name, "."+aws.ToString(z.Name)) {
			ids = append(ids, zoneID(z))
		}
	}
	return ids, nil
}

func (c *Cloud) deleteTwin(ctx context.Context, zone string, of types.ResourceRecordSet) (err error) {
	defer must.Catch(&err)
	records := must.Get(c.records(ctx, zone))
	for _, r := range records {
		if aws.ToString(r.Name) == aws.ToString(of.Name) && r.Type == of.Type {
			must.Do(c.deleteRecord(ctx, zone, r))
		}
	}
	return nil
}

func (c *Cloud) deleteRecord(ctx context.Context, zone string, r types.ResourceRecordSet) error {
	_, err := c.r53.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &zone,
		ChangeBatch:  &types.ChangeBatch{Changes: []types.Change{{Action: types.ChangeActionDelete, ResourceRecordSet: &r}}},
	})
	var gone *types.InvalidChangeBatch
	if errors.As(err, &gone) && strings.Contains(gone.Error(), "not found") {
		return nil
	}
	return err
}
