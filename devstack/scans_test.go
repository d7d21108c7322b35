package devstack_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// leftovers is an account with something of clusters that are gone, beside much that only looks like that.
type leftovers struct {
	*life
	left, cut, reused, living subject
	nameUser                  string    // id of the living cluster that has the name of reused now
	lost                      []subject // that the restored database does not know
	stand                     []aws.Resource
}

// subject is a cluster, with what of its resources is known from when it lived.
type subject struct {
	pr                   int
	id, name, infra, cco string
	tags                 map[string]string // on AWS
	vpc                  ibmcloud.Resource // on IBM Cloud
}

// The account is looked through after clusters were called destroyed, and after the database was restored from a backup that does not know
// two of them. Without scan.remove everything is reported, and nothing is touched before an administrator approves it; with it, ocpctl
// removes what is certainly its own. What belongs to others, or only looks like ours, stands to the end.
func TestWhatScansFindIsReportedAndRemovedOnlyIfThatIsAllowed(t *testing.T) {
	t.Parallel()
	w := newLeftovers(t)
	first := w.plantLeft(w.left, true)
	cut := w.plant(aws.Resource{Service: "ec2", Type: "volume", Tags: map[string]string{tagkey.KubernetesCluster + w.cut.infra: tagkey.Owned}})
	taken := w.plant(aws.Resource{Service: "ec2", Type: "volume", Tags: w.reused.tags})
	w.plantLookAlikes()
	w.AWS.Refuse("us-west-2/*", -1, aws.DeniedBySCP)
	w.AWS.Pages(9)

	w.reportsAll(first, cut, taken)
	rooms := ask[v1.Rooms](w.as("admin"), http.MethodGet, "/api/v1/rooms", nil, http.StatusOK).Items
	require.True(t, slices.ContainsFunc(rooms, func(r v1.Room) bool {
		return r.Profile == "aws-minimal-test" && r.Region == "us-east-1" && r.LimitedBy != ""
	}), rooms)
	w.removesWhatIsApproved(first)

	require.NoError(t, w.Configure(w.ctx, func(c *devstack.Config) { c.ScanDeletes = []string{"released", "unknown"} }))
	again := w.plantLeft(w.left, false)
	w.scanUntil("what is certainly ours is gone", func() bool { return !w.stands(again...) && !w.standsOf(w.lost[1]) })
	w.runUntil("its final count is zero", time.Minute, func() bool { return w.statusOf(w.lost[1].id) == "DESTROYED" })
	require.True(t, w.stands(cut, taken))
	require.Equal(t, "reported", w.orphanOf(cut.ARN()).State, "a tag is missing, so a person has to decide")
	require.Equal(t, "approved", w.orphanOf(taken.ARN()).State)
	require.Contains(t, w.orphanOf(taken.ARN()).StateWhy, "it waits: the name "+w.reused.name)
	w.othersStand()

	w.cutIsApproved(cut)
	w.ownerRemoves(func(r aws.Resource) bool { return r.Tags[tagkey.ClusterID] == w.living.id }) // or its teardown would count it
	w.destroy(w.nameUser)
	w.destroy(w.living.id)
	w.runUntil("the name is free, and what waited for it is gone", 3*time.Minute, func() bool { return !w.stands(cut, taken) })
	w.runUntil("all are released", 3*time.Minute, w.every("released"))
	w.AWS.Lift("us-west-2/*")
	w.othersStand()
	for _, r := range w.stand {
		require.NoError(t, w.AWS.Free(r.ID))
	}
	w.assertNothingLeft()
	w.assertSettled()
	for _, action := range w.AWS.ActionsOf(devstack.ScanUser) {
		_, name, _ := strings.Cut(action, ":")
		require.Regexp(t, "^(Describe|List|Get)", name, "a scan only reads")
	}
}

// cutIsApproved: as long as another installation's resource has the mark too, no teardown would delete anything.
func (w *leftovers) cutIsApproved(cut aws.Resource) {
	w.t.Helper()
	decision := v1.OrphanApproval{Ids: []string{w.orphanOf(cut.ARN()).OrphanID}, Reason: "nobody needs it"}
	refused := w.as("admin").refused(http.MethodPost, "/api/v1/orphans/approve", decision, http.StatusConflict)
	require.Contains(w.t, refused.Detail, "has a mark of this cluster, but belongs to the installation \"elsewhere\"")
	w.ownerRemoves(func(r aws.Resource) bool { return r.Tags[tagkey.KubernetesCluster+w.cut.infra] != "" })
	decision.DryRun = true
	var plan v1.RemovalPlan
	w.scanUntil("it is seen that nothing of another owner has the mark", func() bool {
		plan = ask[v1.RemovalPlans](w.as("admin"), http.MethodPost, "/api/v1/orphans/approve", decision, http.StatusOK).Items[0]
		return plan.Refused == ""
	})
	forged := w.ownerRemoves(func(r aws.Resource) bool { return r.Tags[tagkey.ClusterID] == w.cut.id })
	require.Len(w.t, plan.Kept, 1)
	require.Equal(w.t, forged.ARN(), plan.Kept[0].ID, "it has the cluster's tag, and no teardown would delete it")
	w.approve(decision.Ids...)
}

