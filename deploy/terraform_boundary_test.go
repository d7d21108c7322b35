package deploy_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

// as are the keys of a request by a role of the cluster shop, whose infraID is shop-abcde.
func as(pairs ...string) map[string][]string {
	return keys(append([]string{"aws:PrincipalTag/ClusterId", "clu_shop", "aws:PrincipalTag/ocpctl-infra-id", "shop-abcde", "aws:PrincipalTag/ocpctl-domain", "shop.labs.example.com"}, pairs...)...)
}

// Whatever a role's own policy says, the boundary is the most that it may do.
func TestTheBoundaryEndsAtTheCluster(t *testing.T) {
	const (
		machine  = "arn:aws:ec2:us-east-1:" + account + ":instance/i-1"
		disk     = "arn:aws:ec2:us-east-1:" + account + ":volume/vol-1"
		snapshot = "arn:aws:ec2:us-east-1::snapshot/snap-1"
		group    = "arn:aws:ec2:us-east-1:" + account + ":security-group/sg-1"
		zone     = "arn:aws:route53:::hostedzone/ZBASE"
		records  = "route53:ChangeResourceRecordSetsNormalizedRecordNames"
		passed   = "iam:PassedToService"
		role     = "arn:aws:iam::" + account + ":role/"
		ec2      = "ec2.amazonaws.com"
		cluster  = "aws:ResourceTag/ClusterId"
		given    = "aws:RequestTag/ClusterId"
		creation = "ec2:CreateAction"
	)
	check(t, union(t, "cluster-boundary"), []request{
		{"ec2:StopInstances", machine, as(cluster, "clu_shop"), iampolicy.Allow},
		{"ec2:StopInstances", machine, as(cluster, "clu_bank"), iampolicy.Deny},
		{"ec2:StopInstances", machine, as(), iampolicy.Deny}, // a machine without a tag is somebody else's
		{"ec2:StopInstances", machine, keys(cluster, "clu_shop"), iampolicy.Deny},
		{"ec2:DescribeInstances", "*", as(), iampolicy.Allow},
		{"ec2:DescribeInstances", "*", keys(), iampolicy.Deny}, // a role without its tag
		{"ec2:DescribeInstances", "*", as("aws:RequestedRegion", "ap-south-1"), iampolicy.NoMatch},
		{"ec2:AttachVolume", disk, as(cluster, "clu_bank"), iampolicy.Deny},
		{"ec2:AttachVolume", disk, as(), iampolicy.Deny},
		{"ec2:CreateSnapshot", disk, as(cluster, "clu_bank"), iampolicy.Deny},
		{"ec2:CreateSnapshot", disk, as(cluster, "clu_shop"), iampolicy.Allow},
		{"ec2:CreateSnapshot", snapshot, as(given, "clu_shop"), iampolicy.Allow},
		{"ec2:DeleteSnapshot", snapshot, as(), iampolicy.Deny},
		{"ec2:CreateVolume", disk, as(given, "clu_shop"), iampolicy.Allow},
		{"ec2:CreateVolume", disk, as(given, "clu_bank"), iampolicy.Deny},
		{"ec2:CreateTags", disk, as(given, "clu_shop", creation, "CreateVolume"), iampolicy.Allow},
		{"ec2:CreateTags", group, as(), iampolicy.Deny}, // somebody's, without a tag
		{"ec2:CreateTags", group, as(cluster, "clu_shop"), iampolicy.Allow},
		{"ec2:CreateTags", group, as(cluster, "clu_shop", given, "clu_bank"), iampolicy.Deny},
		{"ec2:DeleteTags", group, as(cluster, "clu_shop", "aws:TagKeys", "ClusterId"), iampolicy.Deny},
		{"ec2:DeleteSecurityGroup", group, as(cluster, "clu_bank"), iampolicy.Deny},
		{"ec2:DeleteSecurityGroup", group, as(), iampolicy.Allow}, // the cloud controller's groups have no tag: see docs/threat-model.md
		{"ec2:RunInstances", "arn:aws:ec2:us-east-1:" + account + ":subnet/subnet-1", as(cluster, "clu_bank"), iampolicy.Deny},
		{"elasticloadbalancing:DeleteLoadBalancer", "*", as(cluster, "clu_bank"), iampolicy.Deny},
		{"iam:PassRole", role + "shop-abcde-master-role", as(passed, ec2), iampolicy.Allow},
		{"iam:PassRole", role + "bank-abcde-master-role", as(passed, ec2), iampolicy.NoMatch},
		{"iam:PassRole", role + "shop-abcde-master-role", as(passed, "lambda.amazonaws.com"), iampolicy.NoMatch},
		{"route53:ChangeResourceRecordSets", zone, as(records, `\052.apps.shop.labs.example.com`), iampolicy.Allow},
		{"route53:ChangeResourceRecordSets", zone, as(records, "api.bank.labs.example.com"), iampolicy.NoMatch},
		{"route53:ChangeResourceRecordSets", zone, as(records, "api.my-shop.labs.example.com"), iampolicy.NoMatch},
		{"route53:ChangeResourceRecordSets", zone, as(records, "api.shop.labs.example.com,api.bank.labs.example.com"), iampolicy.NoMatch},
		{"route53:ChangeResourceRecordSets", zone, as(), iampolicy.NoMatch},
		{"route53:DeleteHostedZone", "arn:aws:route53:::hostedzone/ZBANK", as(), iampolicy.NoMatch},
		{"s3:PutObject", "arn:aws:s3:::shop-abcde-image-registry-us-east-1-x/docker/registry/v2/team-oidc/y", as(), iampolicy.Allow},
		{"s3:PutObject", "arn:aws:s3:::bank-abcde-image-registry-us-east-1-x/y", as(), iampolicy.NoMatch},
		{"s3:PutObject", "arn:aws:s3:::bank-0123456789-oidc/keys.json", as(), iampolicy.Deny},
		{"s3:PutObject", "arn:aws:s3:::shop-0123456789-oidc/keys.json", as(), iampolicy.Deny},
		{"s3:GetObject", "arn:aws:s3:::openshift-bootstrap-data-shop-abcde/bootstrap.ign", as(), iampolicy.Deny},
		{"s3:GetObject", "arn:aws:s3:::state/clusters/clu_shop/x", as(), iampolicy.Deny},
		{"s3:PutBucketPolicy", "arn:aws:s3:::payroll", as(), iampolicy.NoMatch},
		{"kms:ScheduleKeyDeletion", "*", as(), iampolicy.NoMatch},
		{"kms:Decrypt", "*", as("aws:ResourceTag/ocpctl-platform", "ocpctl"), iampolicy.Deny},
		{"iam:TagRole", role + "shop-0123456789-openshift-ingress-operator-cloud-credentials", as(), iampolicy.NoMatch},
		{"iam:PutRolePermissionsBoundary", role + "shop-abcde-master-role", as(), iampolicy.NoMatch},
		{"iam:CreateRole", role + "shop-abcde-master-role", as(), iampolicy.NoMatch},
		{"sts:AssumeRole", runner, as(), iampolicy.NoMatch},
		{"sts:TagSession", runner, as(), iampolicy.NoMatch},
	})
}

// Each published action is either refused for what another cluster has, or reads, or acts on nothing that could be another's.
func TestNoPublishedActionReachesWhatHasAnotherClustersTag(t *testing.T) {
	boundary := union(t, "cluster-boundary")
	reads := regexp.MustCompile(`:(Describe|Get|List)`)
	for _, r := range release.AWSRequests() {
		for _, action := range r.Actions {
			decision := boundary.Evaluate(action, "arn:aws:ec2:us-east-1:"+account+":anything/x", as("aws:ResourceTag/ClusterId", "clu_bank"))
			require.Equal(t, iampolicy.Deny, decision, "%s: %s", r.Name, action)
			if !reads.MatchString(action) {
				require.Equal(t, iampolicy.Deny, boundary.Evaluate(action, "*", keys()), "%s without a tag: %s", r.Name, action)
			}
		}
	}
}
