package recovery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pools"
)

var (
	now  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	uuid = "5f0c1b1e-0000-4000-8000-000000000001"
)

func newRun() *run {
	return &run{
		Config: Config{
			Installation: "test", BucketName: "bucket", Keep: 8 * time.Hour, Wait: time.Minute,
			Spec: func(string, string) clusters.Spec { return clusters.Spec{PullSecretRef: "file:/pull"} },
			Version: func(platform string) string {
				return map[string]string{"aws": "4.20.1", "ibmcloud": "4.20.3"}[platform]
			},
		},
		view: store.RecoveryView{Now: now, Clusters: map[string]store.RecoveryRow{}}, seen: map[string]*cluster{},
	}
}

// seen returns a cluster with an attempt per kind, numbered from 1.
func seen(kinds ...string) *cluster {
	c := &cluster{id: "clu_1", attempts: map[int]*attempt{}}
	for i, kind := range kinds {
		c.attempts[i+1] = &attempt{number: i + 1, kind: kind, at: now.Add(-time.Hour), record: &contract.AttemptRecord{
			Attempt: "att_" + kind, Number: i + 1, Kind: kind, Cluster: "clu_1", Installation: "test", Name: "shop", BaseDomain: "labs.example.com",
			Platform: "aws", Region: "us-east-1", Version: "4.20.3", Account: "123456789012", CredentialsMode: "Manual",
			Tags: map[string]string{tagkey.TTLExpiry: now.Add(24 * time.Hour).Format(time.RFC3339), tagkey.Owner: "maya", tagkey.Team: "platform"},
		}}
	}
	return c
}

// succeeded lets an attempt have stored what a successful create stores.
func (c *cluster) succeeded(number int) *cluster {
	at := now.Add(-30 * time.Minute)
	a := c.attempts[number]
	a.outputs, a.access = &artifacts.Trace{At: at}, &artifacts.Trace{At: at}
	a.record.Identity = &contract.Identity{InfraID: "shop-abcde", ClusterUUID: uuid}
	return c
}

func TestAnUnknownClusterThatIsReadyIsKeptForAFixedTime(t *testing.T) {
	p := newRun().planUnknown(seen("create").succeeded(1))
	require.Empty(t, p.person)
	require.Empty(t, p.write.Absent)
	require.Equal(t, now.Add(8*time.Hour), p.write.New.Ends.TTL)
	require.Equal(t, now.Add(24*time.Hour), p.write.New.Ends.Max)
	require.Equal(t, "maya", p.write.New.Owner)
	require.Equal(t, "https://api.shop.labs.example.com:6443", p.write.Attempts[0].Outputs.APIURL)
	require.Equal(t, "shop-abcde", p.write.Attempts[0].Identity.InfraID)
	require.NotEmpty(t, p.write.Attempts[0].Identity.CCOName)
}

// A cluster on a hub stores nothing that gives access, and ccoctl made nothing for it, although its mode is that of clusters for which it does.
func TestANamespaceFromTheBucketIsReadyAndKnowsItsName(t *testing.T) {
	c := seen("create", "access").succeeded(1)
	c.attempts[1].access = nil
	for _, a := range c.attempts {
		a.record.Platform, a.record.Region, a.record.BaseDomain, a.record.Version = names.Kubernetes, "lab", "hub.internal", "hub"
		a.record.Accepted = &contract.Accepted{Account: "lab", Provisioner: "namespace", Server: "https://api.hub.example.com:6443"}
	}
	p := newRun().planUnknown(c)
	require.Empty(t, p.person)
	require.Empty(t, p.write.Absent)
	require.Equal(t, "namespace", p.write.New.Provisioner)
	row := *p.write.New
	row.Identities = listIdentities(p.write.Attempts)
	require.Equal(t, "shop-abcde", row.HubNamespace())
	require.Equal(t, &clusters.Outputs{APIURL: "https://api.hub.example.com:6443", MetadataRef: artifacts.MetadataRef("bucket", "clu_1", 1, c.attempts[1].outputs.At)}, p.write.Attempts[0].Outputs)
	require.Contains(t, p.write.Attempts[0].Identity.Metadata, `"namespace":"shop-abcde"`)
}

