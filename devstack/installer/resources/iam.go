package resources

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// suffixAlphabet is Kubernetes' own: no vowels, no ambiguous characters.
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"

// RandomSuffix returns five characters, as the installer and Kubernetes append to names.
func RandomSuffix() string {
	raw := make([]byte, 5)
	_, _ = rand.Read(raw) // never fails
	for i := range raw {
		raw[i] = suffixAlphabet[int(raw[i])%len(suffixAlphabet)]
	}
	return string(raw)
}

const assumeByEC2 = `{"Version":"2012-10-17","Statement":[{"Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"},"Effect":"Allow","Sid":""}]}`

func (b *Build) iamTags(name string) []types.Tag {
	return sorted(b.tags(name), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} })
}

// Role creates the role and the instance profile of "master" or "worker" nodes.
func (b *Build) Role(ctx context.Context, kind string) (err error) {
	defer must.Catch(&err)
	role, profile := b.InfraID+"-"+kind+"-role", b.InfraID+"-"+kind+"-profile"
	_, err = b.iam.CreateRole(ctx, &iam.CreateRoleInput{
		RoleName: &role, AssumeRolePolicyDocument: aws.String(assumeByEC2), Tags: b.iamTags(role),
	})
	must.Wrap(err, "failed to create %s role", kind)
	_, err = b.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
		RoleName: &role, PolicyName: aws.String(b.InfraID + "-" + kind + "-policy"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["` + strings.Join(nodeActions[kind], `","`) + `"],"Resource":"*"}]}`),
	})
	must.Wrap(err, "failed to create %s role policy", kind)
	_, err = b.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: &profile, Tags: b.iamTags(profile)})
	must.Wrap(err, "failed to create %s instance profile", kind)
	_, err = b.iam.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &profile, RoleName: &role})
	must.Wrap(err, "failed to add role (%s) to instance profile (%s)", role, profile)
	return nil
}

// nodeActions are what the installer lets nodes do: those of the control plane with load balancers and security groups are the cloud
// controller's (openshift/installer pkg/infrastructure/aws/clusterapi/iam.go).
var nodeActions = map[string][]string{
	"master": {
		"ec2:AttachVolume", "ec2:AuthorizeSecurityGroupIngress", "ec2:CreateSecurityGroup", "ec2:CreateTags", "ec2:CreateVolume", "ec2:DeleteSecurityGroup", "ec2:DeleteVolume",
		"ec2:Describe*", "ec2:DetachVolume", "ec2:ModifyInstanceAttribute", "ec2:ModifyVolume", "ec2:RevokeSecurityGroupIngress",
		"elasticloadbalancing:AddTags", "elasticloadbalancing:AttachLoadBalancerToSubnets", "elasticloadbalancing:ApplySecurityGroupsToLoadBalancer",
		"elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateLoadBalancerPolicy",
		"elasticloadbalancing:CreateLoadBalancerListeners", "elasticloadbalancing:CreateTargetGroup", "elasticloadbalancing:ConfigureHealthCheck",
		"elasticloadbalancing:DeleteListener", "elasticloadbalancing:DeleteLoadBalancer", "elasticloadbalancing:DeleteLoadBalancerListeners",
		"elasticloadbalancing:DeleteTargetGroup", "elasticloadbalancing:DeregisterInstancesFromLoadBalancer", "elasticloadbalancing:DeregisterTargets",
		"elasticloadbalancing:Describe*", "elasticloadbalancing:DetachLoadBalancerFromSubnets", "elasticloadbalancing:ModifyListener",
		"elasticloadbalancing:ModifyLoadBalancerAttributes", "elasticloadbalancing:ModifyTargetGroup", "elasticloadbalancing:ModifyTargetGroupAttributes",
		"elasticloadbalancing:RegisterInstancesWithLoadBalancer", "elasticloadbalancing:RegisterTargets", "elasticloadbalancing:SetLoadBalancerPoliciesForBackendServer",
		"elasticloadbalancing:SetLoadBalancerPoliciesOfListener", "kms:DescribeKey",
	},
	"worker": {"ec2:DescribeInstances", "ec2:DescribeRegions"},
}

// HasRole reports whether a role exists, by its ARN.
func (c *Cloud) HasRole(ctx context.Context, arn string) (bool, error) {
	name := arn[strings.LastIndex(arn, "/")+1:]
	_, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// operators are the in-cluster components that each get an IAM user in Mint mode.
var operators = []string{
	"aws-ebs-csi-driver-operator", "cloud-credential-operator-iam-ro", "openshift-cloud-network-config",
	"openshift-image-registry", "openshift-ingress", "openshift-machine-api-aws",
}

// OperatorUsers creates the IAM users that the cloud credential operator creates.
func (b *Build) OperatorUsers(ctx context.Context) (err error) {
	defer must.Catch(&err)
	if !b.Mint {
		return nil
	}
	for _, operator := range operators {
		name := fmt.Sprintf("%s-%s-%s", b.InfraID, operator, RandomSuffix())
		_, err = b.iam.CreateUser(ctx, &iam.CreateUserInput{UserName: &name, Tags: b.iamTags(name)})
		must.Wrap(err, "failed to create user %s", name)
		_, err := b.iam.PutUserPolicy(ctx, &iam.PutUserPolicyInput{
			UserName: &name, PolicyName: aws.String(name + "-policy"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["iam:GetUser"],"Resource":"*"}]}`),
		})
		must.Wrap(err, "failed to put policy of user %s", name)
		_, err = b.iam.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: &name})
		must.Wrap(err, "failed to create access key of user %s", name)
	}
	return nil
}
