package devstack_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

const byName = "%removed without the installer: "

func TestEveryClassOfLeaksOnIBMCloudIsRemovedOrNamedAndForeignThingsStand(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	var foreign []ibmcloud.Resource
	cloud := leaky{
		platform: "ibmcloud", label: ibmLabel, free: l.IBMCloud.Free,
		named: []string{installer.LeakDNS},
		// VPCs are limited to ten for a region, so clusters have several leaks where one does not hide the other.
		together: [][]string{
			{installer.LeakDNS},
			{installer.LeakForeignBalancer},
			{installer.LeakMetadata, installer.LeakBucket, installer.LeakBalancer},
			{
				installer.LeakVolume, installer.LeakSnapshot, installer.LeakNetwork, installer.LeakAddress, installer.LeakKey, installer.LeakGhost,
				installer.LeakReclamation, installer.LeakPage,
			},
			{installer.LeakAuthorization, installer.LeakImage, installer.LeakIdentity},
		},
		removes: map[string]string{
			installer.LeakForeignBalancer: byName + "load balancer %reports-%",
			installer.LeakMetadata:        "%Deleted DNS record%", // it was corrected before anything was made
			installer.LeakBucket:          "%Deleted service instance%-cos%",
			installer.LeakBalancer:        "%Deleted load balancer%kube-%",
			installer.LeakVolume:          byName + "volume %pvc-%",
			installer.LeakSnapshot:        byName + "snapshot %snapshot-%",
			installer.LeakNetwork:         byName + "permitted network %",
			installer.LeakAddress:         byName + "floating IP %unnamed-%",
			installer.LeakKey:             byName + "SSH key %-debug%",
			installer.LeakGhost:           byName + "resource %:image:%-rhcos%",
			installer.LeakReclamation:     byName + "reclamation %",
			installer.LeakPage:            byName + "CNAME record api.%",
			installer.LeakAuthorization:   byName + "authorization policy %",
			installer.LeakImage:           byName + "image %-rhcos%",
			installer.LeakIdentity:        byName + "service ID %-openshift-%",
		},
		left: func(name string) (left []leftThing) {
			for _, r := range l.IBMCloud.Resources(name) {
				if !slices.ContainsFunc(foreign, func(f ibmcloud.Resource) bool { return f.Seq == r.Seq }) {
					left = append(left, leftThing{r.Type, r.ID, r.Name})
				}
			}
			return left
		},
	}
	leaking := l.openLeaks(cloud)
	foreign = l.plantForeignOnIBM(slices.Sorted(maps.Keys(leaking)))
	l.areReady(cloud, leaking)
	l.leaksEnd(cloud, leaking)
	for pr, leaks := range leaking {
		if leaks[0].Class == installer.LeakForeignBalancer {
			require.Positive(t, l.count(logged, pr, "%destroy was stopped: it cannot remove subnet %in use%"), "long before its deadline")
		}
	}
	l.standOnIBM(foreign)
	for _, f := range foreign {
		require.NoError(t, l.IBMCloud.Free(f.ID))
		for _, tag := range f.Tags { // the account's list keeps tags of what is gone
			require.NoError(t, l.IBMCloud.Free(tag))
		}
	}
	l.assertNothingLeft()
	l.assertSettled()
}

// plantForeignOnIBM puts things of other clusters, installations and accounts beside ours, with names that go on where ours end.
func (l *life) plantForeignOnIBM(prs []int) (planted []ibmcloud.Resource) {
	l.t.Helper()
	zone := l.zoneOnIBM()
	for i, pr := range prs {
		name := l.nameOf(pr)
		// One record for each cluster: with their own fifteen they fill the first page of the zone, and the destroyer sees no other.
		record := []string{"api." + name + "x.labs.example.com", "docs." + name + "-docs.labs.example.com"}[i%2]
		other := name + "x-zzzzz" // as an infraID of a cluster called like ours and one letter more
		tags := []string{other, "clustername:" + name, "clusterid:clu_0", "installationid:elsewhere"}
		alias := map[string]string{"type": "CNAME", "content": other + "-kubernetes-api-public.lb.appdomain.cloud", "ttl": "60"}
		for _, r := range []ibmcloud.Resource{
			{Service: "is", Type: "vpc", Name: other + "-vpc", Tags: tags},
			{Service: "is", Type: "volume", Name: "pvc-of-" + name, Tags: []string{"clustername:" + name, "clusterid:clu_0", "installationid:elsewhere", "kubernetes-io-cluster-" + other + ":owned"}},
			{Service: "resource-controller", Type: "resource-group", Name: name + "-admins", State: "ACTIVE"},
			{Service: "cloud-object-storage", Type: "instance", Name: other + "-cos"},
			{Service: "iam-identity", Type: "serviceid", Name: name + "-admins-openshift-ingress"},
			{Service: "internet-svcs", Type: "dns-record", Name: record, Parent: zone, Attrs: maps.Clone(alias)},
			{Service: "internet-svcs", Type: "dns-record", Name: "api." + name + ".labs.example.com", Parent: "elsewhere", Account: strings.Repeat("f", 32), Attrs: alias},
		} {
			planted = append(planted, l.plantOnIBM(r))
		}
	}
	return planted
}

// zoneOnIBM is the id of the base domain's public zone.
func (l *life) zoneOnIBM() string {
	l.t.Helper()
	all := l.IBMCloud.All()
	i := slices.IndexFunc(all, func(r ibmcloud.Resource) bool { return r.Type == "zone" && r.Service == "internet-svcs" && r.Stands })
	require.GreaterOrEqual(l.t, i, 0)
	return all[i].ID
}

// standingOnIBM returns everything of the cloud as it is now.
func (l *life) standingOnIBM() map[int64]ibmcloud.Resource {
	now := map[int64]ibmcloud.Resource{}
	for _, r := range l.IBMCloud.All() {
		now[r.Seq] = r
	}
	return now
}

// standOnIBM: what belongs to others is as it was planted.
func (l *life) standOnIBM(foreign []ibmcloud.Resource) {
	l.t.Helper()
	now := l.standingOnIBM()
	for _, f := range foreign {
		r, there := now[f.Seq]
		require.True(l.t, there && r.Alive(), "removed, and was nobody's to remove: %+v", f)
		require.Equal(l.t, f.Tags, r.Tags, "changed, and was nobody's to change: %+v", f)
		require.Equal(l.t, f.Attrs, r.Attrs, "changed, and was nobody's to change: %+v", f)
	}
}
