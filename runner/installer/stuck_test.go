package installer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	database = `level=debug msg=deleting arn:aws:rds:us-east-1:123456789012:db:orders: unrecognized ARN service rds (arn:aws:rds:us-east-1:123456789012:db:orders)`
	volume   = `level=info msg=Deleted arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1" id=vol-1`
)

func TestADestroyerIsStuckWhenTheSameResourceIsRefusedAndNothingElseGoes(t *testing.T) {
	r := NewRefusals(3, 20)
	for _, line := range []string{database, database, volume, database, database, "level=debug msg=search for IAM roles", volume, database, database} {
		require.False(t, r.Line(line), "what else is removed keeps it going")
	}
	require.True(t, r.Line(database))
	require.Equal(t, []Refused{{ARN: "arn:aws:rds:us-east-1:123456789012:db:orders", Message: "unrecognized ARN service rds", times: 3}}, r.All())
}

func TestEveryFormOfARefusalIsReadWithItsResource(t *testing.T) {
	for line, want := range map[string]Refused{
		database: {"arn:aws:rds:us-east-1:123456789012:db:orders", "unrecognized ARN service rds", false, 1},
		`level=debug msg=deleting arn:aws:ec2:us-east-1:1:launch-template/lt-1: unrecognized EC2 resource type launch-template`: {
			"arn:aws:ec2:us-east-1:1:launch-template/lt-1", "unrecognized EC2 resource type launch-template", false, 1},
		`time="2026" level=debug msg="deleting arn:aws-us-gov:kms:us-gov-west-1:1:key/k-1: unrecognized ARN service kms"`: {
			"arn:aws-us-gov:kms:us-gov-west-1:1:key/k-1", "unrecognized ARN service kms", false, 1},
		`level=debug msg=unrecognized elastic load balancing resource type listener-rule`: {
			"unrecognized elastic load balancing resource type listener-rule", "unrecognized elastic load balancing resource type listener-rule", false, 1},
	} {
		r := NewRefusals(1, 20)
		require.True(t, r.Line(line), line)
		require.Equal(t, []Refused{want}, r.All())
	}
}

func TestADestroyerThatIsOnlySlowIsNotStuck(t *testing.T) {
	r := NewRefusals(2, 20)
	for range 10 {
		require.False(t, r.Line(`level=debug msg=deleting arn:aws:ec2:us-east-1:1:vpc/vpc-1: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.`))
	}
	require.False(t, r.Line(volume))
	require.Empty(t, r.All())
	require.False(t, r.Line(database))
	require.False(t, r.Line(`level=debug msg=deleting arn:aws:dynamodb:us-east-1:1:table/t: unrecognized ARN service dynamodb (arn:aws:dynamodb:us-east-1:1:table/t)`))
	require.True(t, r.Line(database))
	require.Len(t, r.All(), 2, "all that is refused is named")
}

func TestTheSameDependencyViolationStopsTheDestroyerAfterItsOwnLimit(t *testing.T) {
	const (
		vpc   = "level=debug msg=\"deleting: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.\\n\\tstatus code: 400, request id: %d\" arn=\"arn:aws:ec2:us-east-1:1:vpc/vpc-1\""
		group = "level=debug msg=\"DependencyViolation: resource sg-1 has a dependent object\\n\\tstatus code: 400, request id: %d\""
	)
	for line, want := range map[string]Refused{
		vpc:   {"arn:aws:ec2:us-east-1:1:vpc/vpc-1", "DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.", true, 3},
		group: {"DependencyViolation: resource sg-1 has a dependent object", "DependencyViolation: resource sg-1 has a dependent object", true, 3},
	} {
		r := NewRefusals(1, 3)
		require.False(t, r.Line(fmt.Sprintf(line, 1)))
		require.False(t, r.Line(fmt.Sprintf(line, 2)))
		require.False(t, r.Line(volume), "progress restarts the count")
		require.False(t, r.Line(fmt.Sprintf(line, 3)))
		require.False(t, r.Line(fmt.Sprintf(line, 4)))
		require.True(t, r.Line(fmt.Sprintf(line, 5)), "another request id does not make it another refusal")
		require.Equal(t, []Refused{want}, r.All())
	}
}

func TestADestroyerOnIBMCloudThatIsRefusedTheSameAgainAndAgainIsStopped(t *testing.T) {
	const (
		subnet  = `level=debug msg="Failed to delete subnet shop-x7k2p-subnet-compute-us-east-1: The subnet is in use and cannot be deleted. load balancer: r014-%d"`
		deleted = `level=info msg="Deleted public gateway \"shop-x7k2p-pgateway-us-east-1\""`
	)
	r := NewRefusals(1, 3)
	require.False(t, r.Line(fmt.Sprintf(subnet, 1)))
	require.False(t, r.Line(fmt.Sprintf(subnet, 1)))
	require.False(t, r.Line(deleted), "progress restarts the count")
	require.False(t, r.Line(fmt.Sprintf(subnet, 1)))
	require.False(t, r.Line(fmt.Sprintf(subnet, 1)))
	require.Empty(t, r.All(), "a load balancer takes minutes to go")
	require.True(t, r.Line(fmt.Sprintf(subnet, 2)), "another message does not make it another refusal")
	require.Equal(t, []Refused{{
		ARN: "subnet shop-x7k2p-subnet-compute-us-east-1", Message: "The subnet is in use and cannot be deleted. load balancer: r014-2", Blocked: true, times: 3,
	}}, r.All())
}
