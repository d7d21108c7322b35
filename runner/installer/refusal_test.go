package installer

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestEverySampleOfARefusalIsItsOwnClass(t *testing.T) {
	require.GreaterOrEqual(t, len(RefusalClasses()), 20)
	for _, c := range RefusalClasses() {
		for _, sample := range c.Samples {
			got, known := newRefusal("r", sample)
			require.True(t, known)
			require.Equal(t, c.Reason, got.Reason, sample)
		}
		require.NotContains(t, c.Next, ": ", "%s: people's pages show what follows a colon as a command", c.Reason)
		if c.Whose == contract.WhoseCloud {
			require.True(t, c.Retryable, "%s: to wait helps only against what heals", c.Reason)
		}
	}
}

// lines are what the tools log of refusals in the versions that ocpctl supports (openshift/installer pkg/destroy, cloud-credential-operator
// pkg/cmd/provisioning), on standard error and in the installer's own log.
var lines = []struct{ line, reason, resource string }{
	{`level=debug msg=operation error EC2: TerminateInstances, https response error StatusCode: 400, RequestID: 8d1f, api error OperationNotPermitted: The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again. arn=arn:aws:ec2:us-east-1:1:instance/i-0a1`, "TerminationProtected", "arn:aws:ec2:us-east-1:1:instance/i-0a1"},
	{`time="2026-02-27T10:12:13Z" level=debug msg="OperationNotPermitted: The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.\n\tstatus code: 400, request id: 15d01fad" arn="arn:aws:ec2:us-east-1:1:instance/i-0a1"`, "TerminationProtected", "arn:aws:ec2:us-east-1:1:instance/i-0a1"},
	{`level=debug msg=operation error Elastic Load Balancing v2: DeleteLoadBalancer, https response error StatusCode: 400, RequestID: 1, api error OperationNotPermitted: Load balancer 'arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/shop/50dc' cannot be deleted because deletion protection is enabled arn=arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/shop/50dc`, "DeletionProtected", "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/shop/50dc"},
	{`level=warning msg=operation error EC2: DeleteVpc, https response error StatusCode: 403, RequestID: 1, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::1:assumed-role/runner/1 is not authorized to perform: ec2:DeleteVpc on resource: arn:aws:ec2:us-east-1:1:vpc/vpc-1 with an explicit deny in a service control policy. Encoded authorization failure message: [redacted] arn=arn:aws:ec2:us-east-1:1:vpc/vpc-1`, "DeniedByPolicy", "arn:aws:ec2:us-east-1:1:vpc/vpc-1"},
	{`level=debug msg=operation error IAM: DeleteRole, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: arn:aws:sts::1:assumed-role/runner/1 is not authorized to perform: iam:DeleteRole on resource: role shop-master-role because no permissions boundary allows the iam:DeleteRole action arn=arn:aws:iam::1:role/shop-master-role`, "DeniedByPolicy", "arn:aws:iam::1:role/shop-master-role"},
	{`level=debug msg=operation error EC2: DeleteSnapshot, https response error StatusCode: 400, RequestID: 1, api error InvalidParameterValue: This snapshot is managed by the AWS Backup service and cannot be deleted via EC2 APIs. If you wish to delete this snapshot, please do so via the Backup console. arn=arn:aws:ec2:us-east-1::snapshot/snap-0a1`, "HeldByBackup", "arn:aws:ec2:us-east-1::snapshot/snap-0a1"},
	{`level=warning msg=Skipping AMI image ami-0a1 deletion since it is managed by the AWS Backup service. To delete this image, please use the AWS Backup APIs, CLI, or console`, "HeldByBackup", "ami-0a1"},
	{`level=warning msg=Skipping AMI image ami-0a1 deletion error=operation error EC2: DeregisterImage, https response error StatusCode: 401, RequestID: 1, api error AuthFailure: This image is managed by AWS Backup and cannot be deleted via EC2 APIs. To delete this image, please use the AWS Backup APIs, CLI, or console.`, "HeldByBackup", "ami-0a1"},
	{`level=debug msg=operation error EC2: DeleteSnapshot, https response error StatusCode: 400, RequestID: 1, api error InvalidSnapshot.InUse: The snapshot snap-0a1 is currently in use by ami-0b2 arn=arn:aws:ec2:us-east-1::snapshot/snap-0a1`, "SnapshotUsedByImage", "arn:aws:ec2:us-east-1::snapshot/snap-0a1"},
	{`level=debug msg=failed to delete bucket shop-image-registry: operation error S3: DeleteBucket, https response error StatusCode: 403, RequestID: 1, HostID: x, api error AccessDenied: User: arn:aws:sts::1:assumed-role/runner/1 is not authorized to perform: s3:DeleteBucket on resource: "arn:aws:s3:::shop-image-registry" with an explicit deny in a resource-based policy arn=arn:aws:s3:::shop-image-registry`, "DeniedByResourcePolicy", "arn:aws:s3:::shop-image-registry"},
	{`level=debug msg=failed to delete objects in bucket shop: operation error S3: DeleteObjects, https response error StatusCode: 403, RequestID: 1, HostID: x, api error AccessDenied: Access Denied because object protected by object lock. arn=arn:aws:s3:::shop`, "ObjectsLocked", "arn:aws:s3:::shop"},
	{`level=debug msg=operation error Route 53: DeleteHostedZone, https response error StatusCode: 400, RequestID: 1, HostedZoneNotEmpty: The specified hosted zone contains non-required resource record sets and so cannot be deleted. arn=arn:aws:route53:::hostedzone/Z1`, "ZoneNotEmpty", "arn:aws:route53:::hostedzone/Z1"},
	{`level=debug msg=operation error IAM: DeleteInstanceProfile, https response error StatusCode: 409, RequestID: 1, DeleteConflict: Cannot delete entity, must remove roles from instance profile first. arn=arn:aws:iam::1:instance-profile/shop-master-profile`, "IdentityInUse", "arn:aws:iam::1:instance-profile/shop-master-profile"},
	{`level=debug msg=VolumeInUse: Volume vol-02782684e58518a74 is currently attached to i-01c42163ec5c5a636`, "ResourceInUse", "vol-02782684e58518a74"},
	{`level=debug msg=operation error EC2: DeleteDhcpOptions, https response error StatusCode: 400, RequestID: 1, api error SomethingNew: nobody knows this yet arn=arn:aws:ec2:us-east-1:1:dhcp-options/dopt-1`, "RefusedByCloud", "arn:aws:ec2:us-east-1:1:dhcp-options/dopt-1"},
	{database, "UnsupportedResource", ordersDB},
	{`level=debug msg=deleting arn:aws:ec2:us-east-1:1:launch-template/lt-1: unrecognized EC2 resource type launch-template`, "UnsupportedResource", "arn:aws:ec2:us-east-1:1:launch-template/lt-1"},
	{`time="2026" level=debug msg="deleting arn:aws-us-gov:kms:us-gov-west-1:1:key/k-1: unrecognized ARN service kms"`, "UnsupportedResource", "arn:aws-us-gov:kms:us-gov-west-1:1:key/k-1"},
	{`level=debug msg=unrecognized elastic load balancing resource type listener-rule`, "UnsupportedResource", "unrecognized elastic load balancing resource type listener-rule"},
	{`2026/02/27 10:12:13 failed to delete IAM Role shop-k3v7q-openshift-ingress: operation error IAM: DeleteRole, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: x is not authorized to perform: iam:DeleteRole on resource: role shop because no identity-based policy allows the iam:DeleteRole action`, "PermissionMissing", "IAM Role shop-k3v7q-openshift-ingress"},
	{`level=debug msg=Failed to delete instance shop-x7k2p-master-0: You are not authorized to perform this action`, "PermissionMissing", "instance shop-x7k2p-master-0"},
	{`level=debug msg=Failed to reclaim COS instance shop-x7k2p-cos: The request is not authorized.`, "PermissionMissing", "COS instance shop-x7k2p-cos"},
	{`level=debug msg=Failed to delete COS instance shop-x7k2p-cos: Forbidden`, "PermissionMissing", "COS instance shop-x7k2p-cos"},
	{`level=debug msg=Failed to delete resource group shop-x7k2p: Internal Server Error`, "CloudBroken", "resource group shop-x7k2p"},
	{`level=debug msg=Failed to delete subnet shop-x7k2p-subnet: The subnet is in use and cannot be deleted.`, "ResourceInUse", "subnet shop-x7k2p-subnet"},
	{`level=debug msg=Failed to delete image shop-x7k2p-rhcos: nobody knows this yet`, "RefusedByCloud", "image shop-x7k2p-rhcos"},
	{`level=debug msg=operation error IAM: GetRole, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: x is not authorized to perform: iam:GetRole on resource: role other arn=arn:aws:iam::1:role/other`, "", ""},
	{`level=debug msg=search for matching resources by tag in us-east-1`, "", ""},
	{`level=info msg=Deleted arn=arn:aws:ec2:us-east-1:1:vpc/vpc-1 id=vpc-1`, "", ""},
}

