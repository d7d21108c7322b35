package ibmcloud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud"
)

var plan = cloud.Plan{Zones: []string{"us-east-1", "us-east-2"}, Machines: []cloud.Machines{
	{Type: "bx2-4x16", Lasting: 3, Transient: 1}, {Type: "bx2-8x32", Lasting: 2},
}}

func byCode(quotas []contract.Quota) map[string]contract.Quota {
	out := map[string]contract.Quota{}
	for _, q := range quotas {
		out[q.Code+q.Scope] = q
	}
	return out
}

func TestQuotasAreStandardLimitsAndOurOwnCount(t *testing.T) {
	s := newScene(t)
	s.cluster(t, neighbour, theirCCO, "shop-2")
	const cluster = "clu_01JYYYYYYYYYYYYYYYYYYYYYYY"
	require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.Group != "" && !r.Stands }, "ClusterId:"+cluster))
	s.vpcObject(t, "vpc", "somebodys", "", "")
	s.Pages(3)
	quotas, err := s.client.Quotas(t.Context(), s.target, plan)
	require.NoError(t, err)
	got := byCode(quotas)
	for code, want := range map[string]contract.Quota{
		"vcpu":                 {Limit: 200, Used: 16, Need: 32, Lasting: 28, UsedBy: map[string]int{cluster: 16}},
		"memory":               {Limit: 5600, Used: 64, Need: 128, Lasting: 112, UsedBy: map[string]int{cluster: 64}},
		"vpc":                  {Limit: 10, Used: 2, Need: 1, Lasting: 1, UsedBy: map[string]int{cluster: 1}},
		"load-balancer":        {Limit: 50, Used: 3, Need: 3, Lasting: 3, UsedBy: map[string]int{cluster: 3}},
		"floating-ipus-east-1": {Limit: 40, Used: 1, Need: 2, Lasting: 1, UsedBy: map[string]int{cluster: 1}},
		"floating-ipus-east-2": {Limit: 40, Need: 1, Lasting: 1, UsedBy: map[string]int{}},
		"volume":               {Limit: 300, Used: 5, Need: 6, Lasting: 5, UsedBy: map[string]int{cluster: 5}},
	} {
		q := got[code]
		require.Empty(t, q.Unknown)
		require.NotEmpty(t, q.Name)
		q.Service, q.Code, q.Scope, q.Name = "", "", "", ""
		if q.UsedIn, want.UsedIn = nil, nil; code == "vpc" {
			require.Equal(t, map[string]int{"Default": 1}, got[code].UsedIn, "by the name of the group, for what has no tag of a cluster")
		}
		require.Equal(t, want, q, code)
	}
	require.Len(t, quotas, 7)
}

func TestAQuotaWithoutAnAnswerIsUnknown(t *testing.T) {
	for call, codes := range map[string][]string{
		"vpc:list_volumes":           {"volume"},
		"vpc:list_instance_profiles": {"memory", "vcpu"},
		"vpc:list_instances":         {"memory", "vcpu"},
		"search:search":              {"floating-ipus-east-1", "floating-ipus-east-2", "load-balancer", "memory", "vcpu", "volume", "vpc"},
	} {
		t.Run(call, func(t *testing.T) {
			s := newScene(t)
			s.Refuse(call, -1, standin.Denied)
			quotas, err := s.client.Quotas(t.Context(), s.target, plan)
			require.NoError(t, err)
			require.Len(t, quotas, 7)
			var unknown []string
			for code, q := range byCode(quotas) {
				if q.Unknown != "" {
					require.Contains(t, q.Unknown, "(403)")
					require.True(t, q.Denied, code)
					unknown = append(unknown, code)
				}
			}
			require.ElementsMatch(t, codes, unknown)
		})
	}
	s := newScene(t)
	quotas, err := s.client.Quotas(t.Context(), s.target, cloud.Plan{Zones: plan.Zones, Machines: []cloud.Machines{{Type: "bx9-1x1", Lasting: 3}}})
	require.NoError(t, err)
	require.Contains(t, byCode(quotas)["vcpu"].Unknown, "IBM Cloud does not say how large bx9-1x1 is")
	require.False(t, byCode(quotas)["vcpu"].Denied)
}

func TestAnAccountsRaisedLimitsComeFromTheEnvironment(t *testing.T) {
	s := newScene(t)
	client, err := ibmcloud.New(t.Context(), region, cloud.Keys{Secret: secret.New("ours")}, s.env("IBMCLOUD_LIMITS=vpc=50, vcpu=1000"))
	require.NoError(t, err)
	quotas, err := client.Quotas(t.Context(), s.target, cloud.Plan{Zones: []string{"us-east-1"}, Machines: []cloud.Machines{{Type: "bx2-4x16", Lasting: 3}}})
	require.NoError(t, err)
	limits := map[string]int{}
	for _, q := range quotas {
		limits[q.Code] = q.Limit
	}
	require.Equal(t, map[string]int{"vpc": 50, "vcpu": 1000, "memory": 5600, "load-balancer": 50, "floating-ip": 40, "volume": 300}, limits)
	for _, wrong := range []string{"vpcs=5", "vpc", "vpc=many", "vpc=-1"} {
		_, err := ibmcloud.New(t.Context(), region, cloud.Keys{Secret: secret.New("ours")}, s.env("IBMCLOUD_LIMITS="+wrong))
		require.ErrorContains(t, err, "with codes of floating-ip, load-balancer, memory, vcpu, volume, vpc")
	}
}
