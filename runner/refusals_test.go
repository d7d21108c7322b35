package runner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// undeleted is what a removal says of a resource that AWS did not delete.
func undeleted(id, code, words string) error {
	return errors.Join(&cloud.Undeleted{ID: id, What: "delete " + id, Err: fmt.Errorf("operation error: %w", &smithy.GenericAPIError{Code: code, Message: words})})
}

func kept(code, id, why string) error {
	return errors.Join(&cloud.Undeleted{ID: id, What: why, Err: &cloud.Kept{Code: code, Why: why}})
}

// leftAs is a count that finds one resource each time.
func leftAs(kind, id, name string) func(int, cloud.Target) contract.Pass {
	return func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Leftovers = false, []contract.Leftover{{Type: kind, ID: id, Name: name, Free: "an administrator of the account: aws delete " + id}}
		return p
	}
}

const deniedUser = "User: arn:aws:sts::123456789012:assumed-role/runner/1 is not authorized to perform: "

// What the cloud answers a deletion with, or what ocpctl decides, and what people read of it.
var refusedTeardowns = []struct {
	name, kind, id string
	destroyer      string // what openshift-install repeats, for ever
	removal        error
	reason, whose  string
	next, words    string // contained in what people read
	heals          bool
}{
	{name: "termination protection", kind: "instance", id: "i-0a1", destroyer: "operation error EC2: TerminateInstances, https response error StatusCode: 400, RequestID: 1, api error OperationNotPermitted: The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again. arn=arn:aws:ec2:us-east-1:1:instance/i-0a1",
		reason: "TerminationProtected", whose: "user", next: "to run: aws ec2 modify-instance-attribute --instance-id i-0a1 --no-disable-api-termination", words: "may not be terminated"},
	{name: "deletion protection", kind: "load-balancer", id: "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/x/5", destroyer: "operation error Elastic Load Balancing v2: DeleteLoadBalancer, https response error StatusCode: 400, RequestID: 1, api error OperationNotPermitted: Load balancer 'arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/x/5' cannot be deleted because deletion protection is enabled arn=arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/x/5",
		reason: "DeletionProtected", whose: "user", next: "--load-balancer-arn arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/x/5 --attributes Key=deletion_protection.enabled,Value=false", words: "deletion protection is enabled"},
	{name: "service control policy", kind: "vpc", id: "vpc-1", destroyer: "operation error EC2: DeleteVpc, https response error StatusCode: 403, RequestID: 1, api error UnauthorizedOperation: You are not authorized to perform this operation. " + deniedUser + "ec2:DeleteVpc on resource: arn:aws:ec2:us-east-1:1:vpc/vpc-1 with an explicit deny in a service control policy arn=arn:aws:ec2:us-east-1:1:vpc/vpc-1",
		reason: "DeniedByPolicy", whose: "ocpctl", next: "allow ec2:DeleteVpc on arn:aws:ec2:us-east-1:1:vpc/vpc-1 for the runner's role", words: "service control policy"},
	{name: "permissions boundary", kind: "role", id: "shop-master-role", removal: undeleted("shop-master-role", "AccessDenied", deniedUser+"iam:DeleteRole on resource: role shop-master-role with an explicit deny in a permissions boundary"),
		reason: "DeniedByPolicy", whose: "ocpctl", next: "allow iam:DeleteRole on shop-master-role", words: "permissions boundary"},
	{name: "missing permission", kind: "role", id: "shop-master-role", removal: undeleted("shop-master-role", "AccessDenied", deniedUser+"iam:DeleteRole on resource: role shop-master-role because no identity-based policy allows the iam:DeleteRole action"),
		reason: "PermissionMissing", whose: "ocpctl", next: "ask an administrator of this installation to allow iam:DeleteRole", words: "no identity-based policy"},
	{name: "snapshot that a backup holds", kind: "snapshot", id: "snap-0a1", destroyer: "operation error EC2: DeleteSnapshot, https response error StatusCode: 400, RequestID: 1, api error InvalidParameterValue: This snapshot is managed by the AWS Backup service and cannot be deleted via EC2 APIs. arn=arn:aws:ec2:us-east-1::snapshot/snap-0a1",
		reason: "HeldByBackup", whose: "user", next: "delete the recovery point of snap-0a1 in AWS Backup", words: "AWS Backup"},
	{name: "snapshot that an image uses", kind: "snapshot", id: "snap-0a1", destroyer: "operation error EC2: DeleteSnapshot, https response error StatusCode: 400, RequestID: 1, api error InvalidSnapshot.InUse: The snapshot snap-0a1 is currently in use by ami-0b2 arn=arn:aws:ec2:us-east-1::snapshot/snap-0a1",
		reason: "SnapshotUsedByImage", whose: "user", next: "aws ec2 deregister-image --image-id ami-0b2", words: "in use by ami-0b2"},
	{name: "bucket policy", kind: "bucket", id: "shop-oidc", removal: undeleted("shop-oidc", "AccessDenied", deniedUser+`s3:DeleteBucket on resource: "arn:aws:s3:::shop-oidc" with an explicit deny in a resource-based policy`),
		reason: "DeniedByResourcePolicy", whose: "user", next: "ask whoever wrote the policy on shop-oidc to remove the statement that denies s3:DeleteBucket", words: "resource-based policy"},
	{name: "object lock", kind: "bucket", id: "shop-oidc", removal: undeleted("shop-oidc", "AccessDenied", "Access Denied because object protected by object lock."),
		reason: "ObjectsLocked", whose: "user", next: "ask whoever locked the objects in shop-oidc", words: "object lock"},
	{name: "foreign records in the zone", kind: "hosted-zone", id: "Z1", removal: undeleted("Z1", "HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted."),
		reason: "ZoneNotEmpty", whose: "user", next: "aws route53 list-resource-record-sets --hosted-zone-id Z1", words: "non-required resource record sets"},
	{name: "profile in use", kind: "instance-profile", id: "shop-profile", removal: undeleted("shop-profile", "DeleteConflict", "Cannot delete entity, must remove roles from instance profile first."),
		reason: "IdentityInUse", whose: "ocpctl", next: "remove what is attached to shop-profile", words: "must remove roles"},
	{name: "reclamation without a role", kind: "reclamation", id: "r-1", removal: undeleted("r-1", "RC-Forbidden", "User does not have the role that the action needs. (403)"),
		reason: "PermissionMissing", whose: "ocpctl", next: "allow the refused call on r-1", words: "(403)"},
	{name: "locked service ID", kind: "service-id", id: "ServiceId-1", removal: undeleted("ServiceId-1", "BXNIM0125E", "The serviceid ServiceId-1 is locked. (409)"),
		reason: "LockedByAdministrator", whose: "ocpctl", next: "unlock ServiceId-1", words: "is locked"},
	{name: "in use for good", kind: "subnet", id: "shop-subnet", destroyer: "Failed to delete subnet shop-subnet: The subnet is in use and cannot be deleted.",
		reason: "ResourceInUse", whose: "user", next: "find what uses subnet shop-subnet among what is still there", words: "in use"},
	{name: "in use in every removal", kind: "vpc", id: "r014-1", removal: undeleted("r014-1", "vpc_in_use", "The VPC has an endpoint gateway of somebody (409)"),
		reason: "ResourceInUse", whose: "user", next: "find what uses r014-1", words: "endpoint gateway"},
	{name: "role without a tag", kind: "role", id: "shop-k3v7q-admins", removal: kept(cloud.KeptUntagged, "shop-k3v7q-admins", "role shop-k3v7q-admins does not have the tag openshift.io/cloud-credential-operator/shop-k3v7q"),
		reason: "KeptUntagged", whose: "ocpctl", next: "whose shop-k3v7q-admins is", words: "does not have the tag"},
	{name: "role in a profile of somebody", kind: "role", id: "shop-worker-role", removal: kept(cloud.KeptInUse, "shop-worker-role", "role shop-worker-role is in use by the instance profiles [tools]"),
		reason: "KeptInUse", whose: "ocpctl", next: "ask whoever uses shop-worker-role to stop", words: "[tools]"},
	{name: "record of another external-dns", kind: "record", id: "Z1/www.shop.labs.example.com/A", removal: kept(cloud.KeptRecord, "Z1/www.shop.labs.example.com/A", "A record www.shop.labs.example.com in zone Z1 is external-dns's, with the owner id prod"),
		reason: "KeptRecord", whose: "user", next: "ask whoever made the record to delete it", words: "owner id prod"},
	{name: "another cluster's mark", kind: "bucket", id: "shop-oidc", removal: kept(cloud.KeptAnothers, "shop-oidc", "bucket shop-oidc has tags that do not belong to this cluster"),
		reason: "KeptAnothers", whose: "ocpctl", next: "ask the owner of shop-oidc", words: "do not belong"},
	{name: "internal error of the cloud", kind: "resource-group", id: "g-1", removal: undeleted("g-1", "internal_error", "An internal error occurred. Try again later. (500)"),
		reason: "LeftoversFound", whose: "cloud", next: "wait: ocpctl removes and counts them again", heals: true},
	{name: "throttled", kind: "vpc", id: "vpc-1", removal: undeleted("vpc-1", "RequestLimitExceeded", "Request limit exceeded."),
		reason: "LeftoversFound", whose: "cloud", next: "wait: ocpctl removes and counts them again", heals: true},
	{name: "nobody said why", kind: "volume", id: "vol-1", reason: "LeftoversFound", whose: "ocpctl", next: "neither openshift-install nor ocpctl removes it by itself", heals: true},
}

