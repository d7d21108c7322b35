package api

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestASharedClusterIsSeenOrUsedByWhomItIsSharedWith(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/" + made.ClusterID
	h.refused(http.MethodGet, path, h.as(will), nil, http.StatusNotFound)
	var shares v1.Shares
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "team", With: "security"}, http.StatusOK, &shares)
	require.Equal(t, []v1.Share{{Kind: "team", With: "security", WithName: "security", Access: "see", By: h.id(oidc.Requester), ByName: "Maya", At: shares.Items[0].At}}, shares.Items)

	for _, seen := range []string{"", "/outputs", "/timeline", "/explain", "/logs", "/shares"} {
		answer, raw := h.ask(http.MethodGet, path+seen, h.as(will), nil)
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s: %s", seen, raw)
	}
	var page v1.ClusterPage
	h.does(http.MethodGet, "/api/v1/clusters", h.as(will), nil, http.StatusOK, &page)
	require.Len(t, page.Items, 1)
	var jobs v1.JobPage
	h.does(http.MethodGet, "/api/v1/jobs", h.as(will), nil, http.StatusOK, &jobs)
	require.Len(t, jobs.Items, 1)
	p := h.refused(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "is shared with you to see it, not to use it. Ask someone of team")
	for _, origin := range []string{"/destroy", "/retry", "/kubeconfig-links"} {
		h.refused(http.MethodPost, path+origin, h.as(will), v1.Reason{Reason: "x"}, http.StatusForbidden)
	}
	h.refused(http.MethodPost, path+"/shares", h.as(will), v1.ShareRequest{Kind: "team", With: "team-a"}, http.StatusForbidden)
	h.refused(http.MethodGet, path+"/shares", h.as(sam), nil, http.StatusNotFound)

	// To use it is a kubeconfig too; a principal needs no role for it.
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "team", With: "security", Access: "use"}, http.StatusOK, &shares)
	require.Equal(t, v1.ShareRole("edit"), shares.Items[0].Role)
	h.kubeconfig(made.ClusterID, will)
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(toni), Access: "use", Role: "view"}, http.StatusOK, nil)
	h.kubeconfig(made.ClusterID, toni)
	h.does(http.MethodGet, "/api/v1/clusters", h.as(toni), nil, http.StatusOK, &page)
	require.Len(t, page.Items, 1)

	// What is taken back is gone at once; whom it was shared with may give it back.
	h.does(http.MethodDelete, path+"/shares?kind=team&with=security", h.as(oidc.Requester), nil, http.StatusOK, &shares)
	require.Len(t, shares.Items, 1)
	h.refused(http.MethodGet, path, h.as(will), nil, http.StatusNotFound)
	h.refused(http.MethodDelete, path+"/shares?kind=team&with=security", h.as(oidc.Requester), nil, http.StatusNotFound)
	h.does(http.MethodDelete, path+"/shares?kind=principal&with="+strings.ReplaceAll(h.id(toni), "#", "%23"), h.as(toni), nil, http.StatusOK, &shares)
	require.Empty(t, shares.Items)
	h.refused(http.MethodGet, path, h.as(toni), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/clusters", h.as(toni), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/jobs", h.as(toni), nil, http.StatusForbidden)
}

func TestAShareNamesWhomThereIs(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	path := "/api/v1/clusters/" + h.make(oidc.Requester, "shop").ClusterID + "/shares"
	for field, body := range map[string]v1.ShareRequest{
		"kind": {Kind: "person", With: "x"}, "access": {Kind: "team", With: "security", Access: "own"}, "with": {Kind: "team", With: "nobody"},
	} {
		p := h.refused(http.MethodPost, path, h.as(oidc.Requester), body, http.StatusUnprocessableEntity)
		require.Equal(t, field, p.Errors[0].Field)
		require.NotEmpty(t, p.Errors[0].Accepted)
	}
	h.refused(http.MethodPost, path, h.as(oidc.Requester), v1.ShareRequest{Kind: "team", With: "platform"}, http.StatusUnprocessableEntity)
	p := h.refused(http.MethodPost, path, h.as(oidc.Requester), map[string]any{"kinds": "team"}, http.StatusUnprocessableEntity)
	require.Len(t, p.Errors, 3, "one is unknown and two are missing")
	h.refused(http.MethodDelete, path+"?kind=team", h.as(oidc.Requester), nil, http.StatusBadRequest)
	h.refused(http.MethodDelete, path+"?kind=x&with=y&more=z", h.as(oidc.Requester), nil, http.StatusBadRequest)
}

