package devstack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

const ibmRegion = "us-south"

// ibmLeftovers is an account on IBM Cloud with something of a destroyed cluster, a cluster that no database knows, and look-alikes.
type ibmLeftovers struct {
	*life
	left, living, lost subject
	stand              []ibmcloud.Resource
}

// The story of AWS (TestWhatScansFindIsReportedAndRemovedOnlyIfThatIsAllowed), told of IBM Cloud where the clouds differ: names own
// resources there, and not tags. What the setting removes by itself is decided alike, and is told there alone.
func TestAnOrphanOnIBMCloudIsReportedAndRemovedAfterAnApproval(t *testing.T) {
	t.Parallel()
	w := &ibmLeftovers{life: newLife(t, time.Hour)}
	w.left.pr, w.living.pr = w.labelledWith(ibmLabel, "Left"), w.labelledWith(ibmLabel, "Living")
	w.runUntil("both are ready", 3*time.Minute, w.every(lifecycle.PhaseReady))
	w.describe(&w.left)
	w.describe(&w.living)
	w.destroy(w.left.id)
	w.runUntil("one is destroyed", 3*time.Minute, func() bool { return w.statusOf(w.left.id) == "DESTROYED" })
	first := w.plantLeft()
	w.plantLost()
	w.plantLookAlikes()

	before := w.IBMCloud.All()
	w.scanUntil("what is left is reported", func() bool { return w.orphanOf(first[0].CRN()).State == "reported" })
	w.standOnIBM(before)
	w.reports(first)
	released, unknown := w.orphanOf(first[0].CRN()), w.orphanOf(w.lost.vpc.CRN())
	w.tellsOf(released, first[0].CRN())
	for _, r := range w.stand {
		w.refusesToRemove(r.CRN())
	}
	named := func(s subject) []string {
		return []string{"whose name contains " + s.infra, "delete-service-id --name " + s.cco, "api." + s.name + ".labs.example.com", "kube-" + s.infra + "-", "the resource group: " + s.cco}
	}
	w.removes(func(s subject) bool { return !w.standsOf(s) }, planned{released, w.left, named(w.left)}, planned{unknown, w.lost, named(w.lost)})
	require.Equal(t, 1, w.count("SELECT reopened FROM clusters WHERE id = $1", w.left.id))
	w.standOnIBM(w.stand)
	require.Equal(t, "READY", w.statusOf(w.living.id))

	for _, r := range w.stand {
		require.NoError(t, w.IBMCloud.Free(r.ID))
		for _, tag := range r.Tags { // the account's list keeps tags of what is gone
			require.NoError(t, w.IBMCloud.Free(tag))
		}
	}
	w.destroy(w.living.id)
	w.runUntil("all are released", 3*time.Minute, w.every(lifecycle.Released))
	w.assertNothingLeft()
	w.assertSettled()
}

// reports: each orphan has its class, its price by the price list of its cloud, and whom to ask. What is others' is not ours to remove.
func (w *ibmLeftovers) reports(first []ibmcloud.Resource) {
	w.t.Helper()
	o := w.orphanOf(first[0].CRN())
	require.Equal(w.t, []string{"released", w.left.id, w.left.infra, "maya", "platform"}, []string{o.Class, o.ClusterID, o.Identity, o.Owner, o.Team}, o.StateWhy)
	require.True(w.t, o.Managed)
	require.InDelta(w.t, 13*100.0/730+0.5+3, *o.HourlyCents, 0.1, "100 GiB of a volume, an address and a load balancer")
	for _, r := range first {
		of := w.orphanOf(evidenceOf(r))
		switch r.Type {
		case "resource-group", "serviceid":
			require.Equal(w.t, []string{"released", w.left.id, w.left.cco}, []string{of.Class, of.ClusterID, of.Identity}, "by ccoctl's name")
		case "dns-record":
			require.Contains(w.t, of.StateWhy, "was the domain of "+w.left.name)
		default:
			require.Equal(w.t, o.OrphanID, of.OrphanID, "%s %s", r.Type, r.Name)
		}
	}
	unknown := w.orphanOf(w.lost.vpc.CRN())
	require.Equal(w.t, []string{"unknown", "reported"}, []string{unknown.Class, unknown.State}, unknown.StateWhy)
	require.InDelta(w.t, 20.5, *unknown.HourlyCents, 0.1, "a machine")
	for _, r := range w.stand {
		class := w.orphanOf(evidenceOf(r)).Class
		require.NotContains(w.t, []string{"released", "unknown"}, class, "%+v", r)
	}
	for _, r := range w.IBMCloud.Resources(w.living.infra) {
		if !slices.ContainsFunc(w.stand, func(s ibmcloud.Resource) bool { return s.Seq == r.Seq }) {
			require.Empty(w.t, w.orphanOf(evidenceOf(r)).OrphanID, "a living cluster is no orphan: %+v", r)
		}
	}
}

// evidenceOf is how a scan calls a resource.
func evidenceOf(r ibmcloud.Resource) string {
	switch r.Type {
	case "dns-record":
		return strings.Join([]string{"record", r.Parent, r.Name, r.Attrs["type"], r.ID}, "/")
	}
	return r.CRN()
}

