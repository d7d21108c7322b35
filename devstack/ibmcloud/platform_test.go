package ibmcloud_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

func TestServiceIDsHavePagesAndLeaveTheirPolicies(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	var last *iamidentityv1.ServiceID
	for i := range 23 {
		made, _, err := c.identity.CreateServiceIDWithContext(ctx, &iamidentityv1.CreateServiceIDOptions{AccountID: new(account), Name: new(fmt.Sprint("demo-", i/2))})
		require.NoError(t, err, "names are not unique")
		last = made
	}
	page, _, err := c.identity.ListServiceIdsWithContext(ctx, &iamidentityv1.ListServiceIdsOptions{AccountID: new(account)})
	require.NoError(t, err)
	require.Len(t, page.Serviceids, 20)
	require.Contains(t, *page.Next, "pagetoken=")
	named, _, err := c.identity.ListServiceIdsWithContext(ctx, &iamidentityv1.ListServiceIdsOptions{AccountID: new(account), Name: new("demo-3")})
	require.NoError(t, err)
	require.Len(t, named.Serviceids, 2)

	made, _, err := c.identity.CreateAPIKeyWithContext(ctx, &iamidentityv1.CreateAPIKeyOptions{Name: new("ccoctl-generated-key"), IamID: last.IamID})
	require.NoError(t, err)
	_, _, err = c.policies.CreatePolicyWithContext(ctx, &iampolicymanagementv1.CreatePolicyOptions{
		Type: new("access"), Roles: []iampolicymanagementv1.PolicyRole{{RoleID: new("crn:v1:bluemix:public:iam::::role:Editor")}},
		Subjects:  []iampolicymanagementv1.PolicySubject{{Attributes: []iampolicymanagementv1.SubjectAttribute{{Name: new("iam_id"), Value: last.IamID}}}},
		Resources: []iampolicymanagementv1.PolicyResource{{Attributes: []iampolicymanagementv1.ResourceAttribute{{Name: new("accountId"), Value: new(account)}, {Name: new("serviceName"), Value: new("is")}}}},
	})
	require.NoError(t, err)
	c.as(t, *made.Apikey)
	_, err = c.identity.DeleteServiceIDWithContext(ctx, &iamidentityv1.DeleteServiceIDOptions{ID: last.ID})
	require.Error(t, err, "its key may what its policies say")
	c.as(t, key)
	_, err = c.identity.DeleteServiceIDWithContext(ctx, &iamidentityv1.DeleteServiceIDOptions{ID: last.ID})
	require.NoError(t, err)
	keys, _, err := c.identity.ListAPIKeysWithContext(ctx, &iamidentityv1.ListAPIKeysOptions{AccountID: new(account), IamID: last.IamID})
	require.NoError(t, err)
	require.Empty(t, keys.Apikeys)
	left, _, err := c.policies.ListPoliciesWithContext(ctx, &iampolicymanagementv1.ListPoliciesOptions{AccountID: new(account), IamID: last.IamID})
	require.NoError(t, err)
	require.Len(t, left.Policies, 1)
	for _, r := range c.All() {
		require.NotContains(t, fmt.Sprintf("%+v", r), *made.Apikey, "keys are never handed out")
	}
}

func TestBothVersionsShowTheSamePolicies(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	made, _, err := c.policies.CreateV2PolicyWithContext(ctx, authorization("the-guid"))
	require.NoError(t, err)
	_, resp, err := c.policies.CreateV2PolicyWithContext(ctx, authorization("the-guid"))
	require.Equal(t, "policy_conflict_error", status(t, http.StatusConflict, resp, err)["errors"].([]any)[0].(map[string]any)["code"])
	v1, _, err := c.policies.ListPoliciesWithContext(ctx, &iampolicymanagementv1.ListPoliciesOptions{AccountID: new(account), Type: new("authorization")})
	require.NoError(t, err)
	require.Len(t, v1.Policies, 1)
	require.Equal(t, *made.ID, *v1.Policies[0].ID)
	require.Equal(t, "the-guid", *v1.Policies[0].Resources[0].Attributes[2].Value)
	v2, _, err := c.policies.ListV2PoliciesWithContext(ctx, &iampolicymanagementv1.ListV2PoliciesOptions{AccountID: new(account), Type: new("authorization")})
	require.NoError(t, err)
	require.Equal(t, "the-guid", v2.Policies[0].Resource.Attributes[2].Value)
	_, err = c.policies.DeletePolicyWithContext(ctx, &iampolicymanagementv1.DeletePolicyOptions{PolicyID: made.ID})
	require.NoError(t, err)
	resp, err = c.policies.DeleteV2PolicyWithContext(ctx, &iampolicymanagementv1.DeleteV2PolicyOptions{ID: made.ID})
	status(t, http.StatusNotFound, resp, err)
}