func TestALinkToAKubeconfigWorksOnceForItsOwnerAlone(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	path := "/api/v1/clusters/" + made.ClusterID + "/kubeconfig-links"
	h.refused(http.MethodPost, path, h.as(oidc.Requester), nil, http.StatusConflict)
	h.ready(made.ClusterID)
	h.refused(http.MethodPost, path, h.as(oidc.Auditor), nil, http.StatusForbidden)
	var link v1.Link
	h.does(http.MethodPost, path, h.as(oidc.Requester), nil, http.StatusCreated, &link)
	require.WithinDuration(t, now().Add(credentials.LinkLasts), link.ExpiresAt, credentials.LinkLasts/2)
	redeem := "/api/v1/links/" + strings.TrimPrefix(link.URL, "http://ocpctl.test/links/")
	theirs := h.refused(http.MethodPost, redeem, h.as(oidc.Admin), nil, http.StatusNotFound)
	unknown := h.refused(http.MethodPost, "/api/v1/links/nothing", h.as(oidc.Admin), nil, http.StatusNotFound)
	require.Equal(t, unknown, theirs, "another's link does not exist")
	answer, raw := h.ask(http.MethodPost, redeem, h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "application/yaml", answer.Header.Get("Content-Type"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Contains(t, string(raw), "kind: Config")
	require.Contains(t, h.refused(http.MethodPost, redeem, h.as(oidc.Requester), nil, http.StatusNotFound).Detail, "was used before", "its owner is told")
	require.Equal(t, unknown, h.refused(http.MethodPost, redeem, h.as(oidc.Admin), nil, http.StatusNotFound), "nobody else is")
	var line v1.Timeline
	h.get("/api/v1/clusters/"+made.ClusterID+"/timeline", &line)
	require.Equal(t, "kubeconfig.read", line.Items[len(line.Items)-3].Action, "and then the two refusals")
}

func TestALinkToAKubeconfigThatIsBeingMadeIsNotUsedUp(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	var link v1.Link
	h.does(http.MethodPost, "/api/v1/clusters/shop/kubeconfig-links?role=view&lifetime=30m", h.as(oidc.Requester), nil, http.StatusCreated, &link)
	redeem := "/api/v1/links/" + strings.TrimPrefix(link.URL, "http://ocpctl.test/links/")
	answer, raw := h.ask(http.MethodPost, redeem, h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, "%s", raw)
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
	require.Contains(t, string(raw), "Your link still works")
	servicetest.Mint(t, h.store, h.shelf)
	answer, raw = h.ask(http.MethodPost, redeem, h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	require.Contains(t, string(raw), servicetest.TokenSignature)

	h.does(http.MethodPost, "/api/v1/clusters/shop/kubeconfig-links", h.as(oidc.Requester), nil, http.StatusCreated, &link)
	var accesses v1.Accesses
	h.get("/api/v1/clusters/shop/access", &accesses)
	for _, one := range accesses.Items {
		h.does(http.MethodDelete, "/api/v1/clusters/shop/access/"+one.AccessID, h.as(oidc.Requester), nil, http.StatusOK, nil)
	}
	p := h.refused(http.MethodPost, "/api/v1/links/"+strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"), h.as(oidc.Requester), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "was revoked, or its time is over. Request a new one.")
}

func TestABrokenGlassIsApprovedByAnotherAdminAndLookedThroughOnce(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/" + made.ClusterID
	p := h.refused(http.MethodPost, path+"/break-glass", h.as(oidc.Admin), v1.Reason{}, http.StatusUnprocessableEntity)
	require.Equal(t, "reason", p.Errors[0].Field)
	h.refused(http.MethodPost, path+"/break-glass", h.as(oidc.Auditor), v1.Reason{Reason: "x"}, http.StatusForbidden)
	p = h.refused(http.MethodPost, path+"/kubeadmin-links", h.as(oidc.Admin), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "Request one with break-glass")

	var asked, again v1.Approval
	h.does(http.MethodPost, path+"/break-glass", h.as(oidc.Admin), v1.Reason{Reason: "the oauth pods are down"}, http.StatusAccepted, &asked)
	require.Equal(t, []any{v1.ApprovalKind("kubeadmin"), v1.ApprovalState("pending"), 1, false}, []any{asked.Kind, asked.State, asked.Needs, asked.MayVote})
	h.does(http.MethodPost, path+"/break-glass", h.as(oidc.Admin), v1.Reason{Reason: "again"}, http.StatusAccepted, &again)
	require.Equal(t, asked.ApprovalID, again.ApprovalID)
	vote := "/api/v1/approvals/" + asked.ApprovalID + "/approve"
	p = h.refused(http.MethodPost, vote, h.as(oidc.Admin), nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "another platform admin")
	h.refused(http.MethodPost, vote, h.as(oidc.Requester), nil, http.StatusForbidden)
	h.does(http.MethodPost, vote, h.as(boss), v1.MaybeReason{Reason: "go"}, http.StatusOK, &again)
	require.Equal(t, v1.ApprovalState("approved"), again.State)

	h.refused(http.MethodPost, path+"/kubeadmin-links", h.as(boss), nil, http.StatusConflict)
	var link v1.Link
	h.does(http.MethodPost, path+"/kubeadmin-links", h.as(oidc.Admin), nil, http.StatusCreated, &link)
	h.refused(http.MethodPost, path+"/kubeadmin-links", h.as(oidc.Admin), nil, http.StatusConflict)
	var got v1.Redeemed
	h.does(http.MethodPost, "/api/v1/links/"+strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"), h.as(oidc.Admin), nil, http.StatusOK, &got)
	require.Equal(t, v1.Redeemed{Kind: "kubeadmin", Username: "kubeadmin", Password: "ADMIN-PASSWORD"}, got)
	h.refused(http.MethodPost, "/api/v1/links/"+strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"), h.as(oidc.Admin), nil, http.StatusNotFound)

	// The installer's own kubeconfig takes an approval of its own.
	p = h.refused(http.MethodPost, path+"/break-glass", h.as(oidc.Admin), v1.BreakGlass{Reason: "x", What: "everything"}, http.StatusUnprocessableEntity)
	require.Equal(t, []string{"password", "kubeconfig"}, p.Errors[0].Accepted)
	p = h.refused(http.MethodPost, path+"/admin-kubeconfig-links", h.as(oidc.Admin), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "no valid approval for the installer's kubeconfig of shop")
	h.does(http.MethodPost, path+"/break-glass", h.as(oidc.Admin), v1.BreakGlass{Reason: "no account works", What: "kubeconfig"}, http.StatusAccepted, &asked)
	require.Equal(t, v1.ApprovalKind("kubeconfig"), asked.Kind)
	h.refused(http.MethodPost, "/api/v1/approvals/"+asked.ApprovalID+"/approve", h.as(oidc.Admin), nil, http.StatusForbidden)
	h.does(http.MethodPost, "/api/v1/approvals/"+asked.ApprovalID+"/approve", h.as(boss), nil, http.StatusOK, nil)
	h.refused(http.MethodPost, path+"/kubeadmin-links", h.as(oidc.Admin), nil, http.StatusConflict)
	h.does(http.MethodPost, path+"/admin-kubeconfig-links", h.as(oidc.Admin), nil, http.StatusCreated, &link)
	h.refused(http.MethodPost, path+"/admin-kubeconfig-links", h.as(oidc.Admin), nil, http.StatusConflict)
	h.refused(http.MethodPost, "/api/v1/links/"+strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"), h.as(boss), nil, http.StatusNotFound)
	answer, raw := h.ask(http.MethodPost, "/api/v1/links/"+strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"), h.as(oidc.Admin), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, string(raw), servicetest.ClientKey)

	var line v1.Timeline
	h.get(path+"/timeline", &line)
	var actions []string
	for _, e := range line.Items {
		actions = append(actions, e.Action)
	}
	require.Subset(t, actions, []string{"kubeadmin_asked", "approval_approved", "approval_used", "link_made", "link_used", "kubeadmin.read", "kubeconfig_asked", "admin_kubeconfig.read"})
}

func TestALinkThatCostAnApprovalIsNotUsedUpWhileItGivesNothing(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/" + made.ClusterID
	var asked v1.Approval
	h.does(http.MethodPost, path+"/break-glass", h.as(oidc.Admin), v1.Reason{Reason: "the oauth pods are down"}, http.StatusAccepted, &asked)
	h.does(http.MethodPost, "/api/v1/approvals/"+asked.ApprovalID+"/approve", h.as(boss), nil, http.StatusOK, nil)
	var link v1.Link
	h.does(http.MethodPost, path+"/kubeadmin-links", h.as(oidc.Admin), nil, http.StatusCreated, &link)
	redeem := "/api/v1/links/" + strings.TrimPrefix(link.URL, "http://ocpctl.test/links/")

	power := func(set string) {
		_, err := h.store.Pool().Exec(t.Context(), "UPDATE clusters SET "+set+" WHERE id = $1", made.ClusterID)
		require.NoError(t, err)
	}
	power(`sleep_mode = 'stopped', sleep_wanted = true, sleep_why = 'x', power = 'asleep'`)
	require.Contains(t, h.refused(http.MethodPost, redeem, h.as(oidc.Admin), nil, http.StatusConflict).Detail, "is asleep")
	power(`sleep_wanted = false, power = ''`)

	full := maps.Clone(h.shelf)
	clear(h.shelf) // the bucket cannot be read
	answer, _ := h.ask(http.MethodPost, redeem, h.as(oidc.Admin), nil)
	require.Equal(t, http.StatusInternalServerError, answer.StatusCode)
	maps.Copy(h.shelf, full)

	var got v1.Redeemed
	h.does(http.MethodPost, redeem, h.as(oidc.Admin), nil, http.StatusOK, &got)
	require.Equal(t, "ADMIN-PASSWORD", got.Password)
	require.Contains(t, h.refused(http.MethodPost, redeem, h.as(oidc.Admin), nil, http.StatusNotFound).Detail, "was used before")
}

func TestOneIsToldWhoOneIsAndWhichAccountsAreOnesOwn(t *testing.T) {
	h := newFixture(t)
	var me v1.Me
	h.get("/api/v1/me", &me)
	require.Equal(t, []any{h.id(oidc.Requester), "Maya", []v1.Seat{{Role: "requester", Team: "platform"}}}, []any{me.ID, me.Name, me.Seats})
	require.Contains(t, me.May, "extend")
	require.NotContains(t, me.May, "approve")
	require.True(t, me.ExpiresAt.After(now()))
	me = v1.Me{}
	h.does(http.MethodGet, "/api/v1/me", h.as(toni), nil, http.StatusOK, &me)
	require.Empty(t, me.May)

	link, err := h.Credentials.AccountLink(t.Context(), "github:maya", "1", clusters.Origin{Actor: "github:maya", Source: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	var got v1.Redeemed
	for _, account := range []string{"", "github:will"} {
		p := h.refused(http.MethodPost, "/api/v1/links/"+handle, h.as(oidc.Requester), v1.Redeem{Account: account}, http.StatusUnprocessableEntity)
		require.Contains(t, p.Detail, "If somebody sent it to you, do not")
		require.Equal(t, []string{"github:maya"}, p.Errors[0].Accepted)
	}
	h.refused(http.MethodPost, "/api/v1/links/"+handle, h.as(will), nil, http.StatusUnprocessableEntity)
	h.does(http.MethodPost, "/api/v1/links/"+handle, h.as(oidc.Requester), v1.Redeem{Account: "github:maya"}, http.StatusOK, &got)
	require.Equal(t, v1.Redeemed{Kind: "account", Account: "github:maya", Code: got.Code}, got)
	require.Len(t, got.Code, 6)
	h.get("/api/v1/me", &me)
	require.Empty(t, me.Accounts, "the account has not confirmed it")
	require.NoError(t, h.Credentials.CompleteLink(t.Context(), "github:maya", got.Code, clusters.Origin{Actor: "github:maya", Source: "pr_comment"}))
	h.get("/api/v1/me", &me)
	require.Equal(t, []string{"github:maya"}, me.Accounts)
	link, err = h.Credentials.AccountLink(t.Context(), "github:maya", "1", clusters.Origin{Actor: "github:maya", Source: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ = strings.Cut(link.URL.Reveal(), "/links/")
	h.refused(http.MethodPost, "/api/v1/links/"+handle, h.as(will), v1.Redeem{Account: "github:maya"}, http.StatusConflict)

	p := h.refused(http.MethodDelete, "/api/v1/me/accounts?account=github:maya", h.as(will), nil, http.StatusNotFound)
	require.Contains(t, p.Detail, "is not linked to you")
	me = v1.Me{}
	h.does(http.MethodDelete, "/api/v1/me/accounts?account=github:maya", h.as(oidc.Requester), nil, http.StatusOK, &me)
	require.Empty(t, me.Accounts)
	h.refused(http.MethodDelete, "/api/v1/me/accounts", h.as(oidc.Requester), nil, http.StatusBadRequest)
}
