package devstack_test

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// What every cloud's story of orphans does: looking through accounts, asking what was found, and removing what was approved.

// scanUntil has the account looked through until what that leads to is there.
func (l *life) scanUntil(what string, cond func() bool) {
	l.t.Helper()
	l.runUntil(what, 3*time.Minute, func() bool {
		l.scan()
		return cond()
	})
}

// scan has the accounts of both clouds looked through once.
func (l *life) scan() {
	l.t.Helper()
	require.Equal(l.t, 2, l.scanOf(""))
}

// scanOf has one account looked through once, or all of them, and returns how many they were.
func (l *life) scanOf(account string) int {
	l.t.Helper()
	open := ask[v1.Scans](l.as("admin"), http.MethodPost, "/api/v1/scans", v1.ScanRequest{Account: account}, http.StatusAccepted)
	for _, scan := range open.Items {
		l.runUntil("scan "+scan.ScanID+" is judged", time.Minute, func() bool {
			return l.count("SELECT count(*) FROM scans WHERE id = $1 AND judged_at IS NOT NULL", scan.ScanID) == 1
		})
		require.Equal(l.t, 1, l.count("SELECT count(*) FROM scans WHERE id = $1 AND outcome = 'succeeded'", scan.ScanID))
	}
	return len(open.Items)
}

// orphan returns the orphan for which it is true; the zero one if there is none.
func (l *life) orphan(is func(v1.Orphan) bool) v1.Orphan {
	l.t.Helper()
	page := ask[v1.OrphanPage](l.as("admin"), http.MethodGet, "/api/v1/orphans?gone=true&limit=500", nil, http.StatusOK)
	require.Empty(l.t, page.NextCursor)
	if i := slices.IndexFunc(page.Items, is); i >= 0 {
		return page.Items[i]
	}
	return v1.Orphan{}
}

// orphanOf returns the orphan that a resource is a part of; id is its ARN or CRN.
func (l *life) orphanOf(id string) v1.Orphan {
	l.t.Helper()
	return l.orphan(func(o v1.Orphan) bool { return slices.Contains(o.Evidence, id) })
}

func (l *life) orphanByID(id string) v1.Orphan {
	return l.orphan(func(o v1.Orphan) bool { return o.OrphanID == id })
}

func (l *life) approve(ids ...string) {
	l.t.Helper()
	ask[v1.RemovalPlans](l.as("admin"), http.MethodPost, "/api/v1/orphans/approve", v1.OrphanApproval{Ids: ids, Reason: "nobody needs it"}, http.StatusOK)
}

// planned is an orphan, whose it is, and what its dry run has to name.
type planned struct {
	v1.Orphan
	of    subject
	names []string
}

// removes: nobody but an administrator may approve. The dry run names each call, and the teardowns that follow an approval leave nothing.
func (l *life) removes(gone func(subject) bool, list ...planned) {
	l.t.Helper()
	var ids []string
	for _, p := range list {
		ids = append(ids, p.OrphanID)
	}
	l.as("requester").refused(http.MethodPost, "/api/v1/orphans/approve", v1.OrphanApproval{Ids: ids, Reason: "mine"}, http.StatusForbidden)
	plans := ask[v1.RemovalPlans](l.as("admin"), http.MethodPost, "/api/v1/orphans/approve", v1.OrphanApproval{Ids: ids, DryRun: true}, http.StatusOK)
	require.Len(l.t, plans.Items, len(list))
	for i, p := range list {
		plan := plans.Items[i]
		require.Empty(l.t, plan.Refused+plan.Waits)
		require.Equal(l.t, p.of.id, plan.ClusterID)
		var calls []string
		for _, call := range plan.Calls {
			calls = append(calls, call.What+": "+call.Call)
		}
		said := strings.Join(calls, "\n")
		for _, named := range p.names {
			require.Contains(l.t, said, named)
		}
		require.Empty(l.t, plan.Kept)
	}
	l.approve(ids...)
	for _, p := range list {
		l.runUntil(p.of.name+" is destroyed after its removal was approved", 2*time.Minute, func() bool {
			return l.count("SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'released'", p.of.id) == 1 && gone(p.of)
		})
	}
	l.scanUntil("nothing is left to see", func() bool {
		return !slices.ContainsFunc(list, func(p planned) bool { return l.orphanByID(p.OrphanID).State != "gone" })
	})
}

// refusesToRemove: an approval of what is somebody else's, or of what nobody can tell, is a mistake.
func (l *life) refusesToRemove(ids ...string) {
	l.t.Helper()
	for _, id := range ids {
		if o := l.orphanOf(id); o.OrphanID != "" {
			l.as("admin").refused(http.MethodPost, "/api/v1/orphans/approve", v1.OrphanApproval{Ids: []string{o.OrphanID}, Reason: "a mistake"}, http.StatusConflict)
		}
	}
}

// tellsOf: the page, the command line and the administrators' channel tell of an orphan what the API tells.
func (l *life) tellsOf(o v1.Orphan, evidence string) {
	l.t.Helper()
	status, _, page := l.signIn("will").visit("/admin/orphans", nil)
	require.Equal(l.t, http.StatusOK, status)
	listed := l.cli("admin").run("admin", "orphans", "--class", string(o.Class), "-o", "json").ends(0)
	for _, text := range []string{o.OrphanID, o.Identity, evidence} {
		require.Contains(l.t, page, text)
		require.Contains(l.t, listed, text)
	}
	l.runUntil("the administrators' channel tells of "+o.Identity, time.Minute, func() bool { return l.postsWith(slack.Admins, o.Identity) > 0 })
}
