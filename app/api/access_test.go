package api

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// shared is a ready cluster of maya's team that is shared with will.
func shared(t *testing.T, role v1.ShareRequestRole) (h *fixture, cluster, path string) {
	h = fixtureWith(t, teams(t), nil)
	cluster = h.make(oidc.Requester, "shop").ClusterID
	h.ready(cluster)
	path = "/api/v1/clusters/" + cluster
	h.shares(path, role)
	return h, cluster, path
}

func (h *fixture) shares(path string, role v1.ShareRequestRole) {
	h.Helper()
	h.does(http.MethodPost, path+"/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(will), Access: "use", Role: role}, http.StatusOK, nil)
}

// runsAccess plays the runner of an access attempt to its end, and returns what it was to do.
func (h *fixture) runsAccess(cluster string) contract.AccessWork {
	h.Helper()
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	require.Equal(h, lifecycle.Access, open.Kind)
	r := &runner{h, open.Attempt, bearer}
	_, status := r.say("claim", contract.Claim{Pod: "pod-2"})
	require.Equal(h, http.StatusOK, status)
	work := r.mints(1)
	_, status = r.say("result", contract.Result{Outcome: "succeeded"})
	require.Equal(h, http.StatusOK, status)
	h.step(cluster)
	return work
}

func (h *fixture) accesses(path string, who oidc.Claims) []v1.Access {
	h.Helper()
	var all v1.Accesses
	h.does(http.MethodGet, path+"/access", h.as(who), nil, http.StatusOK, &all)
	return all.Items
}

func TestAKubeconfigIsMadeForOneReaderAndRevoked(t *testing.T) {
	h, cluster, path := shared(t, "edit")
	var asked v1.Access
	h.does(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusAccepted, &asked)
	require.Equal(t, []any{v1.AccessRole("edit"), v1.AccessState("asked"), "principal:" + h.id(will)}, []any{asked.Role, asked.State, asked.By})
	work := h.runsAccess(cluster)
	require.Len(t, work.Give, 1)
	require.Equal(t, []any{asked.AccessID, "edit", h.id(will)}, []any{work.Give[0].ID, work.Give[0].Role, work.Give[0].Reader})
	require.Len(t, work.Keep, 1, "maya's, from the create")

	his, hers := h.gets(path, will), h.gets(path, oidc.Requester)
	require.NotEqual(t, his, hers)
	require.Contains(t, his, work.Give[0].Account, "the token is his account's")
	require.NotContains(t, hers, work.Give[0].Account)
	for _, one := range h.accesses(path, will) {
		require.Equal(t, one.Reader == h.id(will), one.Mine)
		require.Equal(t, v1.AccessState("ready"), one.State)
	}

	list := h.accesses(path, oidc.Requester)
	require.Len(t, list, 2)
	mayas := list[1].AccessID
	require.True(t, list[1].Mine)
	h.refused(http.MethodDelete, path+"/access/"+mayas, h.as(will), nil, http.StatusForbidden)
	h.does(http.MethodDelete, path+"/access/"+asked.AccessID+"?reason=lost", h.as(will), nil, http.StatusOK, nil)
	h.does(http.MethodDelete, path+"/access/"+asked.AccessID, h.as(oidc.Requester), nil, http.StatusOK, nil) // again
	h.does(http.MethodDelete, path+"/access/shop", h.as(will), nil, http.StatusNotFound, nil)                // none of his is left
	gone := h.accesses(path, oidc.Requester)[0]
	require.Equal(t, []any{v1.AccessState("revoked"), "lost", h.id(will), false}, []any{gone.State, gone.RevokeWhy, gone.RevokedBy, gone.Removed})
	var next v1.Access
	h.does(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusAccepted, &next)
	require.NotEqual(t, asked.AccessID, next.AccessID, "he may have a new one, and never that one again")

	work = h.runsAccess(cluster)
	require.Equal(t, []string{asked.AccessID}, ids(work.Take))
	require.True(t, h.accesses(path, oidc.Requester)[1].Removed)
	h.does(http.MethodDelete, path+"/access/shop?reason=done", h.as(oidc.Requester), nil, http.StatusOK, &v1.Accesses{}) // her only one, by the cluster's name
}

func ids(list []contract.Access) (all []string) {
	for _, a := range list {
		all = append(all, a.ID)
	}
	return all
}

// gets is a kubeconfig that is there.
func (h *fixture) gets(path string, who oidc.Claims) string {
	h.Helper()
	answer, raw := h.ask(http.MethodGet, path+"/kubeconfig", h.as(who), nil)
	require.Equal(h, http.StatusOK, answer.StatusCode, "%s", raw)
	_, account, found := strings.Cut(string(raw), "token: ")
	require.True(h, found)
	return decoded(h, account)
}

// decoded is what a token says.
func decoded(h *fixture, token string) string {
	h.Helper()
	parts := strings.Split(token, ".")
	require.Len(h, parts, 3)
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(h, err)
	return string(raw)
}

func TestAShareEndsWithWhatItGave(t *testing.T) {
	h, cluster, path := shared(t, "admin")
	h.does(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusAccepted, nil)
	h.does(http.MethodGet, path+"/kubeconfig?role=view", h.as(will), nil, http.StatusAccepted, nil)
	h.runsAccess(cluster)

	h.shares(path, "view")
	states := map[v1.AccessRole]v1.AccessState{}
	for _, one := range h.accesses(path, will) {
		if one.Mine {
			states[one.Role] = one.State
		}
	}
	require.Equal(t, map[v1.AccessRole]v1.AccessState{"admin": "revoked", "view": "ready"}, states, "what goes beyond the share ends")
	for _, role := range []string{"admin", "edit"} {
		p := h.refused(http.MethodGet, path+"/kubeconfig?role="+role, h.as(will), nil, http.StatusForbidden)
		require.Contains(t, p.Detail, "view")
	}
	h.gets(path, will)

	h.does(http.MethodDelete, path+"/shares?kind=principal&with="+strings.ReplaceAll(h.id(will), "#", "%23"), h.as(oidc.Requester), nil, http.StatusOK, nil)
	h.refused(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusNotFound)
	require.Len(t, h.runsAccess(cluster).Take, 2)
	for _, one := range h.accesses(path, oidc.Requester) {
		require.Equal(t, one.Reader == h.id(will), one.State == "revoked", one.Reader)
	}
}

func TestAKubeconfigLastsAsLongAsItIsAskedForWithinTheLimits(t *testing.T) {
	h, cluster, path := shared(t, "edit")
	for lifetime, problem := range map[string]string{"soon": "is not a duration", "9m": "out of bounds", "1000h": "out of bounds", "-1h": "out of bounds"} {
		p := h.refused(http.MethodGet, path+"/kubeconfig?lifetime="+lifetime, h.as(oidc.Requester), nil, http.StatusBadRequest)
		require.Equal(t, "lifetime", p.Errors[0].Field)
		require.Contains(t, p.Errors[0].Detail, problem)
		require.NotEmpty(t, p.Errors[0].Accepted)
	}
	var short, renewed v1.Access
	h.does(http.MethodGet, path+"/kubeconfig?lifetime=30m", h.as(oidc.Requester), nil, http.StatusAccepted, &short)
	servicetest.Mint(t, h.store, h.shelf)
	answer, _ := h.ask(http.MethodGet, path+"/kubeconfig?lifetime=30m", h.as(oidc.Requester), nil)
	require.Equal(t, short.AccessID, answer.Header.Get("Ocpctl-Access-Id"))
	expires, err := time.Parse(time.RFC3339, answer.Header.Get("Ocpctl-Access-Expires"))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(30*time.Minute), expires, 2*time.Minute)

	account := strings.TrimPrefix(short.User, names.AccessUser(""))
	left := func(d time.Duration) { // as if it had been made earlier
		_, err = h.store.Pool().Exec(t.Context(), `UPDATE access SET expires_at = now() + $2::interval WHERE id = $1`, short.AccessID, d)
		require.NoError(t, err)
		h.shelf[servicetest.AccessRef(cluster, short.AccessID)] = servicetest.TokenKubeconfig("https://api.shop.labs.example.com:6443", servicetest.Token(account, time.Now().Add(d)))
	}
	left(8 * time.Minute)
	h.does(http.MethodGet, path+"/kubeconfig?lifetime=30m", h.as(oidc.Requester), nil, http.StatusOK, nil)
	left(7 * time.Minute)
	h.does(http.MethodGet, path+"/kubeconfig?lifetime=30m", h.as(oidc.Requester), nil, http.StatusAccepted, &renewed)
	require.NotEqual(t, short.AccessID, renewed.AccessID, "less than a quarter is left")
}

