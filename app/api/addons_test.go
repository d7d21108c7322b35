package api

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/profiles"
)

// A cluster is accepted with its profile's add-ons; its runner is told them, tells of each, and they are brought anew when
// somebody asks.
func TestAddonsAreBroughtAnewWhenSomebodyAsks(t *testing.T) {
	profile, err := fs.ReadFile(profiles.EmbeddedFiles(), "profiles/aws-minimal-test.yaml")
	require.NoError(t, err)
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"profiles/aws-minimal-test.yaml": strings.Replace(string(profile), "addons: {", "addons: {default: [pr-namespace], ", 1),
	}), nil)
	made := h.make(oidc.Requester, "shop")
	path := "/api/v1/clusters/" + made.ClusterID
	p := h.refused(http.MethodPost, path+"/refresh", h.as(oidc.Requester), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "only while the cluster is READY")
	h.ready(made.ClusterID) // by a runner that knows no add-ons
	var c v1.ClusterDetail
	h.get(path, &c)
	require.Equal(t, []any{v1.READY, []string{"pr-namespace"}, true}, []any{c.Status, c.Addons, c.Refreshing})
	require.Contains(t, c.Why, "it is not known which of its add-ons are installed; the others will be tried again")

	var first, again v1.Accepted
	h.does(http.MethodPost, path+"/refresh", h.as(oidc.Requester), nil, http.StatusAccepted, &first)
	h.does(http.MethodPost, path+"/refresh", h.as(oidc.Requester), nil, http.StatusAccepted, &again)
	require.Equal(t, first.JobID, again.JobID)
	require.Equal(t, "The add-ons of shop are being installed again: pr-namespace.", first.Message)
	var job v1.JobDetail
	h.get("/api/v1/jobs/"+first.JobID, &job)
	require.Equal(t, "CONFIGURE", job.Type)

	h.step(made.ClusterID)
	open, bearer := h.attempt(made.ClusterID)
	r := &runner{h, open.Attempt, bearer}
	_, raw := h.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/claim", bearer, contract.Claim{Pod: "pod-2"})
	var claimed contract.Claimed
	require.NoError(t, json.Unmarshal(raw, &claimed))
	require.Equal(t, []any{contract.KindConfigure, servicetest.CredentialRef(made.ClusterID, artifacts.Kubeconfig)}, []any{claimed.Spec.Kind, claimed.Spec.KubeconfigRef})
	require.Equal(t, "pr-namespace", claimed.Spec.Addons[0].Name)
	require.Contains(t, claimed.Spec.Addons[0].Manifests, `"kind":"ResourceQuota"`)
	_, status := r.say("report", contract.Report{Seq: 1, Phase: "configuring", Addons: []contract.AddonState{{Name: "pr-namespace", There: true, Reason: "Applied", Message: "it is applied and works"}}})
	require.Equal(t, http.StatusOK, status)
	_, status = r.say("result", contract.Result{Outcome: "succeeded", Addons: new(1)})
	require.Equal(t, http.StatusOK, status)
	h.step(made.ClusterID)
	c = v1.ClusterDetail{}
	h.get(path, &c)
	require.Equal(t, []any{v1.READY, false, "its add-ons are installed: pr-namespace"}, []any{c.Status, c.Refreshing, c.Why})
	require.Equal(t, v1.AttemptKind("configure"), c.Attempts[1].Kind)
	got := map[string]string{}
	for _, q := range c.Conditions {
		got[q.Type] = string(q.Status) + " " + q.Reason
	}
	require.Equal(t, map[string]string{"Ready": "True ready", "AddonApplied/pr-namespace": "True Applied", "Configured": "True AddonsThere"}, got)
}

func TestWhatHasNoAddonsCannotBeRefreshed(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	p := h.refused(http.MethodPost, "/api/v1/clusters/"+made.ClusterID+"/refresh", h.as(oidc.Requester), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "shop was created without add-ons, and the add-ons of a cluster cannot be changed.")
}