func TestWhatRefusesATeardownSaysWhoMustActAndHow(t *testing.T) {
	for _, c := range refusedTeardowns {
		t.Run(c.name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			w.cfg.Timings.StuckTimes, w.cfg.Timings.BlockedTimes, w.cfg.Timings.UncleanPasses = 2, 4, 4
			if c.destroyer != "" {
				w.on("destroy", `trap 'note asked; exit 8' TERM; while :; do echo "level=debug msg=`+c.destroyer+`" >&2; sleep 0.01; done`)
			}
			w.notRemoved, w.verify = c.removal, leftAs(c.kind, c.id, "")
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, []any{"failed", c.reason, c.whose, true}, []any{got.Outcome, got.Reason, got.Whose, got.Retryable}, got.Message)
			require.Contains(t, got.Next, c.next)
			require.Contains(t, got.Message, c.id)
			t.Logf("| %s | `%s`: %s. Next: %s | %s | %v |", c.name, got.Reason, got.Message, got.Next, got.Whose, c.heals)
			require.Equal(t, c.destroyer != "", w.did("installer: asked"), "the destroyer is stopped early")
			require.NotEmpty(t, w.removed, "the removal runs all the same")

			left := w.lastPass().Leftovers[0]
			if c.heals {
				require.Contains(t, left.Advice(), "an administrator of the account", "what the count advises stands")
				require.Len(t, w.removed, 4, "what may heal is repeated")
				return
			}
			require.Contains(t, got.Message, c.words)
			require.Equal(t, []any{c.reason, c.whose, false}, []any{left.Refused.Reason, left.Refused.Whose, left.Refused.Heals})
			require.Contains(t, left.Refused.Words, c.words)
			require.Contains(t, left.Advice(), c.next, "the advice of the count would be refused too")
			require.Contains(t, left.Advice(), c.reason)
			require.NotContains(t, got.Next+left.Advice(), "wait:")
		})
	}
}

