package installer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	database = `level=debug msg=deleting arn:aws:rds:us-east-1:123456789012:db:orders: unrecognized ARN service rds (arn:aws:rds:us-east-1:123456789012:db:orders)`
	volume   = `level=info msg=Deleted arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1" id=vol-1`
	ordersDB = "arn:aws:rds:us-east-1:123456789012:db:orders"
)

// refused are the resources of refusals, with what stopped the destroyer marked.
func refused(all []Refusal) (names []string) {
	for _, one := range all {
		name := one.Reason + " " + one.Resource
		if one.Lasting {
			name += " lasting"
		}
		names = append(names, name)
	}
	return names
}

func TestADestroyerIsStuckWhenTheSameResourceIsRefusedAndNothingElseGoes(t *testing.T) {
	r := NewRefusals(3, 20)
	for _, line := range []string{database, database, volume, database, database, "level=debug msg=search for IAM roles", volume, database, database} {
		require.False(t, r.Line(line), "what else is removed keeps it going")
	}
	require.True(t, r.Line(database))
	require.Equal(t, []string{"UnsupportedResource " + ordersDB + " lasting"}, refused(r.All()))
}

func TestADestroyerThatIsOnlySlowIsNotStuck(t *testing.T) {
	r := NewRefusals(2, 20)
	for range 10 {
		require.False(t, r.Line(`level=debug msg=deleting arn:aws:ec2:us-east-1:1:vpc/vpc-1: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.`))
	}
	require.False(t, r.Line(volume))
	require.Equal(t, []string{"ResourceInUse arn:aws:ec2:us-east-1:1:vpc/vpc-1"}, refused(r.All()), "the last refusal is kept")
	require.True(t, r.All()[0].Heals())
	require.False(t, r.Line(database))
	require.False(t, r.Line(`level=debug msg=deleting arn:aws:dynamodb:us-east-1:1:table/t: unrecognized ARN service dynamodb (arn:aws:dynamodb:us-east-1:1:table/t)`))
	require.True(t, r.Line(database))
	require.Len(t, r.All(), 3, "all that is refused is named")
}

func TestTheSameDependencyViolationStopsTheDestroyerAfterItsOwnLimit(t *testing.T) {
	const (
		vpc   = "level=debug msg=\"deleting: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.\\n\\tstatus code: 400, request id: %d\" arn=\"arn:aws:ec2:us-east-1:1:vpc/vpc-1\""
		group = "level=debug msg=\"DependencyViolation: resource sg-1 has a dependent object\\n\\tstatus code: 400, request id: %d\""
	)
	for line, want := range map[string]string{vpc: "arn:aws:ec2:us-east-1:1:vpc/vpc-1", group: "sg-1"} {
		r := NewRefusals(1, 3)
		require.False(t, r.Line(fmt.Sprintf(line, 1)))
		require.False(t, r.Line(fmt.Sprintf(line, 2)))
		require.False(t, r.Line(volume), "progress restarts the count")
		require.False(t, r.Line(fmt.Sprintf(line, 3)))
		require.False(t, r.Line(fmt.Sprintf(line, 4)))
		require.True(t, r.Line(fmt.Sprintf(line, 5)), "another request id does not make it another refusal")
		require.Equal(t, []string{"ResourceInUse " + want + " lasting"}, refused(r.All()))
		require.False(t, r.All()[0].Heals())
		require.NotContains(t, r.All()[0].Words, "request id")
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
	require.True(t, r.All()[0].Heals(), "a load balancer takes minutes to go")
	require.True(t, r.Line(fmt.Sprintf(subnet, 2)), "another message does not make it another refusal")
	require.Equal(t, []string{"ResourceInUse subnet shop-x7k2p-subnet-compute-us-east-1 lasting"}, refused(r.All()))
	require.Equal(t, "The subnet is in use and cannot be deleted. load balancer: r014-2", r.All()[0].Words)
}

func TestThrottlingNeverStopsADestroyer(t *testing.T) {
	r := NewRefusals(2, 4)
	for range 20 {
		require.False(t, r.Line(`level=debug msg=operation error EC2: DeleteVpc, https response error StatusCode: 503, RequestID: 1, api error RequestLimitExceeded: Request limit exceeded. arn=arn:aws:ec2:us-east-1:1:vpc/vpc-1`))
	}
	require.True(t, r.All()[0].Heals())
}
