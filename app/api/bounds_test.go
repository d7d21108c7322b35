package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// People whose role holds in one team alone.
var (
	headOfPlatform = oidc.Claims{Subject: "head-p", Name: "Head", Groups: []string{"platform"}, Role: "team_admin"}
	headOfSecurity = oidc.Claims{Subject: "head-s", Name: "Head", Groups: []string{"security"}, Role: "team_admin"}
	eyeOfPlatform  = oidc.Claims{Subject: "eye-p", Name: "Eye", Groups: []string{"platform"}, Role: "team_auditor"}
	eyeOfSecurity  = oidc.Claims{Subject: "eye-s", Name: "Eye", Groups: []string{"security"}, Role: "team_auditor"}
)

// scoped is the program's own catalogue with admins and auditors of single teams.
func scoped(t testing.TB) catalogue.Catalogue {
	t.Helper()
	return servicetest.Catalogue(t, map[string]string{"identities/scoped.yaml": "identities:\n" +
		"  - {name: heads, source: oidc, match: {ocpctl_role: [team_admin]}, role: platform_admin, teams: [\"{groups}\"]}\n" +
		"  - {name: eyes, source: oidc, match: {ocpctl_role: [team_auditor]}, role: auditor, teams: [\"{groups}\"]}\n"})
}

// What each role gets of each operation, by a cluster of platform that is shared with security's seer and user alone.
func TestEveryOperationByEveryRole(t *testing.T) {
	h := fixtureWith(t, scoped(t), nil)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	seer, user := oidc.Claims{Subject: "seer", Groups: []string{"security"}, Role: "requester"}, oidc.Claims{Subject: "user", Groups: []string{"security"}, Role: "requester"}
	path := "/api/v1/clusters/" + made.ClusterID
	for who, access := range map[string]v1.ShareRequestAccess{h.id(seer): "see", h.id(user): "use"} {
		h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: who, Access: access}, http.StatusOK, nil)
	}
	_, err := h.store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: "github", ID: "guid-1", Event: "ping", Topic: "acme/shop#41", Body: []byte(`{}`)})
	require.NoError(t, err)

	people := []oidc.Claims{oidc.Requester, headOfPlatform, oidc.Admin, oidc.Auditor, eyeOfPlatform, seer, user, will, headOfSecurity, eyeOfSecurity, toni}
	const ok, no, none = http.StatusOK, http.StatusForbidden, http.StatusNotFound
	bad := http.StatusUnprocessableEntity // it may, and what it says is wrong: nothing is changed for the next
	why := v1.Reason{Reason: ""}
	for _, c := range []struct {
		method, path string
		body         any
		want         []int // by the order of people
	}{
		{"GET", path, nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", path + "/outputs", nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", path + "/timeline", nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", path + "/explain", nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", path + "/logs", nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", path + "/shares", nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", "/api/v1/jobs/" + made.JobID, nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"GET", path + "/kubeconfig", nil, []int{ok, 202, 202, no, no, no, 202, none, none, none, no}},
		{"GET", path + "/kubeconfig?role=admin", nil, []int{ok, 202, 202, no, no, no, no, none, none, none, no}},
		{"GET", path + "/kubeconfig?role=root", nil, slices.Repeat([]int{400}, 11)},
		{"GET", path + "/kubeconfig?lifetime=1000h", nil, []int{400, 400, 400, no, no, no, 400, none, none, none, no}},
		{"GET", path + "/access", nil, []int{ok, ok, ok, ok, ok, ok, ok, none, none, none, no}},
		{"DELETE", path + "/access/acc_none", nil, []int{none, none, none, no, no, no, no, none, none, none, no}},
		{"POST", path + "/kubeconfig-links", nil, []int{201, 201, 201, no, no, no, 201, none, none, none, no}},
		{"POST", path + "/kubeadmin-links", nil, []int{409, 409, 409, no, no, no, no, none, none, none, no}},
		{"POST", path + "/admin-kubeconfig-links", nil, []int{409, 409, 409, no, no, no, no, none, none, none, no}},
		{"POST", path + "/break-glass", why, []int{bad, bad, bad, no, no, no, no, none, none, none, no}},
		{"POST", path + "/extend", v1.Extend{}, []int{bad, bad, bad, no, no, no, no, none, none, none, no}},
		{"POST", path + "/hold", v1.Hold{}, []int{bad, bad, bad, no, no, no, no, none, none, none, no}},
		{"DELETE", path + "/hold", nil, []int{ok, ok, ok, no, no, no, no, none, none, none, no}},
		{"POST", path + "/scale-workers", v1.Scale{Replicas: 99}, []int{409, 409, 409, no, no, no, no, none, none, none, no}},
		{"POST", path + "/refresh", nil, []int{409, 409, 409, no, no, no, no, none, none, none, no}},
		{"POST", path + "/transfer", v1.Transfer{Team: "no/team"}, []int{bad, bad, bad, no, no, no, no, none, none, none, no}},
		{"POST", path + "/shares", v1.ShareRequest{Kind: "team", With: "no/team"}, []int{bad, bad, bad, no, no, no, no, none, none, none, no}},
		{"DELETE", path + "/shares?kind=team&with=nobody", nil, []int{none, none, none, no, no, no, no, none, none, none, no}},
		{"POST", path + "/retry", why, []int{bad, bad, bad, no, no, no, no, none, none, none, no}},
		{"POST", path + "/abandon", why, []int{no, bad, bad, no, no, no, no, none, none, none, no}},

		{"GET", "/api/v1/clusters", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/profiles", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/teams", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/quotas", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/reports/usage", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/reports/summary", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/reports/summary?team=platform", nil, []int{ok, ok, ok, ok, ok, no, no, no, no, no, no}},
		{"GET", "/api/v1/approvals", nil, []int{ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, no}},
		{"GET", "/api/v1/audit", nil, []int{no, ok, ok, ok, ok, no, no, no, ok, ok, no}},
		{"GET", "/api/v1/audit/export", nil, []int{no, ok, ok, ok, ok, no, no, no, ok, ok, no}},
		{"GET", "/api/v1/audit/verify", nil, []int{no, no, ok, ok, no, no, no, no, no, no, no}},
		{"GET", "/api/v1/findings", nil, []int{no, ok, ok, ok, ok, no, no, no, ok, ok, no}},
		{"GET", "/api/v1/deliveries", nil, []int{no, no, ok, ok, no, no, no, no, no, no, no}},
		{"GET", "/api/v1/deliveries/1", nil, []int{no, no, ok, ok, no, no, no, no, no, no, no}},
		{"POST", "/api/v1/deliveries/1/replay", why, []int{no, no, bad, no, no, no, no, no, no, no, no}},
		{"POST", "/api/v1/catalogue/reload", nil, []int{no, no, ok, no, no, no, no, no, no, no, no}},
		{"POST", "/api/v1/catalogue/validate", v1.CatalogueFiles{Files: map[string]string{}}, []int{no, no, ok, no, no, no, no, no, no, no, no}},
		{"POST", "/api/v1/dry-run", v1.CreateRequest{}, []int{ok, ok, ok, no, no, ok, ok, ok, ok, no, no}},
	} {
		for i, who := range people {
			answer, raw := h.ask(c.method, c.path, h.as(who), c.body)
			require.Equal(t, c.want[i], answer.StatusCode, "%s %s as %s: %s", c.method, c.path, who.Subject, raw)
		}
	}

	for _, who := range []oidc.Claims{headOfSecurity, eyeOfSecurity} {
		var lines v1.AuditPage
		h.does(http.MethodGet, "/api/v1/audit", h.as(who), nil, http.StatusOK, &lines)
		require.Empty(t, lines.Items, "of other teams' clusters, and of what is everybody's")
		var jobs v1.JobPage
		h.does(http.MethodGet, "/api/v1/jobs", h.as(who), nil, http.StatusOK, &jobs)
		require.Empty(t, jobs.Items)
	}
}