func TestEveryLineOfARefusalIsReadWithItsResource(t *testing.T) {
	for _, c := range lines {
		got, ok := RefusalIn(c.line)
		require.Equal(t, c.reason != "", ok, c.line)
		if ok {
			require.Equal(t, []string{c.reason, c.resource}, []string{got.Reason, got.Resource}, "%s\n%q", c.line, got.Words)
			require.NotContains(t, got.Words, "arn=", c.line)
			require.NotContains(t, got.Words, "RequestID", c.line)
			require.NotContains(t, got.Advice(), "{", c.line)
			again, _ := RefusalIn(NewRedactor().Text(c.line))
			require.Equal(t, got.Reason, again.Reason, "redacted: %s", c.line)
		}
	}
}

func TestEachRefusalOfARealTeardownIsReadWithItsResource(t *testing.T) {
	raw, err := os.ReadFile("testdata/refused.yaml")
	require.NoError(t, err)
	var recorded []struct{ Teardown, Reason, Resource, Line string }
	require.NoError(t, yaml.Unmarshal(raw, &recorded))
	require.GreaterOrEqual(t, len(recorded), 5)
	for _, c := range recorded {
		got, ok := RefusalIn(c.Line)
		require.True(t, ok, c.Line)
		require.Equal(t, []string{c.Reason, c.Resource}, []string{got.Reason, got.Resource}, c.Line)
	}
}

