package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// accessAttacks try to open a cluster with more rights, or for longer, than somebody was given.
func accessAttacks() []attack {
	return []attack{
		{name: "access/stranger", who: "requester of another team", tried: "get a kubeconfig, a link, the list of accesses, or revoke the owner's access", short: true, play: accessOfStranger},
		{name: "access/more", who: "whom a cluster is shared with as view", tried: "get another role, a link to it, the log bundle, or somebody else's access", play: accessBeyondShare},
		{name: "access/former", who: "whom a cluster was shared with", tried: "use a link and requests after the share ended, and keep the account in the cluster", play: accessAfterShare},
		{name: "access/alone", who: "platform admin, requester", tried: "take the installer's kubeconfig without a second person", play: installersAlone},
	}
}

// attempted is one request of an attack, and the status that refuses it.
type attempted struct {
	method, path string
	body         any
	want         int
}

// refusedAll sends requests that are all to be refused with their status, and returns how many there were.
func (c caller) refusedAll(ctx context.Context, all []attempted) (n int, through string, err error) {
	defer must.Catch(&err)
	for _, a := range all {
		got := must.Get(patient(ctx, func() (answer, error) { return c.ask(ctx, a.method, a.path, a.body) }))
		if got.status < 400 {
			return n, fmt.Sprintf("%s %s was answered %d", a.method, a.path, got.status), nil
		}
		must.FailIf(got.status != a.want, "%s %s was answered %d, not %d: %.200s", a.method, a.path, got.status, a.want, got.body)
		n++
	}
	return n, "", nil
}

func accessPath(cluster string) string { return "/api/v1/clusters/" + cluster }

// accessesOf lists a cluster's accesses as its owner sees them.
func accessesOf(ctx context.Context, owner caller, cluster string) ([]v1.Access, error) {
	var list v1.Accesses
	err := owner.expect(ctx, http.StatusOK, &list, http.MethodGet, accessPath(cluster)+"/access", nil)
	return list.Items, err
}

func accessOfStranger(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	owner := must.Get(t.as(victim))
	stranger := must.Get(t.as(attacker))
	list, err := accessesOf(ctx, owner, v.ID)
	must.FailIf(err != nil || len(list) == 0, "the owner has no access, so nothing was tried: %w", err)
	at := accessPath(v.ID)
	n, got, err := stranger.refusedAll(ctx, []attempted{
		{http.MethodGet, at + "/kubeconfig", nil, http.StatusNotFound}, {http.MethodGet, at + "/kubeconfig?role=view", nil, http.StatusNotFound}, {http.MethodGet, at + "/kubeconfig?role=root", nil, http.StatusBadRequest},
		{http.MethodGet, at + "/kubeconfig?renew=true&lifetime=10m", nil, http.StatusNotFound}, {http.MethodGet, at + "/kubeconfig?runKind=PipelineRun&runName=x&runUid=x", nil, http.StatusNotFound},
		{http.MethodPost, at + "/kubeconfig-links", nil, http.StatusNotFound}, {http.MethodPost, at + "/admin-kubeconfig-links", nil, http.StatusNotFound}, {http.MethodGet, at + "/access", nil, http.StatusNotFound},
		{http.MethodDelete, at + "/access/" + list[0].AccessID, nil, http.StatusNotFound}, {http.MethodGet, accessPath(v.Name) + "/kubeconfig", nil, http.StatusNotFound},
		{http.MethodPost, at + "/shares", map[string]string{"kind": "principal", "with": t.idOf(attacker), "access": "use", "role": "admin"}, http.StatusNotFound},
	})
	must.Do(err)
	throughIf(got != "", "%s", got)
	after := must.Get(accessesOf(ctx, owner, v.ID))
	for _, a := range after {
		throughIf(a.Reader == t.idOf(attacker) || a.State == v1.AccessStateRevoked, "the cluster has an access of %s that is %s", a.Reader, a.State)
	}
	return held("%d requests refused, and the owner's access is as it was", n)
}

// lent shares a victim with the attacker as view, who gets a kubeconfig. back takes the share back.
func (t *target) lent(ctx context.Context) (v prey, owner, reader caller, mine string, back func() error, err error) {
	defer must.Catch(&err)
	v = must.Get(t.victimOf(ctx))
	owner, err = t.as(victim)
	if err == nil {
		reader, err = t.as(attacker)
	}
	if err == nil {
		err = owner.expect(ctx, http.StatusOK, nil, http.MethodPost, accessPath(v.ID)+"/shares",
			map[string]string{"kind": "principal", "with": t.idOf(attacker), "access": "use", "role": "view"})
	}
	must.Do(err)
	back = func() error {
		query := url.Values{"kind": {"principal"}, "with": {t.idOf(attacker)}}
		return owner.expect(ctx, http.StatusOK, nil, http.MethodDelete, accessPath(v.ID)+"/shares?"+query.Encode(), nil)
	}
	err = await(ctx, "a kubeconfig for the attacker", func(ctx context.Context) (bool, error) {
		got, err := reader.ask(ctx, http.MethodGet, accessPath(v.ID)+"/kubeconfig?wait=20", nil)
		mine = got.header.Get("Ocpctl-Access-Id")
		return err == nil && got.status == http.StatusOK, err
	})
	return v, owner, reader, mine, back, err
}