// A hosted cluster has credentials of its own, and ccoctl made nothing for it either: no count would look for that name on a hub.
func TestAHostedClusterFromTheBucketHasItsCredentials(t *testing.T) {
	c := seen("create").succeeded(1)
	a := c.attempts[1]
	a.record.Platform, a.record.Region, a.record.BaseDomain = names.Kubernetes, "lab", "apps.hub.example.com"
	a.record.Accepted, a.server = &contract.Accepted{Account: "lab", Provisioner: "hypershift"}, "https://lb-1.hub.example.com:6443"
	p := newRun().planUnknown(c)
	require.Empty(t, p.write.Absent)
	require.Equal(t, []string{"hypershift", ""}, []string{p.write.New.Provisioner, p.write.New.Spec.Server})
	require.Empty(t, p.write.Attempts[0].Identity.CCOName)
	require.Equal(t, artifacts.CredentialRef("bucket", "clu_1", 1, a.access.At, artifacts.Kubeconfig), p.write.Attempts[0].Outputs.KubeconfigRef)
	require.Equal(t, a.server, p.write.Attempts[0].Outputs.APIURL, "a kubeconfig for another address is given to nobody")
}

func TestAnUnknownClusterNeverOutlivesItsTag(t *testing.T) {
	c := seen("create").succeeded(1)
	c.attempts[1].record.Tags[tagkey.TTLExpiry] = now.Add(time.Hour).Format(time.RFC3339)
	p := newRun().planUnknown(c)
	require.Equal(t, now.Add(time.Hour), p.write.New.Ends.TTL)
	require.Equal(t, now.Add(time.Hour), p.write.New.Ends.Max)
}

func TestAnUnknownClusterThatIsNotKnownToBeReadyIsTornDown(t *testing.T) {
	half := seen("create").succeeded(1)
	half.attempts[1].access = nil
	for name, c := range map[string]*cluster{
		"an install that runs":        seen("create"),
		"only half of the outputs":    half,
		"a teardown after it":         seen("create", "destroy").succeeded(1),
		"an install after it":         seen("create", "destroy", "create").succeeded(1),
		"a teardown and nothing else": seen("destroy"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newRun().planUnknown(c)
			require.Empty(t, p.person)
			require.NotEmpty(t, p.write.Absent)
			require.NotEmpty(t, p.write.Attempts, "without an attempt nothing would be counted")
			for _, a := range p.write.Attempts {
				require.Nil(t, a.Outputs)
			}
		})
	}
}

func TestOnlyATeardownMakesAReadyClusterUnready(t *testing.T) {
	for _, kind := range lifecycle.Kinds() {
		if kind == lifecycle.Create {
			continue // another one did not end yet
		}
		p := newRun().planUnknown(seen("create", string(kind)).succeeded(1))
		require.Equal(t, kind == lifecycle.Destroy, p.write.Absent != "", kind)
	}
}

// An access attempt of which nothing but credentials arrived looks like a create.
func TestCredentialsAloneDoNotMakeAReadyClusterUnready(t *testing.T) {
	c := seen("create").succeeded(1)
	c.attempts[2] = &attempt{number: 2, kind: contract.KindCreate, at: now, access: &artifacts.Trace{At: now}}
	require.Empty(t, newRun().planUnknown(c).write.Absent)
	c.attempts[2].manifests = []artifacts.Trace{{At: now}}
	require.NotEmpty(t, newRun().planUnknown(c).write.Absent, "it has archived an install directory")
}

func TestWhatPreparedAClusterReplacedTheCredentialsOfItsInstall(t *testing.T) {
	c := seen("create", "prepare", "prepare").succeeded(1)
	c.attempts[2].access = &artifacts.Trace{At: now}
	p := newRun().planUnknown(c)
	require.Nil(t, p.write.Attempts[0].Replaced)
	require.Equal(t, artifacts.CredentialRef("bucket", "clu_1", 2, now, artifacts.Kubeconfig), p.write.Attempts[1].Replaced.KubeconfigRef)
	require.Equal(t, artifacts.CredentialRef("bucket", "clu_1", 2, now, artifacts.Kubeadmin), p.write.Attempts[1].Replaced.KubeadminRef)
	require.Nil(t, p.write.Attempts[2].Replaced, "it stored none")
}