// describe fills in what is known of a cluster while it lives.
func (w *ibmLeftovers) describe(s *subject) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.ctx, `
		SELECT c.id, c.name, a.infra_id, a.cco_name FROM clusters c JOIN attempts a ON a.cluster_id = c.id AND a.infra_id <> '' WHERE c.pr_number = $1`, s.pr).Scan(&s.id, &s.name, &s.infra, &s.cco))
	for _, r := range w.IBMCloud.Resources(s.infra) {
		if r.Type == "vpc" {
			s.vpc = r
		}
	}
	require.Contains(w.t, s.vpc.Tags, tagkey.IBM(tagkey.ClusterID, s.id), "tagged after the install")
}

func (l *life) plantOnIBM(r ibmcloud.Resource) ibmcloud.Resource {
	l.t.Helper()
	if r.Service == "is" {
		r.Region = ibmRegion
	}
	planted, err := l.IBMCloud.Plant(r)
	require.NoError(l.t, err)
	return planted
}

// plantLeft makes something of the destroyed cluster appear again: in its resource group, which bears its tags, and what only names tell of.
func (w *ibmLeftovers) plantLeft() (list []ibmcloud.Resource) {
	w.t.Helper()
	s := w.left
	group := w.plantOnIBM(ibmcloud.Resource{Service: "resource-controller", Type: "resource-group", Name: s.cco, State: "ACTIVE"})
	for _, r := range []ibmcloud.Resource{
		{Service: "is", Type: "volume", Name: "pvc-0f8f8a8e", Group: group.ID, Tags: s.vpc.Tags, Attrs: map[string]string{"profile": "general-purpose", "capacity": "100"}},
		{Service: "is", Type: "floating-ip", Name: "unnamed-address", Group: group.ID, Tags: s.vpc.Tags, Attrs: map[string]string{"address": "203.0.113.9"}},
		{Service: "is", Type: "load-balancer", Name: "kube-" + s.infra + "-0123456789abcdef0123456789abcdef", Attrs: map[string]string{"profile": "dynamic", "hostname": "reports.lb.appdomain.cloud"}},
		{Service: "is", Type: "image", Name: s.infra + "-rhcos", Attrs: map[string]string{"visibility": "private"}},
		{Service: "iam-identity", Type: "serviceid", Name: s.cco + "-openshift-ingress-cloud-credentials"},
		{Service: "internet-svcs", Type: "dns-record", Name: "api." + s.name + ".labs.example.com", Parent: w.zoneOnIBM(), Attrs: map[string]string{
			"type": "CNAME", "content": s.infra + "-kubernetes-api-public.lb.appdomain.cloud", "ttl": "60",
		}},
	} {
		list = append(list, w.plantOnIBM(r))
	}
	return append(list, group)
}

// plantLost makes a cluster of this installation that no database knows; its end was two hours ago, so nobody else's control plane has it.
func (w *ibmLeftovers) plantLost() {
	w.t.Helper()
	s := &w.lost
	s.id, s.name, s.infra = "clu_"+ulid.Make().String(), "lost", "lost-x7k2p"
	s.cco = names.Scope{Installation: "demo", Cluster: s.id, Attempt: 1, Name: s.name}.CCOName()
	tags := []string{s.infra}
	for key, value := range map[string]string{
		tagkey.ManagedBy: tagkey.ControlPlaneName, tagkey.Installation: "demo", tagkey.ClusterID: s.id, tagkey.ClusterName: s.name, tagkey.Owner: "maya",
		tagkey.TTLExpiry: time.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339),
	} {
		tags = append(tags, tagkey.IBM(key, value))
	}
	group := w.plantOnIBM(ibmcloud.Resource{Service: "resource-controller", Type: "resource-group", Name: s.cco, State: "ACTIVE"})
	s.vpc = w.plantOnIBM(ibmcloud.Resource{Service: "is", Type: "vpc", Name: s.infra + "-vpc", Group: group.ID, Tags: slices.Clone(tags)})
	w.plantOnIBM(ibmcloud.Resource{Service: "is", Type: "instance", Name: s.infra + "-master-0", Group: group.ID, VPC: s.vpc.ID, Uses: []string{s.vpc.ID},
		Tags: slices.Clone(tags), Attrs: map[string]string{"profile": "bx2-4x16"}})
}

// plantLookAlikes puts into the account what is not ours to take, however much it looks like that.
func (w *ibmLeftovers) plantLookAlikes() {
	w.t.Helper()
	w.stand = w.plantForeignOnIBM([]int{w.left.pr, w.living.pr})
	forged := []string{tagkey.IBM(tagkey.ClusterID, w.living.id), "kubernetes-io-cluster-somebody-x2x4x:owned", tagkey.IBM(tagkey.Installation, "demo")}
	for _, r := range []ibmcloud.Resource{
		{Service: "is", Type: "volume", Name: "forged", Tags: forged},                                                                   // a living cluster's id
		{Service: "is", Type: "vpc", Name: "somebody-x2x4x-vpc", Tags: []string{"somebody-x2x4x", "owner:gus"}},                         // a person's own cluster
		{Service: "is", Type: "instance", Name: fmt.Sprintf("%s-sandbox", w.left.name), Attrs: map[string]string{"profile": "bx2-2x8"}}, // begins with our name
	} {
		w.stand = append(w.stand, w.plantOnIBM(r))
	}
}

// standsOf reports that something of a cluster is there.
func (w *ibmLeftovers) standsOf(s subject) bool {
	return slices.ContainsFunc(slices.Concat(w.IBMCloud.Resources(s.infra), w.IBMCloud.Resources(s.cco)), func(r ibmcloud.Resource) bool {
		return !slices.ContainsFunc(w.stand, func(stand ibmcloud.Resource) bool { return stand.Seq == r.Seq })
	})
}
