package ibmcloud_test

import (
	"slices"
	"testing"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/IBM/vpc-go-sdk/vpcv1"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

// attempts are one changing call for each policy of a runner, which works with a new name.
var attempts = map[string]func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error){
	"resource-group": func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error) {
		_, r, err := c.groups.CreateResourceGroupWithContext(t.Context(), &resourcemanagerv2.CreateResourceGroupOptions{Name: &name, AccountID: new(account)})
		return r, err
	},
	"is": func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error) {
		_, r, err := c.vpc.CreateVPCWithContext(t.Context(), &vpcv1.CreateVPCOptions{Name: &name})
		return r, err
	},
	"iam-identity": func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error) {
		_, r, err := c.identity.CreateServiceIDWithContext(t.Context(), &iamidentityv1.CreateServiceIDOptions{AccountID: new(account), Name: &name})
		return r, err
	},
	"iam-access-management": func(t *testing.T, c *cloud, _ string) (*core.DetailedResponse, error) {
		_, r, err := c.policies.ListV2PoliciesWithContext(t.Context(), &iampolicymanagementv1.ListV2PoliciesOptions{AccountID: new(account)})
		return r, err
	},
	"cloud-object-storage": func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error) {
		_, r, err := c.rc.CreateResourceInstanceWithContext(t.Context(), &resourcecontrollerv2.CreateResourceInstanceOptions{
			Name: &name, Target: new("Global"), ResourceGroup: new(""), ResourcePlanID: new("744bfc56-d12c-4866-88d5-dac9139e0e5d")})
		return r, err
	},
	"internet-svcs": func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error) {
		_, r, err := c.rc.CreateResourceInstanceWithContext(t.Context(), &resourcecontrollerv2.CreateResourceInstanceOptions{
			Name: &name, Target: new("Global"), ResourceGroup: new(""), ResourcePlanID: new("46f74bf0-5c34-4c04-a4b0-5b5d9c5f1b4b")})
		return r, err
	},
	"dns-svcs": func(t *testing.T, c *cloud, name string) (*core.DetailedResponse, error) {
		_, r, err := c.rc.CreateResourceInstanceWithContext(t.Context(), &resourcecontrollerv2.CreateResourceInstanceOptions{
			Name: &name, Target: new("Global"), ResourceGroup: new(""), ResourcePlanID: new("2c8fa097-d7c2-4df2-b53e-2efb7874cdf7")})
		return r, err
	},
}

func TestACallerMayDoWhatItsPoliciesSayAndNothingElse(t *testing.T) {
	runner, err := policies.Runner()
	require.NoError(t, err)
	scan, err := policies.Scan()
	require.NoError(t, err)
	callers := []ibmcloud.Caller{{APIKey: "runner", Access: &runner}, {APIKey: "scan", Access: &scan}}
	for _, without := range runner.Policies {
		less := slices.DeleteFunc(slices.Clone(runner.Policies), func(p policies.Policy) bool { return p.On() == "" || p.On() == without.On() })
		callers = append(callers, ibmcloud.Caller{APIKey: "without " + without.On(), Access: &policies.Document{Policies: less}})
	}
	c := start(t, ibmcloud.Config{Callers: callers})
	require.Len(t, runner.Policies, len(attempts)+1, "each policy but the one for every service has a call here")
	for _, policy := range runner.Policies {
		if policy.On() == "" {
			continue
		}
		do := attempts[policy.On()]
		require.NotNil(t, do, policy.On())
		c.as(t, "runner")
		_, err := do(t, c, "made-by-runner")
		require.NoError(t, err, policy.On())
		c.as(t, "without "+policy.On())
		resp, err := do(t, c, "made-without")
		status(t, 403, resp, err)
		if policy.On() != "iam-access-management" { // its call only reads
			c.as(t, "scan")
			resp, err = do(t, c, "made-by-scan")
			status(t, 403, resp, err)
		}
	}
}

// A list of several services leaves out what the caller may not see, as the real one does.
func TestAListAndASearchShowWhatTheCallerMaySee(t *testing.T) {
	reader := &policies.Document{Policies: []policies.Policy{{Service: "is", Roles: []string{"Viewer"}}}}
	c := start(t, ibmcloud.Config{Callers: []ibmcloud.Caller{{APIKey: "reader", Access: reader}}})
	c.network(t, "demo")
	_, err := attempts["cloud-object-storage"](t, c, "demo-cos")
	require.NoError(t, err)
	found := func() (listed, searched int) {
		list, _, err := c.rc.ListResourceInstancesWithContext(t.Context(), &resourcecontrollerv2.ListResourceInstancesOptions{Name: new("demo-cos")})
		require.NoError(t, err)
		result, _, err := c.search.SearchWithContext(t.Context(), &globalsearchv2.SearchOptions{Query: new("name:demo-cos")})
		require.NoError(t, err)
		return len(list.Resources), len(result.Items)
	}
	c.wait()
	listed, searched := found()
	require.Equal(t, []int{1, 1}, []int{listed, searched})
	c.as(t, "reader")
	listed, searched = found()
	require.Equal(t, []int{0, 0}, []int{listed, searched})
}