// A cluster that holds the control plane's own keys is opened by nobody else, whoever's team it is and whoever shares it.
func TestTheControlPlanesKeysAreHandedToAdminsOfEveryTeamAlone(t *testing.T) {
	h := fixtureWith(t, scoped(t), nil)
	mint := v1.CreateRequest{Name: "minted", Profile: "aws-minimal-mint", Team: "platform", CostCenter: "sandbox", Environment: "test"}
	p := h.refused(http.MethodPost, "/api/v1/clusters", h.as(headOfPlatform), mint, http.StatusUnprocessableEntity, idempotencyKey, "k1")
	require.Contains(t, p.Detail+p.Errors[0].Detail, "only for platform admins")
	var made v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Admin), mint, http.StatusAccepted, &made, idempotencyKey, "k2")
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/" + made.ClusterID
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(will), Access: "use"}, http.StatusOK, nil)
	for _, who := range []oidc.Claims{oidc.Requester, headOfPlatform, will} {
		for _, origin := range []string{"/kubeconfig-links", "/kubeadmin-links", "/admin-kubeconfig-links", "/break-glass"} {
			if who.Subject == will.Subject && origin != "/kubeconfig-links" {
				continue
			}
			p := h.refused(http.MethodPost, path+origin, h.as(who), v1.Reason{Reason: "x"}, http.StatusForbidden)
			require.Contains(t, p.Detail, "the control plane's own cloud keys")
		}
		h.refused(http.MethodGet, path+"/kubeconfig", h.as(who), nil, http.StatusForbidden)
	}
	h.does(http.MethodGet, path+"/kubeconfig", h.as(oidc.Admin), nil, http.StatusOK, nil)
}

