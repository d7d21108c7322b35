package ibmcloud_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/IBM/vpc-go-sdk/vpcv1"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/meter"
)

func TestCallsFailOnDemand(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	list := func() (*core.DetailedResponse, error) {
		_, resp, err := c.vpc.ListVpcsWithContext(ctx, &vpcv1.ListVpcsOptions{})
		return resp, err
	}
	c.Refuse("vpc:list_vpcs", 1, "")
	resp, err := list()
	status(t, http.StatusForbidden, resp, err)
	_, err = list()
	require.NoError(t, err)
	c.Refuse("us-east/*", -1, ibmcloud.Broken)
	require.Equal(t, map[string]string{"us-east/*": "Broken"}, c.Faults())
	for range 2 {
		resp, err = list()
		status(t, http.StatusInternalServerError, resp, err)
	}
	c.Lift("us-east/*")
	c.Throttle("*", 1, 0)
	resp, err = list()
	status(t, http.StatusTooManyRequests, resp, err)
	require.Equal(t, "0", resp.Headers.Get("Retry-After"))
	c.Throttle("*", 2, 0)
	c.vpc.EnableRetries(3, time.Second)
	_, err = list()
	require.NoError(t, err, "the SDK tries again")
	c.Throttle("*", 0, 0)

	c.Fail("iam:get_api_keys_details", 1, http.StatusOK, `{}`)
	details, _, err := c.identity.GetAPIKeysDetailsWithContext(ctx, &iamidentityv1.GetAPIKeysDetailsOptions{IamAPIKey: new(key)})
	require.NoError(t, err)
	require.Nil(t, details.AccountID, "as the service answers at times")

	c.Refuse("rc:create_resource_group", 1, ibmcloud.Lost)
	_, resp, err = c.groups.CreateResourceGroupWithContext(ctx, &resourcemanagerv2.CreateResourceGroupOptions{Name: new("demo"), AccountID: new(account)})
	status(t, http.StatusInternalServerError, resp, err)
	require.Len(t, c.Resources("demo"), 1, "it was made all the same")
	_, resp, err = c.groups.CreateResourceGroupWithContext(ctx, &resourcemanagerv2.CreateResourceGroupOptions{Name: new("demo"), AccountID: new(account)})
	status(t, http.StatusBadRequest, resp, err)

	require.Equal(t, 2, c.Calls()["rc:create_resource_group"].Calls)
	asked := c.Journal()
	require.Equal(t, "rc:create_resource_group", asked[len(asked)-1].Call)
	require.Contains(t, asked[len(asked)-1].Failed, "RESOURCE_GROUP_NAME_UNIQUENESS")

	c.ExpireTokens()
	resp, err = list()
	status(t, http.StatusUnauthorized, resp, err)
}

func TestAPodUsesATrustedProfileAndTheAccountMayBeWrong(t *testing.T) {
	c := start(t, ibmcloud.Config{Profiles: []ibmcloud.Profile{{ID: "Profile-1", Name: "runners", Token: "pod-token"}}})
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "pod-token")
	c.with(t, &core.ContainerAuthenticator{CRTokenFilename: token, IAMProfileName: "runners", URL: c.URL("iam", "")})
	n := c.network(t, "demo")

	require.NoError(t, c.SetAccount("ffffffffffffffffffffffffffffffff"))
	c.as(t, key)
	vpcs, _, err := c.vpc.ListVpcsWithContext(t.Context(), &vpcv1.ListVpcsOptions{})
	require.NoError(t, err)
	require.Empty(t, vpcs.Vpcs)
	_, resp, err := c.vpc.GetVPCWithContext(t.Context(), &vpcv1.GetVPCOptions{ID: &n.vpc})
	status(t, http.StatusNotFound, resp, err)

	write(t, token, "not-that-token")
	c.with(t, &core.ContainerAuthenticator{CRTokenFilename: token, IAMProfileName: "runners", URL: c.URL("iam", "")})
	_, resp, err = c.vpc.ListVpcsWithContext(t.Context(), &vpcv1.ListVpcsOptions{})
	status(t, http.StatusBadRequest, resp, err)
}