func accessBeyondShare(ctx context.Context, t *target) (result, error) {
	v, owner, reader, mine, back, err := t.lent(ctx)
	must.Do(err)
	list := must.Get(accessesOf(ctx, owner, v.ID))
	at := accessPath(v.ID)
	tries := []attempted{
		{http.MethodGet, at + "/kubeconfig?role=edit", nil, http.StatusForbidden}, {http.MethodGet, at + "/kubeconfig?role=admin", nil, http.StatusForbidden}, {http.MethodGet, at + "/kubeconfig?role=cluster-admin", nil, http.StatusBadRequest},
		{http.MethodGet, at + "/kubeconfig?role=VIEW", nil, http.StatusBadRequest}, {http.MethodGet, at + "/kubeconfig?lifetime=10000h", nil, http.StatusBadRequest}, {http.MethodGet, at + "/kubeconfig?lifetime=-1h", nil, http.StatusBadRequest},
		{http.MethodPost, at + "/kubeconfig-links?role=admin", nil, http.StatusForbidden}, {http.MethodPost, at + "/admin-kubeconfig-links", nil, http.StatusForbidden}, {http.MethodPost, at + "/break-glass", map[string]string{"reason": "x", "what": "kubeconfig"}, http.StatusForbidden},
		{http.MethodGet, at + "/log-bundle", nil, http.StatusForbidden}, {http.MethodPost, at + "/shares", map[string]string{"kind": "principal", "with": t.idOf(attacker), "access": "use", "role": "admin"}, http.StatusForbidden},
	}
	for _, a := range list {
		if a.AccessID != mine {
			tries = append(tries, attempted{http.MethodDelete, at + "/access/" + a.AccessID, nil, http.StatusForbidden})
		}
	}
	n, got, err := reader.refusedAll(ctx, tries)
	var more int
	if err == nil {
		more, err = t.count(ctx, "SELECT count(*) FROM access WHERE cluster_id = $1 AND reader = $2 AND role <> 'view'", v.ID, t.idOf(attacker))
	}
	must.Do(errors.Join(err, back()))
	throughIf(got != "", "%s", got)
	throughIf(more > 0, "%d accesses with more than view", more)
	return held("%d requests refused; what they have is view", n)
}

func accessAfterShare(ctx context.Context, t *target) (result, error) {
	v, owner, reader, mine, back, err := t.lent(ctx)
	must.Do(err)
	at := accessPath(v.ID)
	var link v1.Link
	if err := reader.expect(ctx, http.StatusCreated, &link, http.MethodPost, at+"/kubeconfig-links", nil); err != nil {
		return result{}, errors.Join(err, back())
	}
	must.Do(back())
	n, got, err := reader.refusedAll(ctx, []attempted{
		{http.MethodGet, at + "/kubeconfig", nil, http.StatusNotFound}, {http.MethodGet, at + "/kubeconfig?role=view&renew=true", nil, http.StatusNotFound}, {http.MethodPost, at + "/kubeconfig-links", nil, http.StatusNotFound},
		{http.MethodPost, "/api/v1/links" + link.URL[strings.LastIndexByte(link.URL, '/'):], nil, http.StatusNotFound}, {http.MethodGet, at + "/access", nil, http.StatusNotFound},
	})
	must.Do(err)
	throughIf(got != "", "after the share ended, %s", got)
	var left v1.Access
	err = await(ctx, "the account to leave the cluster", func(ctx context.Context) (bool, error) {
		list, err := accessesOf(ctx, owner, v.ID)
		for _, a := range list {
			if a.AccessID == mine {
				left = a
			}
		}
		return left.Removed, err
	})
	if err != nil {
		raw, _ := json.Marshal(left)
		return through("the account stays in the cluster: %s, %v", raw, err)
	}
	return held("%d requests refused, and a runner removed %s from the cluster", n, left.User)
}

func installersAlone(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	owner := must.Get(t.as(victim))
	admin := must.Get(t.as(oidc.Admin))
	n := 0
	for _, c := range []struct {
		who        caller
		what, link string
	}{{owner, "kubeconfig", "/admin-kubeconfig-links"}, {admin, "password", "/kubeadmin-links"}} {
		at := accessPath(v.ID)
		var asked struct{ ApprovalID string }
		must.Do(c.who.expect(ctx, http.StatusAccepted, &asked, http.MethodPost, at+"/break-glass", map[string]string{"reason": "x", "what": c.what}))
		m, got, err := c.who.refusedAll(ctx, []attempted{
			{http.MethodPost, at + c.link, nil, http.StatusConflict}, {http.MethodPost, "/api/v1/approvals/" + asked.ApprovalID + "/approve", struct{}{}, http.StatusForbidden}, {http.MethodPost, at + c.link, nil, http.StatusConflict},
		})
		if err != nil || got != "" {
			return result{through: got != "", evidence: got}, err
		}
		n += m
	}
	_, got, err := admin.refusedAll(ctx, []attempted{{http.MethodPost, accessPath(v.ID) + "/admin-kubeconfig-links", nil, http.StatusConflict}})
	if err != nil || got != "" {
		return result{through: got != "", evidence: got}, err
	}
	plain := must.Get(t.kubeconfigOf(ctx, victim, v.ID))
	throughIf(strings.Contains(plain, "client-key-data") || strings.Contains(plain, "client-certificate-data"),
		"the owner's own kubeconfig has the installer's certificate")
	return held("%d requests refused while nobody else approved; the owner's kubeconfig has no certificate", n+1)
}
