package devstack_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Somebody copied snapshots of a cluster to a region in which the cluster never was. The one that kept all tags is deleted with the cluster, the
// other one blocks its teardown and says where it is, what it costs and who must act. A region that cannot be asked is in the proof.
func TestWhatIsLeftInAnotherRegionIsRemovedOrNamed(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	pr, err := l.GitHub.Open("Copies", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(pr, label, "maya"))
	l.runUntil("it is ready", 2*time.Minute, l.every(lifecycle.PhaseReady))
	cluster := l.as("admin").cluster(l.nameOf(pr))
	l.haveTags(cluster.ClusterID, "the create attached them")

	exact := map[string]string{tagkey.ClusterID: cluster.ClusterID, tagkey.Installation: "demo", tagkey.ManagedBy: tagkey.ControlPlaneName}
	ours := l.plant(aws.Resource{Service: "ec2", Type: "snapshot", Region: "us-west-2", Tags: exact})
	half := maps.Clone(exact)
	delete(half, tagkey.Installation)
	theirs := l.plant(aws.Resource{Service: "ec2", Type: "snapshot", Region: "us-west-2", Tags: half, Attrs: map[string]string{"size": "100"}})
	l.AWS.Refuse("us-east-2/*", -1, aws.DeniedBySCP)
	require.NoError(t, l.GitHub.Close(pr, "maya"))
	l.runUntil("it is blocked", 3*time.Minute, l.every(lifecycle.DestroyBlocked))
	blocked := l.as("admin").cluster(l.nameOf(pr))
	require.Len(t, blocked.Blockers, 1)
	require.Contains(t, blocked.Blockers[0], "snapshot "+theirs.ID+" in us-west-2, which costs about $5.00 a month: ask the creator of "+theirs.ID+" to delete it, or to remove the cluster's tags from it (KeptMarked: ")
	require.Positive(t, l.count(logged, pr, "%removed without the installer: snapshot "+ours.ID+" in us-west-2%"))

	require.NoError(t, l.AWS.Free(theirs.ID))
	l.runUntil("it is released", 3*time.Minute, l.every(lifecycle.Released))
	require.Equal(t, map[string]string{"us-east-2": contract.RegionDenied}, l.unasked(cluster.ClusterID))
	l.assertNothingLeft()
	l.assertSettled()
}

func TestWhatIsLeftInAnotherRegionOfIBMCloudIsRemovedOrNamed(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	pr, err := l.GitHub.Open("Copies", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(pr, ibmLabel, "maya"))
	l.runUntil("it is ready", 2*time.Minute, l.every(lifecycle.PhaseReady))
	id := l.as("admin").cluster(l.nameOf(pr)).ClusterID
	tags := []string{tagkey.IBM(tagkey.ClusterID, id), tagkey.IBM(tagkey.Installation, "demo")}
	for _, r := range l.IBMCloud.Resources("") {
		if r.Type == "serviceid" && strings.Contains(r.Name, "-openshift-") {
			require.Subset(t, r.Tags, tags, "service IDs get the cluster's tags right after ccoctl: %s", r.Name)
		}
	}
	in := func(tags ...string) ibmcloud.Resource {
		planted, err := l.IBMCloud.Plant(ibmcloud.Resource{Service: "is", Type: "snapshot", Name: "copy", Region: "eu-de", Tags: tags})
		require.NoError(t, err)
		return planted
	}
	ours, theirs := in(tags...), in(tags[0])
	require.NoError(t, l.GitHub.Close(pr, "maya"))
	l.runUntil("it is blocked", 3*time.Minute, l.every(lifecycle.DestroyBlocked))
	require.Contains(t, l.as("admin").cluster(l.nameOf(pr)).Blockers[0], "snapshot "+theirs.ID+" (copy) in eu-de: ask the creator of "+theirs.ID+" to delete it")
	require.Positive(t, l.count(logged, pr, "%removed without the installer: snapshot "+ours.ID+"%"))
	require.NoError(t, l.IBMCloud.Free(theirs.ID))
	l.runUntil("it is released", 3*time.Minute, l.every(lifecycle.Released))
	l.assertNothingLeft()
	l.assertSettled()
}

// untaggable are the kinds that have no tags in AWS (inline policies, records, associations), and what AWS makes and deletes with a VPC, a machine
// or a load balancer.
var untaggable = []string{"policy", "record", "route-table-association", "network-interface", "security-group", "route-table"}

// haveTags checks that a search by tag finds everything on AWS that can have tags.
func (l *life) haveTags(cluster, why string) {
	l.t.Helper()
	var tagged int
	for _, r := range l.AWS.Resources("") {
		if r.Tags[tagkey.TTLExpiry] == "" {
			require.Contains(l.t, untaggable, r.Type, "%s %s", r.ID, r.Name)
		}
		if slices.Contains([]string{"role", "oidc-provider"}, r.Type) {
			require.Equal(l.t, cluster, r.Tags[tagkey.ClusterID], "%s: %s %s", why, r.Type, r.Name)
			require.NotEmpty(l.t, r.Tags[tagkey.TTLExpiry], "%s: %s %s", why, r.Type, r.Name)
			tagged++
		}
	}
	require.Greater(l.t, tagged, 3)
	buckets, err := l.S3.Client().ListBuckets(l.ctx, &s3.ListBucketsInput{})
	require.NoError(l.t, err)
	for _, b := range buckets.Buckets {
		if strings.HasSuffix(*b.Name, "-oidc") {
			out, err := l.S3.Client().GetBucketTagging(l.ctx, &s3.GetBucketTaggingInput{Bucket: b.Name})
			require.NoError(l.t, err)
			found := map[string]string{}
			for _, tag := range out.TagSet {
				found[*tag.Key] = *tag.Value
			}
			require.Equal(l.t, cluster, found[tagkey.ClusterID], "%s: %s", why, *b.Name)
			require.NotEmpty(l.t, found[tagkey.TTLExpiry], *b.Name)
			require.Equal(l.t, tagkey.Owned, found[tagkey.CloudCredential+strings.TrimSuffix(*b.Name, "-oidc")], "ccoctl's own tag stays")
			tagged++
		}
	}
	require.Greater(l.t, tagged, 4, "with the bucket")
}

// unasked returns the regions that the last pass did not ask, and why.
func (l *life) unasked(cluster string) map[string]string {
	l.t.Helper()
	var raw []byte
	require.NoError(l.t, l.pool.QueryRow(l.ctx, `
		SELECT v.queries FROM verifications v JOIN attempts a ON a.id = v.attempt_id WHERE a.cluster_id = $1 ORDER BY a.number DESC, v.number DESC LIMIT 1`, cluster).Scan(&raw))
	var queries []contract.Query
	require.NoError(l.t, json.Unmarshal(raw, &queries))
	out := map[string]string{}
	for _, q := range queries {
		if q.Unasked != "" {
			out[q.Region] = q.Unasked
		}
	}
	return out
}