func TestARefusedDetachSaysWhoMustAct(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.detached = undeleted("p-1", "insufficient_permissions", "The caller may not delete the policy (403)")
	require.NoError(t, w.run(t.Context()))
	got := w.result()
	require.Equal(t, []string{"PermissionMissing", contract.WhoseOurs}, []string{got.Reason, got.Whose})
	require.Contains(t, got.Next, "allow the refused call on p-1")
	require.False(t, w.did("installer: asked"))

	w = newTeardown(t, "shop-00001")
	w.detached = undeleted("p-1", "internal_error", "An internal error occurred. (500)")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"CloudUnanswered", contract.WhoseCloud}, []string{w.result().Reason, w.result().Whose}, "it heals")
}

func TestARefusalReachesTheServerWithoutSecrets(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.notRemoved = undeleted("shop-oidc", "AccessDenied", "Access Denied for AKIAIOSFODNN7EXAMPLE1")
	w.verify = leftAs("bucket", "shop-oidc", "")
	require.NoError(t, w.run(t.Context()))
	left := w.lastPass().Leftovers[0]
	for _, text := range []string{left.Refused.Words, left.Advice(), w.result().Message} {
		require.NotContains(t, text, "AKIAIOSFODNN7EXAMPLE1")
		require.Contains(t, text, "[redacted]")
	}
}