func TestTheNameThatCCOCtlRunsWithFollowsFromTheRecord(t *testing.T) {
	p := newRun().planUnknown(seen("create"))
	of := names.Scope{Installation: "test", Cluster: "clu_1", Attempt: 1, Name: "shop"}
	require.Equal(t, of.CCOName(), p.write.Attempts[0].Identity.CCOName)
	require.Empty(t, p.write.Attempts[0].Identity.InfraID)
}

func TestTheIDOfAResourceGroupIsTakenWithItsName(t *testing.T) {
	const group = "0123456789abcdef0123456789abcdef"
	of := names.Scope{Installation: "test", Cluster: "clu_1", Attempt: 1, Name: "shop"}
	for name, want := range map[string]string{of.CCOName(): group, "bank-aaaaaaaaaa": ""} {
		c := seen("create")
		c.attempts[1].record.Identity = &contract.Identity{CCOName: name, ResourceGroupID: group}
		require.Equal(t, want, newRun().planUnknown(c).write.Attempts[0].Identity.ResourceGroupID)
	}
}

func TestANameThatIsNotTheClustersOwnIsLeftOut(t *testing.T) {
	c := seen("create").succeeded(1)
	c.attempts[1].record.Identity.InfraID = "bank-abcde"
	c.attempts[1].snapshots = []artifacts.Snapshot{{InfraID: "bank-abcde"}}
	p := newRun().planUnknown(c)
	require.Empty(t, p.write.Attempts[0].Identity.InfraID)
	require.NotEmpty(t, p.write.Attempts[0].Identity.CCOName)
}

func TestAClusterOfWhichOnlyTagsTellIsTornDownByThem(t *testing.T) {
	r := newRun()
	r.BaseDomain = func(string) string { return "labs.example.com" }
	c := r.clusterOf("clu_2")
	c.addResource("aws", "us-east-1", cloudtags.Resource{ARN: "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1", Tags: map[string]string{
		tagkey.ClusterID: "clu_2", tagkey.ClusterName: "shop", tagkey.KubernetesCluster + "shop-abcde": "owned",
	}})
	p := r.planUnknown(c)
	require.Empty(t, p.person)
	require.NotEmpty(t, p.write.Absent)
	require.Equal(t, "eu-west-1", p.write.New.Region)
	require.Equal(t, "4.20.1", p.write.New.Release, "a runner has to run some version's destroyer")
	require.Len(t, p.write.Attempts, 1)
	require.Equal(t, firstUnseen, p.write.Attempts[0].Number)
	require.Equal(t, "shop-abcde", p.write.Attempts[0].Identity.InfraID)
}

func TestWhatCannotBeNamedNeedsAPerson(t *testing.T) {
	r := newRun()
	require.Contains(t, r.planUnknown(r.clusterOf("clu_3")).person, "name")
	other := seen("create")
	other.attempts[1].record.Installation = "other"
	require.Contains(t, r.planUnknown(other).person, "installation")
	r.BaseDomain = func(string) string { return "labs.example.com" }
	r.Version = nil
	c := r.clusterOf("clu_4")
	c.addResource("aws", "us-east-1", cloudtags.Resource{Tags: map[string]string{tagkey.ClusterID: "clu_4", tagkey.ClusterName: "shop", tagkey.KubernetesCluster + "shop-abcde": "owned"}})
	require.Contains(t, r.planUnknown(c).person, "version")
}

func TestAKnownClusterGetsOnlyWhatIsNewer(t *testing.T) {
	r := newRun()
	known := store.RecoveryRow{ID: "clu_1", Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1", Installation: "test",
		Status: lifecycle.Ready, Desired: lifecycle.Present, Newest: 1, Identities: []string{"shop-abcde"}}
	require.Empty(t, r.planKnown(seen("create").succeeded(1), known).write.Attempts)

	p := r.planKnown(seen("create", "destroy").succeeded(1), known)
	require.Len(t, p.write.Attempts, 1)
	require.Equal(t, 2, p.write.Attempts[0].Number)
	require.NotEmpty(t, p.write.Absent, "its teardown had begun")

	known.Status = lifecycle.Creating
	require.Empty(t, r.planKnown(seen("create", "destroy").succeeded(1), known).write.Absent, "a failed attempt is cleaned up while the cluster is wanted")

	known.Status = lifecycle.Destroyed
	require.Empty(t, r.planKnown(seen("create", "destroy"), known).write.Attempts, "a proof is final")
}

