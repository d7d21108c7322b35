package controller_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/controller/recovery"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// adopter remembers what it was asked to adopt.
type adopter struct {
	asked []recovery.Adoption
	err   error
}

func (a *adopter) Adopt(_ context.Context, of recovery.Adoption) error {
	a.asked = append(a.asked, of)
	return a.err
}

// found stores an orphan of this installation: a VPC with the marks of a cluster, reported.
func (h *fixture) found(class lifecycle.OrphanClass, cluster, infraID string, known bool) (id string) {
	h.t.Helper()
	id, h.Cleanup.Planner.Account = db.NewID("orp"), func(string) string { return "123456789012" }
	tags := map[string]string{
		tagkey.ManagedBy: tagkey.ControlPlaneName, tagkey.Installation: "test", tagkey.ClusterID: cluster, tagkey.ClusterName: "shop", tagkey.KubernetesCluster + infraID: tagkey.Owned,
	}
	vpc, err := json.Marshal(contract.SeenResource{ID: "arn:" + id, Type: "vpc", Region: "us-east-1", Tags: tags})
	require.NoError(h.t, err)
	_, err = h.store.Pool().Exec(h.ctx, `
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, cluster_id, class, why, regions, managed_by, resources, evidence,
			first_seen_at, last_seen_at, sights, state, state_at, state_why, reported_at)
		VALUES ($1, 'aws', '123456789012', 'test', $2, $3, '', CASE WHEN $4 THEN $2 END, $5, 'a test says so', '{us-east-1}', true, 1, ARRAY['arn:' || $1],
			$6, $7, 2, 'reported', $7, 'told', $7)`, id, cluster, infraID, known, class, h.now().Add(-2*time.Hour), h.now())
	require.NoError(h.t, err)
	_, err = h.store.Pool().Exec(h.ctx, `
		INSERT INTO seen (platform, account, id, parts, resource, first_seen_at, last_seen_at, last_scan, sights, orphan_id)
		VALUES ('aws', '123456789012', 'arn:' || $1, '{us-east-1/ec2}', $2, $3, $3, 'scn_1', 2, $1)`, id, vpc, h.now())
	require.NoError(h.t, err)
	return id
}

func (h *fixture) orphanIs(id string, state lifecycle.OrphanState, why string) {
	h.t.Helper()
	o, err := h.store.Scans.Orphan(h.ctx, id)
	require.NoError(h.t, err)
	require.Equal(h.t, state, o.State, o.StateWhy)
	require.Contains(h.t, o.StateWhy, why)
}

func TestALeakIsOnlyReportedUntilSomebodyApprovesItsRemoval(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	cluster := h.gone("shop")
	h.pass(time.Hour)
	id := h.found(lifecycle.ClassReleased, cluster, "shop-abcde", true)
	h.work(queue.CleanupArgs{})
	h.orphanIs(id, lifecycle.OrphanReported, "told")
	h.reconcile(cluster)
	require.Equal(t, lifecycle.Released, h.cluster(cluster).Phase, "nothing is on by default")

	require.NoError(t, h.store.Scans.Approve(h.ctx, []string{id}, clusters.Origin{Actor: "saml:ada@acme.example", Why: "it costs money"}))
	h.work(queue.CleanupArgs{})
	h.reconcile(cluster)
	row := h.cluster(cluster)
	require.Equal(t, lifecycle.Destroying, row.Status)
	require.Equal(t, []string{"shop-abcde"}, row.Identities, "its teardown looks for the name")
	h.orphanIs(id, lifecycle.OrphanRemoving, "the teardown of its cluster was opened again")
}

func TestTheSettingRemovesALeakAndNothingElse(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.Cleanup.Delete = []lifecycle.OrphanClass{lifecycle.ClassReleased}
	cluster, second := h.gone("shop"), h.gone("store")
	h.pass(3 * time.Hour)
	leak := h.found(lifecycle.ClassReleased, cluster, "shop-abcde", true)
	other := h.found(lifecycle.ClassUnknown, "clu_9", "shop-fghij", false)
	foreign := h.found(lifecycle.ClassReleased, second, "store-klmno", true) // one of the same cluster would block its teardown
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE seen SET resource = jsonb_set(resource, '{tags,InstallationId}', '"there"') WHERE orphan_id = $1`, foreign)
	require.NoError(t, err)
	for range 2 {
		h.work(queue.CleanupArgs{})
	}
	h.reconcile(cluster)
	h.orphanIs(leak, lifecycle.OrphanRemoving, "")
	h.orphanIs(other, lifecycle.OrphanReported, "told")
	h.orphanIs(foreign, lifecycle.OrphanReported, `belongs to the installation "there"`)
	require.Equal(t, []string{"shop-abcde"}, h.cluster(cluster).Identities)
	var approvals int
	require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT count(*) FROM audit_events WHERE action = 'orphan_approved'`).Scan(&approvals))
	require.Equal(t, 1, approvals, "what no teardown can remove is not approved again and again")
}

