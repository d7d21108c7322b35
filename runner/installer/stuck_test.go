package installer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	database = `level=debug msg=deleting arn:aws:rds:us-east-1:123456789012:db:orders: unrecognized ARN service rds (arn:aws:rds:us-east-1:123456789012:db:orders)`
	volume   = `level=info msg=Deleted arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1" id=vol-1`
)

func TestADestroyerIsStuckWhenTheSameResourceIsRefusedAndNothingElseGoes(t *testing.T) {
	r := NewRefusals(3)
	for _, line := range []string{database, database, volume, database, database, "level=debug msg=search for IAM roles", volume, database, database} {
		require.False(t, r.Line(line), "what else is removed keeps it going")
	}
	require.True(t, r.Line(database))
	require.Equal(t, []Refused{{ARN: "arn:aws:rds:us-east-1:123456789012:db:orders", Words: "unrecognized ARN service rds", times: 3}}, r.All())
}

func TestEveryFormOfARefusalIsReadWithItsResource(t *testing.T) {
	for line, want := range map[string]Refused{
		database: {"arn:aws:rds:us-east-1:123456789012:db:orders", "unrecognized ARN service rds", 1},
		`level=debug msg=deleting arn:aws:ec2:us-east-1:1:launch-template/lt-1: unrecognized EC2 resource type launch-template`: {
			"arn:aws:ec2:us-east-1:1:launch-template/lt-1", "unrecognized EC2 resource type launch-template", 1},
		`time="2026" level=debug msg="deleting arn:aws-us-gov:kms:us-gov-west-1:1:key/k-1: unrecognized ARN service kms"`: {
			"arn:aws-us-gov:kms:us-gov-west-1:1:key/k-1", "unrecognized ARN service kms", 1},
		`level=debug msg=unrecognized elastic load balancing resource type listener-rule`: {
			"unrecognized elastic load balancing resource type listener-rule", "unrecognized elastic load balancing resource type listener-rule", 1},
	} {
		r := NewRefusals(1)
		require.True(t, r.Line(line), line)
		require.Equal(t, []Refused{want}, r.All())
	}
}

func TestADestroyerThatIsOnlySlowIsNotStuck(t *testing.T) {
	r := NewRefusals(2)
	for range 10 {
		require.False(t, r.Line(`level=debug msg=deleting arn:aws:ec2:us-east-1:1:vpc/vpc-1: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.`))
	}
	require.Empty(t, r.All())
	require.False(t, r.Line(database))
	require.False(t, r.Line(`level=debug msg=deleting arn:aws:dynamodb:us-east-1:1:table/t: unrecognized ARN service dynamodb (arn:aws:dynamodb:us-east-1:1:table/t)`))
	require.True(t, r.Line(database))
	require.Len(t, r.All(), 2, "all that is refused is named")
}