func TestInstancesThatAreNotActiveAreListedOnlyByTheirState(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	for _, state := range []string{"active", "provisioning", "failed", "inactive", "pre_provisioning"} {
		_, err := c.Plant(ibmcloud.Resource{Service: "cloud-object-storage", Type: "instance", Name: "cos", State: state})
		require.NoError(t, err)
	}
	list := func(state *string) (states []string) {
		found, _, err := c.rc.ListResourceInstancesWithContext(t.Context(), &resourcecontrollerv2.ListResourceInstancesOptions{Name: new("cos"), State: state})
		require.NoError(t, err)
		for _, r := range found.Resources {
			states = append(states, *r.State)
		}
		return states
	}
	require.ElementsMatch(t, []string{"active", "provisioning"}, list(nil))
	require.Equal(t, []string{"failed"}, list(new("failed")))
}

func TestObjectStorageHasToBeReclaimedBeforeItsGroupGoes(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	c.SetLag(ibmcloud.Lag{Groups: 30e9})
	group := c.group(t, "demo")
	byName := func() int {
		found, _, err := c.groups.ListResourceGroupsWithContext(ctx, &resourcemanagerv2.ListResourceGroupsOptions{AccountID: new(account), Name: new("demo")})
		require.NoError(t, err)
		return len(found.Resources)
	}
	require.Zero(t, byName(), "a new group is listed late")
	c.wait()
	require.Equal(t, 1, byName())

	cos, _, err := c.rc.CreateResourceInstanceWithContext(ctx, &resourcecontrollerv2.CreateResourceInstanceOptions{Name: new("demo-cos"), Target: new("Global"), ResourceGroup: &group, ResourcePlanID: new(cosPlan)})
	require.NoError(t, err)
	_, _, err = c.rc.CreateResourceKeyWithContext(ctx, &resourcecontrollerv2.CreateResourceKeyOptions{Name: new("demo-image-registry"), Source: cos.ID})
	require.NoError(t, err)
	resp, err := c.rc.DeleteResourceInstanceWithContext(ctx, &resourcecontrollerv2.DeleteResourceInstanceOptions{ID: cos.ID})
	require.Contains(t, status(t, http.StatusBadRequest, resp, err)["message"], "resource keys must first be deleted")
	_, err = c.rc.DeleteResourceInstanceWithContext(ctx, &resourcecontrollerv2.DeleteResourceInstanceOptions{ID: cos.ID, Recursive: new(true)})
	require.NoError(t, err)
	kept, _, err := c.rc.GetResourceInstanceWithContext(ctx, &resourcecontrollerv2.GetResourceInstanceOptions{ID: cos.GUID})
	require.NoError(t, err)
	require.Equal(t, "pending_reclamation", *kept.State)
	listed, _, err := c.rc.ListResourceInstancesWithContext(ctx, &resourcecontrollerv2.ListResourceInstancesOptions{ResourceGroupID: &group})
	require.NoError(t, err)
	require.Empty(t, listed.Resources, "what waits for its reclamation is not listed")
	resp, err = c.rc.DeleteResourceInstanceWithContext(ctx, &resourcecontrollerv2.DeleteResourceInstanceOptions{ID: cos.ID})
	status(t, http.StatusUnprocessableEntity, resp, err)
	resp, err = c.groups.DeleteResourceGroupWithContext(ctx, &resourcemanagerv2.DeleteResourceGroupOptions{ID: &group})
	require.Contains(t, status(t, http.StatusInternalServerError, resp, err)["message"], "pending reclamation")

	waiting, _, err := c.rc.ListReclamationsWithContext(ctx, &resourcecontrollerv2.ListReclamationsOptions{ResourceInstanceID: cos.GUID})
	require.NoError(t, err)
	require.Len(t, waiting.Resources, 1)
	_, _, err = c.rc.RunReclamationActionWithContext(ctx, &resourcecontrollerv2.RunReclamationActionOptions{ID: waiting.Resources[0].ID, ActionName: new("reclaim")})
	require.NoError(t, err)
	c.wait()
	_, resp, err = c.rc.GetResourceInstanceWithContext(ctx, &resourcecontrollerv2.GetResourceInstanceOptions{ID: cos.ID})
	status(t, http.StatusNotFound, resp, err)
	_, err = c.groups.DeleteResourceGroupWithContext(ctx, &resourcemanagerv2.DeleteResourceGroupOptions{ID: &group})
	require.NoError(t, err)
	require.Empty(t, c.Resources(""), "the key and the service ID that came with it are gone too")
}

func TestAnImageThatVPCForgotIsDeletedByResourceController(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ghost, err := c.Plant(ibmcloud.Resource{Service: "is", Type: "image", Name: "demo-rhcos", Attrs: map[string]string{"ghost": "true"}})
	require.NoError(t, err)
	real, err := c.Plant(ibmcloud.Resource{Service: "is", Type: "image", Name: "other-rhcos"})
	require.NoError(t, err)
	resp, err := c.rc.DeleteResourceInstanceWithContext(t.Context(), &resourcecontrollerv2.DeleteResourceInstanceOptions{ID: new(real.CRN())})
	status(t, http.StatusBadRequest, resp, err)
	_, err = c.rc.DeleteResourceInstanceWithContext(t.Context(), &resourcecontrollerv2.DeleteResourceInstanceOptions{ID: new(ghost.CRN())})
	require.NoError(t, err)
	require.Len(t, c.Resources(""), 1)
}