// What a runner stored is compared with what it was to make, every time that it is handed out.
func TestWhatAHostileRunnerStoredIsHandedOutToNobody(t *testing.T) {
	h, cluster, path := shared(t, "view")
	h.does(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusAccepted, nil)
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	r := &runner{h, open.Attempt, bearer}
	r.say("claim", contract.Claim{Pod: "pod-2"})
	work := r.mints(1)
	his, api := work.Give[0], r.scope().APIURL()
	ref := artifacts.CredentialRef("artifacts", cluster, r.scope().Attempt, servicetest.StoredAt, artifacts.AccessFile(his.ID))
	expires := time.Now().Add(his.Lifetime)
	fine := servicetest.TokenKubeconfig(api, servicetest.Token(his.Account, expires))
	for what, stored := range map[string]string{
		"another account's token":       servicetest.TokenKubeconfig(api, servicetest.Token("maya-a123456789", expires)),
		"a token that lives on":         servicetest.TokenKubeconfig(api, servicetest.Token(his.Account, expires.Add(24*time.Hour))),
		"another cluster":               servicetest.TokenKubeconfig("https://api.bank.labs.example.com:6443", servicetest.Token(his.Account, expires)),
		"the installer's kubeconfig":    servicetest.Kubeconfig(api),
		"a program on his machine":      strings.Replace(fine, "{token: ", "{exec: {command: sh}, token: ", 1),
		"no check of the certificate":   strings.Replace(fine, "{server: ", "{insecure-skip-tls-verify: true, server: ", 1),
		"a proxy":                       strings.Replace(fine, "{server: ", "{proxy-url: 'http://evil.example.com', server: ", 1),
		"something that is no token":    servicetest.TokenKubeconfig(api, "sha256~admin"),
		"a second user, who is admin":   strings.Replace(fine, "users:\n", "users:\n- name: admin\n  user: {client-key-data: "+servicetest.ClientKey+"}\n", 1),
		"a certificate besides a token": strings.Replace(fine, "{token: ", "{client-key-data: "+servicetest.ClientKey+", token: ", 1),
	} {
		h.shelf[ref] = stored
		p := h.refused(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusConflict)
		require.Contains(t, p.Detail, "is not the one that was to be made for you", what)
		require.NotContains(t, p.Detail, servicetest.ClientKey)
	}
	h.shelf[ref] = fine
	h.gets(path, will)
}

