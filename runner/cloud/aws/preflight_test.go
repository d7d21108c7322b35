package aws_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestPreflightBlocksOnProvenShortfallsOnly(t *testing.T) {
	zones, instances := []string{"us-east-1a"}, []string{"m6i.xlarge"}
	codes := func(problems []cloud.Problem, block bool) []string {
		var out []string
		for _, p := range problems {
			if p.Block == block {
				out = append(out, p.Code)
				require.NotEmpty(t, p.Message)
				require.NotEmpty(t, p.Next)
				require.NotEmpty(t, p.Whose)
			}
		}
		return out
	}
	s := newScene(t, "flight", "us-east-1")
	s.AWS.Refuse("iam:GetRole", 1, "NoSuchEntity")
	problems, err := s.client.Preflight(t.Context(), s.target, zones, instances)
	require.NoError(t, err)
	require.Empty(t, codes(problems, true))
	require.Equal(t, []string{"ServiceRoleMissing"}, codes(problems, false), "a new account's first balancer makes it")
	problems, err = s.client.Preflight(t.Context(), s.target, zones, instances)
	require.NoError(t, err)
	require.Empty(t, problems)

	problems, err = s.client.Preflight(t.Context(), s.target, []string{"us-east-1q"}, []string{"m6i.xlarge"})
	require.NoError(t, err)
	require.Equal(t, []string{"ZoneNotOffered", "InstanceTypeNotOffered"}, codes(problems, true))

	s.record(t, "api.flight.labs.example.com.")
	problems, err = s.client.Preflight(t.Context(), s.target, zones, instances)
	require.NoError(t, err)
	require.Equal(t, []string{"NameInUse"}, codes(problems, true))
	require.Contains(t, problems[0].Message, "api.flight.labs.example.com")
	require.Equal(t, contract.WhoseUser, problems[0].Whose)

	other := s.target
	other.Account, other.BaseDomain = "999999999999", "nowhere.example.org"
	problems, err = s.client.Preflight(t.Context(), other, zones, instances)
	require.NoError(t, err)
	require.Equal(t, []string{"WrongAccount", "ZoneMissing"}, codes(problems, true))

	free := s.target
	free.Name = "freename"
	for _, call := range []string{"route53:ListHostedZonesByName", "ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings"} {
		s.AWS.Refuse(call, -1, "")
	}
	problems, err = s.client.Preflight(t.Context(), free, zones, instances)
	require.NoError(t, err)
	require.Empty(t, codes(problems, true), "what was not answered decides nothing")
	require.Equal(t, []string{"NotAnswered", "NotAnswered", "NotAnswered"}, codes(problems, false))
	require.Equal(t, contract.WhoseOurs, problems[0].Whose, "a permission is missing")
	for i, action := range []string{"route53:ListHostedZonesByName", "ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings"} {
		require.Contains(t, problems[i].Next, "allow "+action+" in the policy of the runner's role")
	}

	s.AWS.Refuse("sts:GetCallerIdentity", -1, "InvalidClientTokenId")
	problems, err = s.client.Preflight(t.Context(), free, zones, instances)
	require.NoError(t, err)
	require.Equal(t, []string{"CredentialsRefused"}, codes(problems, true))
}

func TestANameThatExistsBlocksWhateverMadeIt(t *testing.T) {
	s := newScene(t, "taken", "us-east-1")
	check := func() []cloud.Problem {
		problems, err := s.client.Preflight(t.Context(), s.target, []string{"us-east-1a"}, nil)
		require.NoError(t, err)
		return problems
	}
	s.record(t, "api.nottaken.labs.example.com.")
	s.record(t, "taken-too.labs.example.com.")
	require.Empty(t, check(), "names that merely end or begin alike are no obstacle")

	zone := s.zone(t, "somebody-else")
	require.Equal(t, "NameInUse", check()[0].Code)
	require.Contains(t, check()[0].Message, "taken.labs.example.com")
	require.NoError(t, s.AWS.Free(zone))

	s.target.Identities = []contract.Identity{{CCOName: "taken-abc", Account: account}}
	require.Empty(t, check())
	s.bucket(t, "taken-abc-oidc", "")
	require.Equal(t, "NameInUse", check()[0].Code)
	require.True(t, check()[0].Block)
}