func TestResourceControllerHasPagesOfAHundred(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	for i := range 103 {
		_, err := c.Plant(ibmcloud.Resource{Service: "cloud-object-storage", Type: "instance", Name: fmt.Sprint("cos-", i)})
		require.NoError(t, err)
	}
	cos := &resourcecontrollerv2.ListResourceInstancesOptions{ResourceID: new("dff97f5c-bc5e-4455-b470-411c3edbe49c")}
	page, _, err := c.rc.ListResourceInstancesWithContext(t.Context(), cos)
	require.NoError(t, err)
	require.Len(t, page.Resources, 100)
	pager, err := c.rc.NewResourceInstancesPager(cos)
	require.NoError(t, err)
	all, err := pager.GetAllWithContext(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 103)
}

func TestTagsStayInTheAccountAndFailuresAreInTheAnswer(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	n := c.network(t, "demo-x1y2z")
	var crn string
	for _, r := range c.All() {
		if r.ID == n.vpc {
			crn = r.CRN()
		}
	}
	attached, _, err := c.tags.AttachTagWithContext(ctx, &globaltaggingv1.AttachTagOptions{
		TagNames: []string{"ClusterId:AbC"}, TagType: new("user"), Resources: []globaltaggingv1.Resource{{ResourceID: &crn}, {ResourceID: new("crn:nobody")}},
	})
	require.NoError(t, err)
	require.False(t, *attached.Results[0].IsError)
	require.True(t, *attached.Results[1].IsError)
	of, _, err := c.tags.ListTagsWithContext(ctx, &globaltaggingv1.ListTagsOptions{AttachedTo: &crn, TagType: new("user")})
	require.NoError(t, err)
	require.Equal(t, "clusterid:abc", *of.Items[0].Name, "tags are stored in lower case")
	_, resp, err := c.tags.DeleteTagWithContext(ctx, &globaltaggingv1.DeleteTagOptions{TagName: new("clusterid:abc")})
	status(t, http.StatusBadRequest, resp, err)
	_, resp, err = c.tags.AttachTagWithContext(ctx, &globaltaggingv1.AttachTagOptions{TagNames: []string{"a/b"}, Resources: []globaltaggingv1.Resource{{ResourceID: &crn}}})
	status(t, http.StatusBadRequest, resp, err)

	require.NoError(t, c.Free(n.vpc))
	left := c.Resources("clusterid:abc")
	require.Len(t, left, 1)
	require.Equal(t, "tag", left[0].Type)
	_, _, err = c.tags.DeleteTagWithContext(ctx, &globaltaggingv1.DeleteTagOptions{TagName: new("clusterid:abc")})
	require.NoError(t, err)
	require.Empty(t, c.Resources("clusterid:abc"))
}

func TestTheSearchIndexIsLateAndRemembersWhatIsGone(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	c.SetLag(ibmcloud.Lag{Create: 90e9, Delete: 600e9})
	find := func(query string) (names []string) {
		in := &globalsearchv2.SearchOptions{Query: &query, Fields: []string{"*"}, Limit: new(int64(2))}
		for {
			out, _, err := c.search.SearchWithContext(ctx, in)
			require.NoError(t, err)
			for _, item := range out.Items {
				names = append(names, item.GetProperty("name").(string))
			}
			if out.SearchCursor == nil {
				return names
			}
			in = &globalsearchv2.SearchOptions{SearchCursor: out.SearchCursor}
		}
	}
	n := c.network(t, "demo-x1y2z")
	require.Empty(t, find("name:demo-x1y2z*"))
	c.wait()
	require.Len(t, find("name:demo-x1y2z*"), 4, "the group too")
	require.Len(t, find(`family:is AND name:demo-x1y2z*`), 3)
	require.Len(t, find(`resource_group_id:`+n.group+` AND (type:vpc OR type:subnet)`), 2)
	require.Empty(t, find(`tags:"clusterid:abc"`))
	require.NoError(t, c.Retag(func(r ibmcloud.Resource) bool { return r.ID == n.vpc }, "ClusterId:AbC"))
	require.Equal(t, []string{"demo-x1y2z-vpc"}, find(`tags:"ClusterId:AbC"`))
	require.NoError(t, c.Free(n.group))
	require.Len(t, find("name:demo-x1y2z*"), 4, "the index remembers what is gone")
	c.now = c.now.Add(11 * 60e9)
	require.Empty(t, find("name:demo-x1y2z*"))
	_, resp, err := c.search.SearchWithContext(ctx, &globalsearchv2.SearchOptions{Query: new("elephants:*")})
	status(t, http.StatusBadRequest, resp, err)
}
