package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// orphan stores what a scan found of a cluster that the database does not know.
func (h *fixture) orphan(class lifecycle.OrphanClass) (id string) {
	h.Helper()
	id = "orp_" + string(class)
	_, err := h.store.Pool().Exec(h.Context(), `
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, class, why, regions, managed_by, resources, evidence,
			first_seen_at, last_seen_at, sights, state, state_at, state_why, reported_at)
		SELECT $1, 'aws', '123456789012', $3, 'clu_9', 'lost-abcde', $1, $2, 'no row', '{us-east-1}', true, 1, '{vpc-1}', now(), now(), 2, 'reported', now(), 'told', now()`,
		id, class, h.store.DB.Options.Installation)
	require.NoError(h, err)
	_, err = h.store.Pool().Exec(h.Context(), `
		INSERT INTO seen (platform, account, id, parts, resource, first_seen_at, last_seen_at, last_scan, sights, orphan_id)
		VALUES ('aws', '123456789012', 'vpc-of-' || $1, '{us-east-1/ec2}', jsonb_build_object('id', 'vpc-of-' || $1, 'type', 'vpc', 'region', 'us-east-1', 'tags', jsonb_build_object(
			'ManagedBy', 'cluster-control-plane', 'InstallationId', $2::text, 'ClusterId', 'clu_9', 'ClusterName', 'lost', 'kubernetes.io/cluster/lost-abcde', 'owned')), now(), now(), 'scn_1', 2, $1)`,
		id, h.store.DB.Options.Installation)
	require.NoError(h, err)
	return id
}

func (h *fixture) orphanState(id string) lifecycle.OrphanState {
	h.Helper()
	o, err := h.store.Scans.Orphan(h.Context(), id)
	require.NoError(h, err)
	return o.State
}

func TestAnAdminSeesWhatARemovalDeletesBeforeApprovingIt(t *testing.T) {
	h := newFixture(t)
	h.store.DB.Options.Installation = "here"
	id, foreign := h.orphan(lifecycle.ClassUnknown), h.orphan(lifecycle.ClassForeign)
	will := h.as("will")
	status, page, _ := will.get("/orphans/removal?id=" + id)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "openshift-install destroy cluster: everything tagged kubernetes.io/cluster/lost-abcde=owned in us-east-1")
	require.Contains(t, page, "vpc-of-"+id)
	require.Contains(t, page, "<h1>Remove an orphan</h1>")
	require.Equal(t, lifecycle.OrphanReported, h.orphanState(id), "a dry run changes nothing")
	_, page, _ = will.get("/orphans/removal?id=" + foreign)
	require.Contains(t, page, "<h1>Let an orphan stay</h1>", "no teardown can remove it")
	require.NotContains(t, page, "would delete")
	_, page, _ = will.get("/orphans/removal?id=" + foreign + "&id=" + id)
	require.Contains(t, page, "<h1>Remove 2 orphans</h1>")

	will.post("/orphans/approve", url.Values{"id": {id}})
	require.Equal(t, lifecycle.OrphanReported, h.orphanState(id), "a reason is needed")
	_, page, _ = will.post("/orphans/approve", url.Values{"id": {id, foreign}, "reason": {"INC-1"}})
	require.Contains(t, page, "no teardown can remove the orphan "+foreign)
	require.Equal(t, lifecycle.OrphanReported, h.orphanState(id), "all or none")

	_, page, _ = will.post("/orphans/approve", url.Values{"id": {id}, "reason": {"INC-1"}})
	require.Contains(t, page, "The removal is approved.")
	require.Equal(t, lifecycle.OrphanApproved, h.orphanState(id))
	_, page, _ = will.post("/orphans/exempt", url.Values{"id": {id}, "reason": {"it is wanted"}})
	require.Contains(t, page, "It stays, and is reported no more.")
	require.Contains(t, page, "<h1>Orphan that stays</h1>")
	require.NotContains(t, page, "/orphans/exempt", "that is decided")
	require.Contains(t, page, "/orphans/approve", "but it can be removed after all")
	require.Equal(t, lifecycle.OrphanExempt, h.orphanState(id))

	beside := h.orphan(lifecycle.ClassUnrecorded)
	_, page, _ = will.post("/orphans/approve", url.Values{"id": {beside}, "reason": {"INC-2"}})
	require.Contains(t, page, "orphans that are exempt: "+id, "one teardown would remove both")
	require.Equal(t, lifecycle.OrphanReported, h.orphanState(beside))
	_, page, _ = will.post("/orphans/approve", url.Values{"id": {beside, id}, "reason": {"INC-2"}})
	require.Contains(t, page, "approved.", "what is approved is exempt no more")
	require.Equal(t, lifecycle.OrphanApproved, h.orphanState(id))
}

func TestOnlyAdminsDecideAboutOrphans(t *testing.T) {
	h := newFixture(t)
	h.store.DB.Options.Installation = "here"
	id := h.orphan(lifecycle.ClassUnknown)
	for _, name := range []string{"maya", "ada"} {
		status, page, _ := h.as(name).get("/orphans/removal?id=" + id)
		require.Equal(t, http.StatusForbidden, status, name)
		require.NotContains(t, page, "vpc-of-")
		status, _, _ = h.as(name).post("/orphans/approve", url.Values{"id": {id}, "reason": {"x"}})
		require.Equal(t, http.StatusForbidden, status, name)
		status, _, _ = h.as(name).post("/orphans/exempt", url.Values{"id": {id}, "reason": {"x"}})
		require.Equal(t, http.StatusForbidden, status, name)
	}
	require.Equal(t, lifecycle.OrphanReported, h.orphanState(id))
}