func TestTheMostSpecificRefusalIsTheCause(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.notRemoved = errors.Join(
		undeleted("vpc-1", "DependencyViolation", "The vpc 'vpc-1' has dependencies and cannot be deleted."),
		undeleted("i-0a1", "OperationNotPermitted", "The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again."),
	)
	w.verify = func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Leftovers = false, []contract.Leftover{{Type: "vpc", ID: "vpc-1", Free: "later"}, {Type: "instance", ID: "i-0a1", Free: "an administrator"}}
		return p
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "TerminationProtected", w.result().Reason)
	require.True(t, strings.HasPrefix(w.result().Message, "an instance has termination protection: i-0a1 ("), w.result().Message)
}

func TestWhatFollowsFromAnotherRefusalIsNotTheCause(t *testing.T) {
	inUse := undeleted("vpc-1", "DependencyViolation", "The vpc 'vpc-1' has dependencies and cannot be deleted.")
	for name, c := range map[string]struct {
		other         error
		reason, whose string
	}{
		"an outage of the cloud":       {undeleted("i-0a1", "InternalError", "An internal error has occurred"), "LeftoversFound", contract.WhoseCloud},
		"something nobody knows":       {undeleted("i-0a1", "SomethingNew", "nobody knows this yet"), "RefusedByCloud", contract.WhoseOurs},
		"a tag that it is attached to": {undeleted("clusterid:clu_1", "tag_attached", "The tag is attached to resources (400)"), "ResourceInUse", contract.WhoseUser},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			w.cfg.Timings.UncleanPasses = 4
			w.notRemoved = errors.Join(inUse, c.other)
			w.verify = func(_ int, t cloud.Target) contract.Pass {
				p := cleanPass(t)
				p.Clean, p.Leftovers = false, []contract.Leftover{{Type: "user-tag", ID: "clusterid:clu_1"}, {Type: "vpc", ID: "vpc-1", Free: "later"}, {Type: "instance", ID: "i-0a1", Free: "an administrator"}}
				return p
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, []string{c.reason, c.whose}, []string{w.result().Reason, w.result().Whose}, w.result().Message)
		})
	}
}

func TestARefusalIsShownWithItsOwnResourceOnly(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.notRemoved = kept(cloud.KeptRecord, "Z1/prod.shop.labs.example.com/A", "A record prod.shop.labs.example.com in zone Z1 is external-dns's, with the owner id prod")
	w.verify = func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Leftovers = false, []contract.Leftover{
			{Type: "record", ID: "Z1/mail.shop.labs.example.com/A", Name: "mail.shop.labs.example.com", Free: "the DNS administrator"},
			{Type: "record", ID: "Z1/prod.shop.labs.example.com/A", Name: "prod.shop.labs.example.com", Free: "the DNS administrator"},
		}
		return p
	}
	require.NoError(t, w.run(t.Context()))
	left := w.lastPass().Leftovers
	require.Equal(t, "prod.shop.labs.example.com", left[0].Name, "what never heals comes first")
	require.Equal(t, "KeptRecord", left[0].Refused.Reason)
	require.Nil(t, left[1].Refused)
	require.Equal(t, "the DNS administrator", left[1].Advice())
}

func TestWhatAStoppedDestroyerDidNotComeToIsNobodysTurn(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.cfg.Timings.StuckTimes, w.cfg.Timings.UncleanPasses = 2, 2
	w.on("destroy", `trap 'note asked; exit 8' TERM; while :; do echo "level=debug msg=`+refusedTeardowns[0].destroyer+`" >&2; sleep 0.01; done`)
	w.verify = func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Leftovers = false, []contract.Leftover{
			{Type: "vpc", ID: "vpc-1", Free: "an administrator of the account: aws ec2 delete-vpc --vpc-id vpc-1"}, {Type: "instance", ID: "i-0a1", Free: "an administrator of the account"},
		}
		return p
	}
	require.NoError(t, w.run(t.Context()))
	left := w.lastPass().Leftovers
	require.Equal(t, "i-0a1", left[0].ID)
	require.Equal(t, "nothing to do: openshift-install was stopped before it came to this; the next attempt continues", left[1].Advice(), "nobody has to delete the network by hand")
}

// lastPass is the newest count that the server was told of.
func (w *world) lastPass() contract.Pass {
	w.t.Helper()
	passes, _ := w.passesAndExits()
	require.NotEmpty(w.t, passes)
	return passes[len(passes)-1]
}
