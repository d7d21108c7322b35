package aws_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// byCode indexes quotas by code and scope.
func byCode(quotas []contract.Quota) map[string]contract.Quota {
	out := map[string]contract.Quota{}
	for _, q := range quotas {
		out[q.Code+q.Scope] = q
	}
	return out
}

func TestQuotasTellLimitUsageAndNeed(t *testing.T) {
	s := newScene(t, "quota", "us-east-2")
	s.render(t)
	s.Must(t, s.dir, "create cluster") // three masters of m6i.xlarge in us-east-2a
	for code, value := range map[string]int{"L-F678F1CE": 5, "L-0263D0A3": 7, "L-1216C47A": 64, "L-34B43A08": 32, "L-FE5A380F": 5} {
		require.NoError(t, s.AWS.SetLimit(code, value))
	}
	ours := map[string]string{"ClusterId": "clu_quota"}
	for _, r := range []standin.Resource{
		{Type: "vpc"}, {Type: "elastic-ip"}, {Type: "natgateway", State: "failed"},
		{Type: "instance", Attrs: map[string]string{"instance-type": "m5.2xlarge"}},
		{Type: "instance", Attrs: map[string]string{"instance-type": "m5.2xlarge"}, State: "stopped"},
		{Type: "instance", Attrs: map[string]string{"instance-type": "g5.2xlarge"}, Tags: ours},
		{Type: "instance", Attrs: map[string]string{"instance-type": "m5.2xlarge", "instance-lifecycle": "spot"}, Tags: ours},
	} {
		r.Service, r.Region = "ec2", "us-east-2"
		s.plant(t, r)
	}
	plan := cloud.Plan{Zones: []string{"us-east-2a", "us-east-2b"}, Machines: []cloud.Machines{
		{Type: "m6i.xlarge", Lasting: 3}, {Type: "m6i.large", Lasting: 2}, {Type: "m6i.xlarge", Transient: 1}, {Type: "m6i.xlarge", Lasting: 2, Spot: true},
	}}
	quotas, err := s.client.Quotas(t.Context(), s.target, plan)
	require.NoError(t, err)
	got := byCode(quotas)
	for _, q := range quotas {
		require.Empty(t, q.Unknown, q)
		require.NotEmpty(t, q.Name)
		require.NotEmpty(t, q.Service)
	}
	for code, want := range map[string]contract.Quota{
		"L-F678F1CE":           {Limit: 5, Used: 2, Need: 1, Lasting: 1, UsedBy: map[string]int{"clu_quota": 1}},
		"L-0263D0A3":           {Limit: 7, Used: 2, Need: 2, Lasting: 2, UsedBy: map[string]int{"clu_quota": 1}},
		"L-FE5A380Fus-east-2a": {Limit: 5, Used: 1, Need: 1, Lasting: 1, UsedBy: map[string]int{"clu_quota": 1}},
		"L-FE5A380Fus-east-2b": {Limit: 5, Used: 0, Need: 1, Lasting: 1, UsedBy: map[string]int{}},
		"L-1216C47A":           {Limit: 64, Used: 12 + 8, Need: 12 + 4 + 4, Lasting: 12 + 4, UsedBy: map[string]int{"clu_quota": 12}},
		"L-34B43A08":           {Limit: 32, Used: 8, Need: 8, Lasting: 8, UsedBy: map[string]int{"clu_quota": 8}},
	} {
		q := got[code]
		require.Equal(t, want, contract.Quota{Limit: q.Limit, Used: q.Used, Need: q.Need, Lasting: q.Lasting, UsedBy: q.UsedBy}, code)
	}
	for _, code := range []string{"L-A4707A72", "L-1B52E74A", "L-E79EC296", "L-69A177A2"} {
		require.Positive(t, got[code].Limit, code)
		require.Positive(t, got[code].UsedBy["clu_quota"], code)
		require.Positive(t, got[code].Need, code)
	}
	require.Equal(t, 3, got["L-69A177A2"].Used, "two for the API, one for the ingress")
}

func TestWhatCannotBeLookedUpIsUnknownAndNeverADefault(t *testing.T) {
	s := newScene(t, "blind", "us-east-1")
	plan := cloud.Plan{Zones: []string{"us-east-1a"}, Machines: []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}}}
	measure := func() map[string]contract.Quota {
		quotas, err := s.client.Quotas(t.Context(), s.target, plan)
		require.NoError(t, err)
		require.Len(t, quotas, 8)
		return byCode(quotas)
	}
	s.AWS.Refuse("servicequotas:GetServiceQuota", -1, "AccessDeniedException")
	s.AWS.Refuse("ec2:DescribeAddresses", -1, "")
	for code, q := range measure() {
		require.Contains(t, q.Unknown, "allow the runner servicequotas:GetServiceQuota", code)
		require.True(t, q.Denied, code)
	}
	s.AWS.Refuse("servicequotas:GetServiceQuota", -1, "NoSuchResourceException")
	got := measure()
	require.Equal(t, 5, got["L-F678F1CE"].Limit, "nobody had it raised: AWS's default holds")
	require.Empty(t, got["L-F678F1CE"].Unknown)
	require.Contains(t, got["L-0263D0A3"].Unknown, "the usage could not be counted")

	s.AWS.Refuse("ec2:DescribeInstanceTypes", -1, "")
	got = measure()
	require.Contains(t, got["L-1216C47A"].Unknown, "ec2:DescribeInstanceTypes")
	require.True(t, got["L-1216C47A"].Denied)
	s.AWS.Refuse("servicequotas:GetServiceQuota", -1, "TooManyRequestsException")
	throttled := measure()["L-F678F1CE"]
	require.NotEmpty(t, throttled.Unknown)
	require.False(t, throttled.Denied, "it may be told in a minute")
}

func TestOnlyStandardFamiliesCountAgainstTheStandardLimit(t *testing.T) {
	s := newScene(t, "gpus", "us-east-1")
	quotas, err := s.client.Quotas(t.Context(), s.target, cloud.Plan{Zones: []string{"us-east-1a"}, Machines: []cloud.Machines{{Type: "g5.2xlarge", Lasting: 3}}})
	require.NoError(t, err)
	require.NotContains(t, byCode(quotas), "L-1216C47A", "they have a limit of their own")
}