// What one may not see is told in the same bytes as what does not exist, whatever is asked of it and however.
func TestWhatOneMayNotSeeIsWhatDoesNotExist(t *testing.T) {
	h := fixtureWith(t, scoped(t), nil)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	var asked v1.Approval
	h.does(http.MethodPost, "/api/v1/clusters/shop/break-glass", h.as(oidc.Requester), v1.Reason{Reason: "x"}, http.StatusAccepted, &asked)
	var link v1.Link
	h.does(http.MethodPost, "/api/v1/clusters/shop/kubeconfig-links", h.as(oidc.Requester), nil, http.StatusCreated, &link)
	handle := strings.TrimPrefix(link.URL, "http://ocpctl.test/links/")
	var accesses v1.Accesses
	h.does(http.MethodGet, "/api/v1/clusters/shop/access", h.as(oidc.Requester), nil, http.StatusOK, &accesses)
	require.Len(t, accesses.Items, 1)

	got := func(who oidc.Claims, method, path, id string, body any, headers ...string) string {
		answer, raw := h.ask(method, strings.ReplaceAll(path, "{}", id), h.as(who), body, headers...)
		for _, own := range []string{"Date", "Content-Length", requestID} {
			answer.Header.Del(own)
		}
		return fmt.Sprint(answer.StatusCode, answer.Header, strings.ReplaceAll(string(raw), id, "{}"))
	}
	c := "/api/v1/clusters/{}"
	for _, one := range []struct {
		method, path string
		body         any
		there, gone  string
	}{
		{"GET", c, nil, made.ClusterID, db.NewID("clu")}, {"GET", c, nil, "shop", "shoq"},
		{"GET", c + "/outputs", nil, made.ClusterID, db.NewID("clu")}, {"GET", c + "/kubeconfig", nil, made.ClusterID, db.NewID("clu")},
		{"GET", c + "/access", nil, made.ClusterID, db.NewID("clu")}, {"DELETE", c + "/access/" + accesses.Items[0].AccessID, nil, made.ClusterID, db.NewID("clu")},
		{"GET", c + "/kubeconfig?role=view", nil, made.ClusterID, db.NewID("clu")}, {"GET", c + "/kubeconfig?role=root", nil, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/admin-kubeconfig-links", nil, made.ClusterID, db.NewID("clu")},
		{"GET", c + "/timeline", nil, made.ClusterID, db.NewID("clu")}, {"GET", c + "/explain", nil, made.ClusterID, db.NewID("clu")},
		{"GET", c + "/logs", nil, made.ClusterID, db.NewID("clu")}, {"GET", c + "/logs?follow=true", nil, made.ClusterID, db.NewID("clu")},
		{"GET", c + "/shares", nil, made.ClusterID, db.NewID("clu")}, {"GET", "/api/v1/watch?cluster={}", nil, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/destroy", nil, made.ClusterID, db.NewID("clu")}, {"POST", c + "/extend", v1.Extend{Hours: 1}, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/extend", v1.Extend{}, made.ClusterID, db.NewID("clu")}, {"POST", c + "/hold", v1.Hold{Hours: 1, Reason: "x"}, made.ClusterID, db.NewID("clu")},
		{"DELETE", c + "/hold", nil, made.ClusterID, db.NewID("clu")}, {"POST", c + "/transfer", v1.Transfer{Team: "security"}, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/scale-workers", v1.Scale{Replicas: 1}, made.ClusterID, db.NewID("clu")}, {"POST", c + "/refresh", nil, made.ClusterID, db.NewID("clu")}, {"POST", c + "/retry", v1.Reason{Reason: "x"}, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/abandon", v1.Reason{Reason: "x"}, made.ClusterID, db.NewID("clu")}, {"POST", c + "/break-glass", v1.Reason{Reason: "x"}, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/shares", v1.ShareRequest{Kind: "team", With: "security"}, made.ClusterID, db.NewID("clu")},
		{"DELETE", c + "/shares?kind=team&with=x", nil, made.ClusterID, db.NewID("clu")},
		{"POST", c + "/kubeconfig-links", nil, made.ClusterID, db.NewID("clu")}, {"POST", c + "/kubeadmin-links", nil, made.ClusterID, db.NewID("clu")},
		{"PUT", c, nil, made.ClusterID, db.NewID("clu")}, {"GET", "/api/v1/approvals?cluster={}", nil, made.ClusterID, db.NewID("clu")},
		{"GET", "/api/v1/jobs?cluster={}", nil, made.ClusterID, db.NewID("clu")}, {"GET", "/api/v1/jobs/{}", nil, made.JobID, db.NewID("job")},
		{"GET", "/api/v1/approvals/{}", nil, asked.ApprovalID, db.NewID("apr")}, {"POST", "/api/v1/approvals/{}/approve", nil, asked.ApprovalID, db.NewID("apr")},
		{"POST", "/api/v1/approvals/{}/refuse", v1.Reason{}, asked.ApprovalID, db.NewID("apr")}, {"POST", "/api/v1/links/{}", nil, handle, strings.Repeat("A", len(handle))},
	} {
		for _, who := range []oidc.Claims{will, headOfSecurity, eyeOfSecurity, toni} {
			for _, headers := range [][]string{nil, {"If-Match", `"1"`}, {"If-Match", "*"}, {"If-None-Match", `"1"`}} {
				require.Equal(t, got(who, one.method, one.path, one.gone, one.body, headers...), got(who, one.method, one.path, one.there, one.body, headers...),
					"%s %s %v as %s", one.method, one.path, headers, who.Subject)
			}
		}
	}
	h.does(http.MethodPost, "/api/v1/links/"+handle, h.as(oidc.Requester), nil, http.StatusOK, nil) // nobody's try used it up
}