// A runner says only what happened to what it was told to do.
func TestWhatARunnerSaysOfAccessIsComparedWithTheRows(t *testing.T) {
	h, cluster, path := shared(t, "view")
	bank := h.make(will, "bank").ClusterID
	h.ready(bank)
	theirs := h.accesses("/api/v1/clusters/"+bank, will)[0].AccessID
	mayas := h.accesses(path, oidc.Requester)[0].AccessID
	var asked v1.Access
	h.does(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusAccepted, &asked)
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	r := &runner{h, open.Attempt, bearer}
	r.say("claim", contract.Claim{Pod: "pod-2"})
	said := func(a contract.AccessState) int {
		_, status := r.say("report", contract.Report{Seq: 1, Phase: "accessing", Access: []contract.AccessState{a}})
		return status
	}
	soon := time.Now().Add(time.Hour)
	require.Equal(t, http.StatusConflict, said(contract.AccessState{ID: asked.AccessID, StoredAt: servicetest.StoredAt, ExpiresAt: soon}), "it was not told to make it yet")
	_, _ = h.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/access", bearer, nil)
	for what, state := range map[string]contract.AccessState{
		"another cluster's":       {ID: theirs, StoredAt: servicetest.StoredAt, ExpiresAt: soon},
		"another cluster's, gone": {ID: theirs, Removed: true},
		"a valid one is gone":     {ID: mayas, Removed: true},
		"a valid one, made anew":  {ID: mayas, StoredAt: servicetest.StoredAt, ExpiresAt: soon},
		"one that does not exist": {ID: "acc_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT", Removed: true},
	} {
		require.Equal(t, http.StatusConflict, said(state), what)
	}
	for what, state := range map[string]contract.AccessState{
		"an id that leads elsewhere": {ID: "../../bank", StoredAt: servicetest.StoredAt, ExpiresAt: soon},
		"made and removed":           {ID: asked.AccessID, StoredAt: servicetest.StoredAt, ExpiresAt: soon, Removed: true},
		"made without an end":        {ID: asked.AccessID, StoredAt: servicetest.StoredAt},
	} {
		require.Equal(t, http.StatusBadRequest, said(state), what)
	}
	require.Equal(t, http.StatusOK, said(contract.AccessState{ID: asked.AccessID, StoredAt: servicetest.StoredAt, ExpiresAt: soon.Add(1000 * time.Hour)}))
	require.Equal(t, v1.AccessState("asked"), h.accesses(path, oidc.Requester)[0].State, "one that lives on is not kept")
	require.Equal(t, v1.AccessState("ready"), h.accesses(path, oidc.Requester)[1].State)
}

func TestWhoAsksTooOftenIsToldWhenToAskAgain(t *testing.T) {
	h, cluster, path := shared(t, "view")
	for range access.MostAnHour {
		var asked v1.Access
		h.does(http.MethodGet, path+"/kubeconfig", h.as(will), nil, http.StatusAccepted, &asked)
		require.NoError(t, h.store.Access.Revoke(t.Context(), cluster, asked.AccessID, clusters.Origin{Actor: h.id(will)}))
	}
	answer, raw := h.ask(http.MethodGet, path+"/kubeconfig", h.as(will), nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, "%s", raw)
	require.Contains(t, string(raw), "You asked for 60 kubeconfigs of shop within an hour")
	later, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Greater(t, later, 3000)
	h.gets(path, oidc.Requester)
}