// ownerRemoves has the one of what stands, for which it is true, removed by whoever owns it.
func (w *leftovers) ownerRemoves(is func(aws.Resource) bool) aws.Resource {
	w.t.Helper()
	i := slices.IndexFunc(w.stand, is)
	require.GreaterOrEqual(w.t, i, 0)
	one := w.stand[i]
	require.NoError(w.t, w.AWS.Free(one.ID))
	w.stand = slices.Delete(w.stand, i, i+1)
	return one
}

// reportsAll: scan.remove is empty.
func (w *leftovers) reportsAll(first []aws.Resource, cut, taken aws.Resource) {
	w.t.Helper()
	before := w.AWS.All()
	w.scanUntil("what is left is reported", func() bool { return w.orphanOf(first[0].ARN()).State == "reported" })
	o := w.orphanOf(first[0].ARN())
	require.Equal(w.t, "released", o.Class)
	require.Equal(w.t, w.left.id, o.ClusterID)
	require.Contains(w.t, o.Evidence, "arn:aws:s3:::openshift-bootstrap-data-"+w.left.infra, "only its name tells of it")
	require.Equal(w.t, "maya", o.Owner)
	require.Equal(w.t, "platform", o.Team)
	require.True(w.t, o.Managed)
	require.InDelta(w.t, 0.5+100*8.0/730, *o.HourlyCents, 0.1, "an address and 100 GiB of gp3")
	require.Equal(w.t, "released", w.orphanOf(taken.ARN()).Class)
	require.Equal(w.t, "released", w.orphanOf(cut.ARN()).Class)
	require.False(w.t, w.orphanOf(cut.ARN()).Managed)
	for _, lost := range w.lost {
		o := w.orphan(func(o v1.Orphan) bool { return o.ClusterTag == lost.id && o.Identity == lost.infra })
		require.Equal(w.t, []string{"unknown", "reported"}, []string{o.Class, o.State}, o.StateWhy)
		require.Greater(w.t, *o.HourlyCents, 30.0, "machines run")
	}
	for _, r := range w.stand {
		require.NotEqual(w.t, "released", w.orphanOf(r.ARN()).Class, "%+v", r)
		require.NotEqual(w.t, "unknown", w.orphanOf(r.ARN()).Class, "%+v", r)
	}
	require.Empty(w.t, w.orphan(func(o v1.Orphan) bool { return o.Identity == w.living.infra }).OrphanID, "a living cluster is no orphan")
	require.Equal(w.t, snapshot(before), snapshot(w.AWS.All()), "a scan changes nothing")
	require.Zero(w.t, w.count("SELECT count(*) FROM audit_events WHERE action = 'orphan_approved'"))
	require.Equal(w.t, "DESTROYED", w.statusOf(w.left.id))
}

// removesWhatIsApproved: the dry run names what follows, and an approval does it.
func (w *leftovers) removesWhatIsApproved(first []aws.Resource) {
	w.t.Helper()
	released, unknown := w.orphanOf(first[0].ARN()), w.orphan(func(o v1.Orphan) bool { return o.Identity == w.lost[0].infra })
	w.tellsOf(released, first[0].ARN())
	for _, r := range w.stand {
		w.refusesToRemove(r.ARN())
	}
	named := func(s subject) []string {
		return []string{tagkey.KubernetesCluster + s.infra, "api." + s.name + ".labs.example.com", s.infra + "-worker-role", "openshift-bootstrap-data-" + s.infra}
	}
	w.removes(func(s subject) bool { return !w.standsOf(s) }, planned{released, w.left, named(w.left)}, planned{unknown, w.lost[0], named(w.lost[0])})
	require.Equal(w.t, 1, w.count("SELECT reopened FROM clusters WHERE id = $1", w.left.id))
	for _, r := range first {
		require.False(w.t, w.stands(r), "%+v", r)
	}
	w.othersStand()
	require.Equal(w.t, "READY", w.statusOf(w.living.id))
}

// snapshot is what must not change: what is alive, with its tags.
func snapshot(all []aws.Resource) map[int64]map[string]string {
	out := map[int64]map[string]string{}
	for _, r := range all {
		if r.Alive() {
			out[r.Seq] = maps.Clone(r.Tags)
		}
	}
	return out
}

// othersStand: everything that belongs to others is as it was planted.
func (w *leftovers) othersStand() {
	w.t.Helper()
	now := snapshot(w.AWS.All())
	for _, r := range w.stand {
		tags, alive := now[r.Seq]
		require.True(w.t, alive, "removed, and was not ours to remove: %+v", r)
		require.Equal(w.t, r.Tags, tags, "changed, and was not ours to change: %+v", r)
	}
}

// stands reports that one of them is there.
func (l *life) stands(list ...aws.Resource) bool {
	return slices.ContainsFunc(l.AWS.All(), func(r aws.Resource) bool {
		return r.Alive() && slices.ContainsFunc(list, func(one aws.Resource) bool { return one.Seq == r.Seq })
	})
}

// standsOf reports that something tagged with the cluster is there.
func (l *life) standsOf(s subject) bool {
	return slices.ContainsFunc(l.AWS.Resources(""), func(r aws.Resource) bool {
		return r.Tags[tagkey.KubernetesCluster+s.infra] == tagkey.Owned && r.Region == "us-east-1"
	})
}