func TestTheMeterCountsMachinesWhileTheyRun(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	n := c.network(t, "demo")
	require.NoError(t, c.Retag(func(r ibmcloud.Resource) bool { return r.ID == n.vpc }, "ClusterId:cl-1"))
	machine := c.machine(t, n, "demo-master-0")
	c.wait()
	c.now = c.now.Add(time.Hour)
	_, _, err := c.vpc.CreateInstanceActionWithContext(t.Context(), &vpcv1.CreateInstanceActionOptions{InstanceID: &machine, Type: new("stop")})
	require.NoError(t, err)
	c.Elapse(10 * time.Hour)
	used := map[string]meter.Used{}
	for _, u := range c.Meter() {
		require.Equal(t, "cl-1", u.Cluster)
		used[u.Kind+" "+u.Detail] = u
	}
	require.Equal(t, time.Hour+time.Minute, used["instance bx2-4x16"].For)
	require.Equal(t, 11*time.Hour+2*time.Minute, used["volume general-purpose 100"].For)
	require.Equal(t, 11*time.Hour+2*time.Minute, used["address "].For)
}

func TestWhatWasAnsweredSurvivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ibmcloud.json")
	c := start(t, ibmcloud.Config{StatePath: path})
	n := c.network(t, "demo")
	require.NoError(t, c.Pin("demo-vpc"))
	require.NoError(t, c.Protect("demo-storage", "permission"))
	c.wait()
	_, err := c.vpc.DeleteSubnetWithContext(t.Context(), &vpcv1.DeleteSubnetOptions{ID: &n.subnet})
	require.NoError(t, err)
	c.wait()
	require.NoError(t, c.Free(n.gateway))
	again := start(t, ibmcloud.Config{StatePath: path})
	require.Equal(t, c.Resources(""), again.Resources(""))
	require.Equal(t, "pinned", again.Faults()["demo-vpc"])
	require.Equal(t, "permission", again.Faults()["demo-storage"])
	require.Equal(t, c.Meter(), again.Meter())
	require.NotEmpty(t, again.Meter(), "of what is gone")
}

func TestOtherProcessesSetFaultsAndLook(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	send := func(name, body string) *http.Response {
		resp, err := http.Post(c.Base()+"/_standin/"+name, "application/json", bytes.NewBufferString(body))
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	require.Equal(t, http.StatusOK, send("plant", `{"resource":{"service":"is","type":"vpc","name":"somebody-else"}}`).StatusCode)
	require.Equal(t, http.StatusOK, send("refuse", `{"call":"vpc:delete_vpc","times":1}`).StatusCode)
	require.Equal(t, http.StatusOK, send("lag", `{"lag":{"groups":"1s"}}`).StatusCode)
	require.Equal(t, http.StatusBadRequest, send("lag", `{"lag":{"groups":"soon"}}`).StatusCode)
	require.Equal(t, http.StatusBadRequest, send("lag", `{"lag":{"elephants":"1s"}}`).StatusCode)
	require.Equal(t, http.StatusBadRequest, send("limit", `{"name":"elephants"}`).StatusCode)
	require.Equal(t, http.StatusBadRequest, send("protect", `{"id":"x","code":"prayer"}`).StatusCode)
	resp, err := http.Get(c.Base() + "/_standin/resources?match=somebody-else")
	require.NoError(t, err)
	defer resp.Body.Close()
	var found []ibmcloud.Resource
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&found))
	require.Len(t, found, 1)
	vpcs, _, err := c.vpc.ListVpcsWithContext(t.Context(), &vpcv1.ListVpcsOptions{})
	require.NoError(t, err)
	require.Len(t, vpcs.Vpcs, 1)
	answer, err := c.vpc.DeleteVPCWithContext(t.Context(), &vpcv1.DeleteVPCOptions{ID: vpcs.Vpcs[0].ID})
	status(t, http.StatusForbidden, answer, err)
	for how, want := range map[string]int{"permission": http.StatusForbidden, "broken": http.StatusInternalServerError, "in-use": http.StatusConflict} {
		require.Equal(t, http.StatusOK, send("protect", `{"id":"somebody-else","code":"`+how+`"}`).StatusCode)
		answer, err := c.vpc.DeleteVPCWithContext(t.Context(), &vpcv1.DeleteVPCOptions{ID: vpcs.Vpcs[0].ID})
		status(t, want, answer, err)
	}

	resp, err = http.Get(c.URL("vpc", region) + "/vpcs")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode, "without a token")
}