func TestAClusterThatWasClaimedAfterTheBackupIsInNoPool(t *testing.T) {
	known := store.RecoveryRow{ID: "clu_1", Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1", Installation: "test", Pooled: true,
		Status: lifecycle.Ready, Desired: lifecycle.Present, Newest: 1, Identities: []string{"shop-abcde"}}
	require.Nil(t, newRun().planKnown(seen("create", "observe").succeeded(1), known).write.Claimed)
	c := seen("create", "prepare", "access").succeeded(1)
	c.attempts[2].record.Accepted = &contract.Accepted{RequestedBy: "saml:maya", Source: "web", Generation: 2, PullRequest: &contract.PullRequest{Repo: "acme/shop", Number: 7}}
	by := newRun().planKnown(c, known).write.Claimed
	require.Equal(t, []string{"maya", "platform", "saml:maya", "web"}, []string{by.Owner, by.Team, by.RequestedBy, by.Source})
	require.Equal(t, &clusters.PRRef{Repo: "acme/shop", Number: 7}, by.PR)
	require.Equal(t, 2, by.Generation)
	require.Equal(t, now.Add(24*time.Hour), by.Until)
	c.attempts[2].record.Tags[tagkey.TTLExpiry] = now.Add(-time.Hour).Format(time.RFC3339)
	require.Equal(t, now.Add(8*time.Hour), newRun().planKnown(c, known).write.Claimed.Until, "it may have been extended")
	c.attempts[2].record = nil
	require.Equal(t, &pools.Claimed{Until: now.Add(8 * time.Hour)}, newRun().planKnown(c, known).write.Claimed, "whoever it was")
	known.Pooled = false
	require.Nil(t, newRun().planKnown(c, known).write.Claimed)
}

func TestANumberThatWasUsedTwiceHidesNoName(t *testing.T) {
	c := seen("create")
	c.attempts[1].snapshots = []artifacts.Snapshot{{InfraID: "shop-zzzzz"}}
	p := newRun().planKnown(c, store.RecoveryRow{ID: "clu_1", Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1", Status: lifecycle.Creating,
		Desired: lifecycle.Present, Newest: 4, Identities: []string{"shop-abcde"}})
	require.Len(t, p.write.Attempts, 1)
	require.Equal(t, 5, p.write.Attempts[0].Number)
	require.Equal(t, "shop-zzzzz", p.write.Attempts[0].Identity.InfraID)
}

func TestAClusterOnIBMCloudIsNamedByItsResources(t *testing.T) {
	r := newRun()
	r.BaseDomain = func(platform string) string { return platform + ".example.com" }
	c := r.clusterOf("clu_2")
	first := names.Scope{Platform: names.IBMCloud, Installation: "test", Cluster: "clu_2", Attempt: 1, Name: "shop"}
	c.names = []string{"shop-abcde-vpc", "kube-shop-abcde-0a1b", "pvc-1", "shopping-fghij-vpc", first.CCOName()}
	c.addResource(names.IBMCloud, "us-south", cloudtags.Resource{
		ARN: "crn:v1:bluemix:public:is:us-south:a/0a1b2c3d4e5f60718293a4b5c6d7e8f9::vpc:r006-1", Tags: map[string]string{tagkey.ClusterID: "clu_2", tagkey.ClusterName: "shop"},
	})
	p := r.planUnknown(c)
	require.Empty(t, p.person)
	require.Equal(t, []string{names.IBMCloud, "us-south", "ibmcloud.example.com"}, []string{p.write.New.Platform, p.write.New.Region, p.write.New.BaseDomain})
	require.Len(t, p.write.Attempts, 1)
	identity := p.write.Attempts[0].Identity
	require.Equal(t, []string{"shop-abcde", first.CCOName()}, []string{identity.InfraID, identity.CCOName})
	require.Contains(t, identity.Metadata, `"resourceGroupName":"`+first.CCOName()+`"`)

	second := first
	second.Attempt = 2
	infraIDs, group := first.FromNames(append(c.names, second.CCOName()), 2)
	require.Equal(t, []string{"shop-abcde"}, infraIDs)
	require.Empty(t, group, "two groups: nobody knows which it is in")
}