func TestAnErrorOfACloudNamesWhoMustActAndTheCommand(t *testing.T) {
	const words = "The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again."
	got, ok := RefusalOf("i-0a1", fmt.Errorf("operation error EC2: %w", &smithy.GenericAPIError{Code: "OperationNotPermitted", Message: words}))
	require.True(t, ok)
	require.Equal(t, "TerminationProtected", got.Reason)
	require.Equal(t, contract.WhoseUser, got.Whose)
	require.False(t, got.Heals())
	require.Equal(t, "ask whoever protected the instance to run: aws ec2 modify-instance-attribute --instance-id i-0a1 --no-disable-api-termination", got.Advice())
	require.Equal(t, "OperationNotPermitted: "+words, got.Words)

	got, ok = RefusalOf("i-1", &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "User: x is not authorized to perform: ec2:StopInstances on resource: y with an explicit deny in a service control policy"})
	require.True(t, ok)
	require.Equal(t, "DeniedByPolicy", got.Reason)
	require.Contains(t, got.Next, "allow ec2:StopInstances on i-1")

	got, _ = RefusalOf("lb", &smithy.GenericAPIError{Code: "OperationNotPermitted", Message: "deletion protection is enabled"})
	require.Empty(t, got.Command, "without what the command needs there is none")

	_, ok = RefusalOf("i-1", errors.New("dial tcp: connection refused"))
	require.False(t, ok, "the cloud did not answer")
}