// A cluster is often several orphans, and a teardown is the whole cluster's.
func TestWhatAnAdminExemptedKeepsItsClusterFromATeardown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.Cleanup.Delete = []lifecycle.OrphanClass{lifecycle.ClassReleased}
	cluster, admin := h.gone("shop"), clusters.Origin{Actor: "saml:ada@acme.example", Why: "forensics"}
	h.pass(3 * time.Hour)
	exempt := h.found(lifecycle.ClassReleased, cluster, "shop-abcde", true)
	require.NoError(t, h.store.Scans.Exempt(h.ctx, []string{exempt}, admin))
	other := h.found(lifecycle.ClassReleased, cluster, "shop-fghij", true)
	h.work(queue.CleanupArgs{})
	h.reconcile(cluster)
	h.orphanIs(other, lifecycle.OrphanReported, "its teardown would also delete orphans that are exempt: "+exempt+". Approve all of them together, or delete this orphan's resources by hand")
	h.orphanIs(exempt, lifecycle.OrphanExempt, "forensics")
	require.Equal(t, lifecycle.Released, h.cluster(cluster).Phase)

	require.NoError(t, h.store.Scans.Approve(h.ctx, []string{other}, admin))
	require.NoError(t, h.store.Scans.Exempt(h.ctx, []string{exempt}, admin))
	h.work(queue.CleanupArgs{})
	h.orphanIs(other, lifecycle.OrphanReported, "no teardown can do it")
}

func TestARemovalWaitsForTheNameAndSaysSo(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	cluster := h.gone("shop")
	newer := h.accept("shop")
	h.pass(time.Hour)
	id := h.found(lifecycle.ClassReleased, cluster, "shop-abcde", true)
	require.NoError(t, h.store.Scans.Approve(h.ctx, []string{id}, clusters.Origin{Actor: "saml:ada@acme.example"}))
	h.work(queue.CleanupArgs{})
	h.reconcile(cluster)
	h.orphanIs(id, lifecycle.OrphanApproved, "the name shop is that of the cluster "+newer.ID)
	require.Equal(t, lifecycle.Released, h.cluster(cluster).Phase)

	_, err := h.store.Destroy(h.ctx, newer.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	h.reconcile(newer.ID)
	require.Equal(t, lifecycle.Released, h.cluster(newer.ID).Phase)
	h.work(queue.CleanupArgs{})
	h.reconcile(cluster)
	require.Equal(t, lifecycle.Destroying, h.cluster(cluster).Status)
}

func TestTheSettingLeavesAnUnknownClusterThatMayBeAlive(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	a := &adopter{}
	h.Cleanup.Adopter, h.Cleanup.Planner.BaseDomain = a, func(string) string { return "labs.example.com" }
	h.Cleanup.Delete = []lifecycle.OrphanClass{lifecycle.ClassUnknown}
	id := h.found(lifecycle.ClassUnknown, "clu_9", "shop-abcde", false)
	ends := func(at time.Time) {
		_, err := h.store.Pool().Exec(h.ctx, `UPDATE seen SET resource = jsonb_set(resource, '{tags,TTLExpiry}', to_jsonb($2::text)) WHERE orphan_id = $1`, id, at.UTC().Format(time.RFC3339))
		require.NoError(t, err)
	}
	h.work(queue.CleanupArgs{})
	h.orphanIs(id, lifecycle.OrphanReported, "only a person may approve it: no tag tells when the cluster ends")
	ends(h.now())
	h.work(queue.CleanupArgs{})
	h.orphanIs(id, lifecycle.OrphanReported, "its cluster may be alive until")
	require.Empty(t, a.asked)
	ends(h.now().Add(-2 * time.Hour))
	h.work(queue.CleanupArgs{})
	require.Len(t, a.asked, 1)
}

func TestAnUnknownClusterIsHandedToTheRecovery(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	a := &adopter{}
	h.Cleanup.Adopter, h.Cleanup.Planner.BaseDomain = a, func(string) string { return "labs.example.com" }
	id := h.found(lifecycle.ClassUnknown, "clu_9", "shop-abcde", false)
	beside := h.found(lifecycle.ClassUnknown, "clu_9", "shop-fghij", false)
	h.work(queue.CleanupArgs{})
	require.Empty(t, a.asked, "only what was approved")
	require.NoError(t, h.store.Scans.Approve(h.ctx, []string{id}, clusters.Origin{Actor: "saml:ada@acme.example"}))
	a.err = db.ErrNameTaken
	h.work(queue.CleanupArgs{})
	h.orphanIs(id, lifecycle.OrphanApproved, "it waits: the name shop is that of a living cluster")
	a.err = recovery.ErrUnfit
	h.work(queue.CleanupArgs{})
	h.orphanIs(id, lifecycle.OrphanReported, "no teardown can do it")
	require.Len(t, a.asked, 2)
	require.Equal(t, "clu_9", a.asked[0].Cluster)
	require.Len(t, a.asked[0].Resources, 1)
	require.Len(t, a.asked[0].Beside, 1)
	require.Equal(t, "arn:"+beside, a.asked[0].Beside[0].ARN, "what other orphans tell of the cluster")
	require.Equal(t, "123456789012", a.asked[0].Account)
}
