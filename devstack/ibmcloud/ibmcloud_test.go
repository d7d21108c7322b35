package ibmcloud_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/IBM/vpc-go-sdk/vpcv1"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

const (
	key     = "a-key-for-tests"
	account = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	region  = "us-east"
	cosPlan = "744bfc56-d12c-4866-88d5-dac9139e0e5d"
)

// cloud is a stand-in with a clock that only the test moves, and IBM's own clients of it.
type cloud struct {
	*ibmcloud.Server
	now      time.Time
	auth     core.Authenticator
	identity *iamidentityv1.IamIdentityV1
	policies *iampolicymanagementv1.IamPolicyManagementV1
	rc       *resourcecontrollerv2.ResourceControllerV2
	groups   *resourcemanagerv2.ResourceManagerV2
	vpc      *vpcv1.VpcV1
	dns      *dnssvcsv1.DnsSvcsV1
	search   *globalsearchv2.GlobalSearchV2
	tags     *globaltaggingv1.GlobalTaggingV1
}

func start(t *testing.T, cfg ibmcloud.Config) *cloud {
	t.Helper()
	c := &cloud{now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	cfg.Account, cfg.Settle = account, time.Minute
	cfg.Now = func() time.Time { return c.now }
	cfg.Callers = append([]ibmcloud.Caller{{Name: "admin", APIKey: key}}, cfg.Callers...)
	server, err := ibmcloud.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	c.Server = server
	c.as(t, key)
	return c
}

// as makes the clients use an API key.
func (c *cloud) as(t *testing.T, apiKey string) {
	t.Helper()
	c.with(t, c.keyed(apiKey))
}

// keyed is an authenticator for one client: the SDKs read all of it when they make a client, also what is in use by then.
func (c *cloud) keyed(apiKey string) core.Authenticator {
	return &core.IamAuthenticator{ApiKey: apiKey, URL: c.URL("iam", "")}
}

func (c *cloud) with(t *testing.T, auth core.Authenticator) {
	t.Helper()
	var err error
	c.auth = auth
	c.identity, err = iamidentityv1.NewIamIdentityV1(&iamidentityv1.IamIdentityV1Options{Authenticator: auth, URL: c.URL("iam", "")})
	require.NoError(t, err)
	c.policies, err = iampolicymanagementv1.NewIamPolicyManagementV1(&iampolicymanagementv1.IamPolicyManagementV1Options{Authenticator: auth, URL: c.URL("iam", "")})
	require.NoError(t, err)
	c.rc, err = resourcecontrollerv2.NewResourceControllerV2(&resourcecontrollerv2.ResourceControllerV2Options{Authenticator: auth, URL: c.URL("rc", "")})
	require.NoError(t, err)
	c.groups, err = resourcemanagerv2.NewResourceManagerV2(&resourcemanagerv2.ResourceManagerV2Options{Authenticator: auth, URL: c.URL("rc", "")})
	require.NoError(t, err)
	c.vpc, err = vpcv1.NewVpcV1(&vpcv1.VpcV1Options{Authenticator: auth, URL: c.URL("vpc", region)})
	require.NoError(t, err)
	c.dns, err = dnssvcsv1.NewDnsSvcsV1(&dnssvcsv1.DnsSvcsV1Options{Authenticator: auth, URL: c.URL("dns", "")})
	require.NoError(t, err)
	c.search, err = globalsearchv2.NewGlobalSearchV2(&globalsearchv2.GlobalSearchV2Options{Authenticator: auth, URL: c.URL("search", "")})
	require.NoError(t, err)
	c.tags, err = globaltaggingv1.NewGlobalTaggingV1(&globaltaggingv1.GlobalTaggingV1Options{Authenticator: auth, URL: c.URL("tags", "")})
	require.NoError(t, err)
}

// wait lets everything that settles settle.
func (c *cloud) wait() { c.now = c.now.Add(2 * time.Minute) }

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// status requires a refusal with a status, and returns what the body says.
func status(t *testing.T, want int, resp *core.DetailedResponse, err error) map[string]any {
	t.Helper()
	require.Error(t, err)
	require.NotNil(t, resp, err)
	require.Equal(t, want, resp.StatusCode, err)
	body, _ := resp.GetResultAsMap()
	return body
}

func (c *cloud) group(t *testing.T, name string) string {
	t.Helper()
	made, _, err := c.groups.CreateResourceGroupWithContext(t.Context(), &resourcemanagerv2.CreateResourceGroupOptions{Name: &name, AccountID: new(account)})
	require.NoError(t, err)
	return *made.ID
}

// IBM Cloud's lists leave out what the caller has no access to, with status 200.
func TestACallerOfOneGroupGetsShorterListsAndNoErrors(t *testing.T) {
	c := start(t, ibmcloud.Config{Callers: []ibmcloud.Caller{{APIKey: "elsewhere", Groups: []string{"Default"}}}})
	group := c.group(t, "mine")
	_, _, err := c.identity.CreateServiceIDWithContext(t.Context(), &iamidentityv1.CreateServiceIDOptions{AccountID: new(account), Name: new("mine-openshift")})
	require.NoError(t, err)
	_, err = c.Plant(ibmcloud.Resource{Service: "is", Type: "vpc", Name: "mine-vpc", Group: group, Region: "us-east"})
	require.NoError(t, err)
	seen := func() (all []int) {
		groups, _, err := c.groups.ListResourceGroupsWithContext(t.Context(), &resourcemanagerv2.ListResourceGroupsOptions{AccountID: new(account)})
		require.NoError(t, err)
		vpcs, _, err := c.vpc.ListVpcsWithContext(t.Context(), &vpcv1.ListVpcsOptions{})
		require.NoError(t, err)
		ids, _, err := c.identity.ListServiceIdsWithContext(t.Context(), &iamidentityv1.ListServiceIdsOptions{AccountID: new(account)})
		require.NoError(t, err)
		policies, _, err := c.policies.ListV2PoliciesWithContext(t.Context(), &iampolicymanagementv1.ListV2PoliciesOptions{AccountID: new(account)})
		require.NoError(t, err)
		return []int{len(groups.Resources), len(vpcs.Vpcs), len(ids.Serviceids), len(policies.Policies)}
	}
	require.Equal(t, []int{2, 1, 1, 2}, seen())
	c.as(t, "elsewhere")
	require.Equal(t, []int{1, 0, 0, 1}, seen(), "of the policies, its own")
	_, resp, err := c.groups.GetResourceGroupWithContext(t.Context(), &resourcemanagerv2.GetResourceGroupOptions{ID: &group})
	status(t, http.StatusForbidden, resp, err)
	cis, _, err := c.rc.ListResourceInstancesWithContext(t.Context(), &resourcecontrollerv2.ListResourceInstancesOptions{ResourceID: new("75874a60-cb12-11e7-948e-37ac098eb1b9")})
	require.NoError(t, err)
	require.Len(t, cis.Resources, 1, "the zones' instance is in its group")
}

func TestAKeyBecomesATokenThatNamesItsAccount(t *testing.T) {
	c := start(t, ibmcloud.Config{
		Callers:  []ibmcloud.Caller{{APIKey: "other", Account: "ffffffffffffffffffffffffffffffff"}, {APIKey: "reader", Denied: []string{"vpc:delete_*"}}},
		Profiles: []ibmcloud.Profile{{ID: "Profile-1", Name: "runners", Token: "pod-token"}},
	})
	details, _, err := c.identity.GetAPIKeysDetailsWithContext(t.Context(), &iamidentityv1.GetAPIKeysDetailsOptions{IamAPIKey: new(key)})
	require.NoError(t, err)
	require.Equal(t, account, *details.AccountID)
	group := c.group(t, "mine")

	c.as(t, "wrong")
	_, resp, err := c.identity.GetAPIKeysDetailsWithContext(t.Context(), &iamidentityv1.GetAPIKeysDetailsOptions{IamAPIKey: new(key)})
	require.Contains(t, err.Error(), "Provided API key could not be found.")
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)

	c.as(t, "other")
	_, resp, err = c.groups.GetResourceGroupWithContext(t.Context(), &resourcemanagerv2.GetResourceGroupOptions{ID: &group})
	status(t, http.StatusNotFound, resp, err)

	c.as(t, "reader")
	resp, err = c.vpc.DeleteVPCWithContext(t.Context(), &vpcv1.DeleteVPCOptions{ID: new("r014-none")})
	require.Equal(t, "not_authorized", status(t, http.StatusForbidden, resp, err)["errors"].([]any)[0].(map[string]any)["code"])
}
