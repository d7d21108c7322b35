package recovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/controller/recovery"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/statistics"
)

// sky is a cloud with resources by region.
type sky struct {
	resources map[string][]cloudtags.Resource
	err       error
}

func (s *sky) Tagged(_ context.Context, region, key, value string) (found []cloudtags.Resource, err error) {
	for _, r := range s.resources[region] {
		if r.Tags[key] == value {
			found = append(found, r)
		}
	}
	return found, s.err
}

func resource(id, name, infraID string) cloudtags.Resource {
	return cloudtags.Resource{ARN: "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-" + name, Tags: map[string]string{
		tagkey.Installation: "test", tagkey.ClusterID: id, tagkey.ClusterName: name, tagkey.KubernetesCluster + infraID: "owned",
	}}
}

// world is an empty database and bucket, and a cloud.
func world(t *testing.T) (recovery.Config, *sky) {
	t.Helper()
	s3test.Setenv(t)
	limits := lifecycle.Limits{RetryBase: time.Second, RetryMax: time.Hour, LookAgain: time.Second, LaunchPatience: time.Minute, LeaseGrace: time.Minute, BlockAfter: 3, VerifyGap: time.Second}
	s, err := store.Open(t.Context(), pgtest.New(t), db.Options{Limits: limits, Lease: time.Minute, Installation: "test"})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	name := s3test.Bucket(t)
	bucket, err := artifacts.New(t.Context(), artifacts.Config{Bucket: name, TempDir: t.TempDir()})
	require.NoError(t, err)
	over := &sky{resources: map[string][]cloudtags.Resource{}}
	return recovery.Config{
		Store: s, Bucket: bucket, BucketName: name, Cloud: over, Regions: []string{"eu-west-1"}, Installation: "test", BaseDomain: func(string) string { return "labs.example.com" },
		Version: func(string) string { return "4.20.3" }, Spec: func(string, string) clusters.Spec { return clusters.Spec{Zones: []string{}} }, Keep: time.Hour, Wait: time.Minute, Log: slog.New(slog.DiscardHandler),
	}, over
}

func TestAClusterThatOnlyTheCloudKnowsIsAdoptedAndTornDown(t *testing.T) {
	cfg, over := world(t)
	over.resources["eu-west-1"] = []cloudtags.Resource{
		resource("clu_1", "shop", "shop-abcde"),
		{ARN: "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-other", Tags: map[string]string{tagkey.Installation: "other", tagkey.ClusterID: "clu_9"}},
	}
	lines, err := recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, lines, 1, "another installation's resources are nobody's business")
	row, err := cfg.Store.Cluster(t.Context(), "clu_1")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Absent, row.Desired)
	require.Equal(t, []string{"shop-abcde"}, row.Identities)
	require.Equal(t, "eu-west-1", row.Region)

	lines, err = recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, lines)
}

func TestWhatContradictsOrCannotBeNamedIsAFindingUntilItIsResolved(t *testing.T) {
	cfg, over := world(t)
	nobodys := resource("", "", "x")
	over.resources["eu-west-1"] = []cloudtags.Resource{resource("clu_1", "shop", "shop-abcde"), resource("clu_2", "shop", "shop-fghij"), nobodys}
	lines, err := recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	need := 0
	for _, l := range lines {
		if l.Person {
			need++
		}
	}
	require.Equal(t, 2, need, "%+v", lines)
	open, err := cfg.Store.Reports.Findings(t.Context(), reports.FindingFilter{Kind: lifecycle.Orphan})
	require.NoError(t, err)
	require.Len(t, open, 2)
	_, err = cfg.Store.Cluster(t.Context(), "clu_2")
	require.ErrorIs(t, err, db.ErrNotFound, "two living clusters never share a name")

	over.resources["eu-west-1"] = over.resources["eu-west-1"][:1]
	_, err = recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	open, err = cfg.Store.Reports.Findings(t.Context(), reports.FindingFilter{Kind: lifecycle.Orphan})
	require.NoError(t, err)
	require.Empty(t, open)
}

func TestACloudThatDoesNotAnswerDoesNotHideWhatTheBucketKnows(t *testing.T) {
	cfg, over := world(t)
	over.err = errors.New("throttled")
	raw, err := json.Marshal(contract.AttemptRecord{
		Attempt: "att_1", Number: 2, Kind: "create", Cluster: "clu_1", Installation: "test", Name: "shop", BaseDomain: "labs.example.com", Platform: "aws",
		Region: "eu-west-1", Version: "4.20.3", Account: "123456789012", CredentialsMode: "Manual", Tags: map[string]string{tagkey.Installation: "test"},
		Accepted: &contract.Accepted{At: time.Now().Add(-time.Hour), Profile: "standard", Generation: 3, RequestedBy: "github:maya", Source: "pr_label", Account: "own", Exclusive: true, CloudRole: &contract.CloudRole{ARN: "arn:r", ExternalID: "kept"},
			PullRequest: &contract.PullRequest{Installation: 1, Repo: "acme/shop", Number: 7, Head: "abc"}},
	})
	require.NoError(t, err)
	_, err = cfg.Bucket.PutOnce(t.Context(), artifacts.AttemptKey("clu_1", "create", 2, time.Now()), raw)
	require.NoError(t, err)

	cfg.DryRun = true
	lines, err := recovery.Run(t.Context(), cfg)
	require.ErrorContains(t, err, "throttled")
	require.Len(t, lines, 1)
	_, err = cfg.Store.Cluster(t.Context(), "clu_1")
	require.ErrorIs(t, err, db.ErrNotFound, "a dry run writes nothing")

	cfg.DryRun = false
	_, err = recovery.Run(t.Context(), cfg)
	require.ErrorContains(t, err, "throttled")
	row, err := cfg.Store.Cluster(t.Context(), "clu_1")
	require.NoError(t, err)
	require.Equal(t, "standard", row.Profile)
	require.Equal(t, []any{"own", true}, []any{row.Account, row.Exclusive}, "nobody else gets its account")
	require.Equal(t, &contract.CloudRole{ARN: "arn:r", ExternalID: "kept"}, row.Spec.CloudRole)
	var id string
	require.NoError(t, cfg.Store.Pool().QueryRow(t.Context(), `SELECT id FROM external_ids WHERE account = '123456789012'`).Scan(&id))
	require.Equal(t, "kept", id, "its owner wrote it down")
	require.Equal(t, 7, row.PR.Number)
	require.Len(t, row.Identities, 1, "the name that ccoctl ran with")
	list, err := cfg.Store.Attempts.List(t.Context(), "clu_1")
	require.NoError(t, err)
	require.Equal(t, 2, list[0].Number)
}

// approved stores an orphan that only tags tell of, whose removal was approved.
func approved(t *testing.T, s *store.Store, cluster string) (id string) {
	t.Helper()
	id = db.NewID("orp")
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, class, why, regions, managed_by, resources, evidence,
			first_seen_at, last_seen_at, sights, state, state_at, state_why)
		VALUES ($1, 'aws', '123456789012', 'test', $2, 'shop-abcde', '', 'unknown', 'no row', '{eu-west-1}', true, 1, '{vpc-1}', now(), now(), 2, 'approved', now(), 'ada approved it')`, id, cluster)
	require.NoError(t, err)
	return id
}

func TestAClusterThatAScanFoundIsAdoptedOnlyToBeTornDown(t *testing.T) {
	cfg, _ := world(t)
	a := recovery.Adoption{Orphan: approved(t, cfg.Store, "clu_1"), Cluster: "clu_1", Platform: "aws", Account: "123456789012", Why: "a scan found it",
		Resources: []recovery.Tagged{{Resource: resource("clu_1", "shop", "shop-abcde"), Region: "eu-west-1"}}}
	require.NoError(t, cfg.Adopt(t.Context(), a))
	row, err := cfg.Store.Cluster(t.Context(), "clu_1")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Absent, row.Desired)
	require.Equal(t, "a scan found it", row.DesiredWhy.String())
	require.Equal(t, []string{"shop-abcde"}, row.Identities)
	require.Equal(t, "123456789012", row.Spec.Account, "its teardown compares it with its own")
	var account string
	require.NoError(t, cfg.Store.Pool().QueryRow(t.Context(), `SELECT account FROM attempts WHERE infra_id = 'shop-abcde'`).Scan(&account))
	require.Equal(t, "123456789012", account)
	_, err = cfg.Store.Pool().Exec(t.Context(), `UPDATE orphans SET cluster_id = 'clu_1' WHERE id = $1`, a.Orphan) // as the next scan sees it
	require.NoError(t, err)
	removal, err := cfg.Store.Scans.Removal(t.Context(), a.Orphan)
	require.NoError(t, err)
	require.Equal(t, "clu_1", removal.Of.ID)
	require.Zero(t, removal.Of.AcceptedAt, "its resources are older than its row, and are its own")
	isInNoReport(t, cfg.Store)

	b := recovery.Adoption{Orphan: approved(t, cfg.Store, "clu_2"), Cluster: "clu_2", Platform: "aws", Account: "123456789012", Why: "a scan found it",
		Resources: []recovery.Tagged{{Resource: resource("clu_2", "shop", "shop-fghij"), Region: "eu-west-1"}}}
	require.ErrorIs(t, cfg.Adopt(t.Context(), b), db.ErrNameTaken, "its teardown would delete the other's DNS records")

	b.Resources = append(b.Resources, recovery.Tagged{Resource: cloudtags.Resource{ARN: "arn:x", Tags: map[string]string{tagkey.Installation: "other"}}})
	require.ErrorIs(t, cfg.Adopt(t.Context(), b), recovery.ErrUnfit, "nothing of another installation is adopted")
}

// With an empty bucket, tags alone tell what ccoctl made.
func TestAnAdoptedClusterKnowsWhatItsTagsTellOfCcoctl(t *testing.T) {
	cfg, _ := world(t)
	id := "clu_1"
	of := names.Scope{Installation: "test", Cluster: id, Attempt: 2, Name: "shop"}
	role := func(cluster, name string) recovery.Tagged {
		return recovery.Tagged{Region: "global", Resource: cloudtags.Resource{ARN: "arn:aws:iam::123456789012:role/" + name, Tags: map[string]string{
			tagkey.ClusterID: cluster, tagkey.CloudCredential + name: tagkey.Owned,
		}}}
	}
	a := recovery.Adoption{Orphan: approved(t, cfg.Store, id), Cluster: id, Platform: "aws", Account: "123456789012", Why: "a scan found it",
		Resources: []recovery.Tagged{{Resource: resource(id, "shop", "shop-abcde"), Region: "eu-west-1"}},
		Beside:    []recovery.Tagged{role(id, of.CCOName()), role(id, of.CCOName()), role(id, "bank-aaaaaaaaaa"), role("", "shop-bbbbbbbbbb")}}
	require.NoError(t, cfg.Adopt(t.Context(), a))
	row, err := cfg.Store.Cluster(t.Context(), id)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"shop-abcde", of.CCOName()}, row.Identities)

	a.Beside = append(a.Beside, role("clu_9", "shop-cccccccccc"))
	require.ErrorIs(t, cfg.Adopt(t.Context(), a), recovery.ErrUnfit, "another cluster's")
}

// isInNoReport requires that the only cluster, of which nothing but the cloud's tags told, counts as nobody's request.
func isInNoReport(t *testing.T, s *store.Store) {
	t.Helper()
	var attempts int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM attempts WHERE kind = 'create' AND outcome = 'lost' AND reason = 'FoundInCloud'`).Scan(&attempts))
	require.Equal(t, 1, attempts, "no database was restored")
	_, err := s.Pool().Exec(t.Context(), `UPDATE usage_samples SET sample_time = now() - interval '1 hour', estimated_hourly_cost = 100`)
	require.NoError(t, err)
	from, to := time.Now().Add(-24*time.Hour), time.Now().Add(time.Hour)
	sum, err := s.Statistics.Summary(t.Context(), statistics.Filter{From: from, To: to})
	require.NoError(t, err)
	for _, week := range sum.Weeks {
		require.Zero(t, week.FailedCreates)
		require.Zero(t, week.Accepted)
	}
	require.Empty(t, sum.Failures)
	lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: from, By: "owner"})
	require.NoError(t, err)
	require.Empty(t, lines)
	require.NoError(t, s.Costs.Charges(t.Context(), costs.Filter{From: from}, func(c costs.Charge) error {
		return fmt.Errorf("%s is charged", c.Owner)
	}))
}

func TestAClusterWhoseRecordTellsOfAnotherAccountIsNotAdopted(t *testing.T) {
	cfg, _ := world(t)
	raw, err := json.Marshal(contract.AttemptRecord{
		Attempt: "att_1", Number: 1, Kind: "create", Cluster: "clu_1", Installation: "test", Name: "shop", BaseDomain: "labs.example.com", Platform: "aws",
		Region: "eu-west-1", Version: "4.20.3", Account: "210987654321",
	})
	require.NoError(t, err)
	_, err = cfg.Bucket.PutOnce(t.Context(), artifacts.AttemptKey("clu_1", "create", 1, time.Now()), raw)
	require.NoError(t, err)
	err = cfg.Adopt(t.Context(), recovery.Adoption{Orphan: approved(t, cfg.Store, "clu_1"), Cluster: "clu_1", Platform: "aws", Account: "123456789012", Why: "a scan found it",
		Resources: []recovery.Tagged{{Resource: resource("clu_1", "shop", "shop-abcde"), Region: "eu-west-1"}}})
	require.ErrorIs(t, err, recovery.ErrUnfit)
	require.ErrorContains(t, err, `its record tells of "210987654321"`)
	_, err = cfg.Store.Cluster(t.Context(), "clu_1")
	require.ErrorIs(t, err, db.ErrNotFound)
}

// No name tells where the API of a hosted cluster is, and a recovery may not read its kubeconfig.
func TestAHostedClusterIsFoundWhereItsMetadataSays(t *testing.T) {
	cfg, _ := world(t)
	putCreate(t, cfg, contract.AttemptRecord{
		Attempt: "att_1", Number: 1, Kind: "create", Cluster: "clu_1", Installation: "test", Name: "shop", BaseDomain: "apps.hub.example.com", Platform: names.Kubernetes,
		Region: "lab", Version: "4.20.3", Account: "5f0c1b1e-0000-4000-8000-000000000001", CredentialsMode: "Manual", Tags: map[string]string{tagkey.Installation: "test"},
		Accepted: &contract.Accepted{At: time.Now().Add(-time.Hour), Profile: "hosted", Provisioner: "hypershift", Account: "lab", RequestedBy: "github:maya", Source: "cli"},
		Identity: &contract.Identity{InfraID: "shop-abcde", ClusterUUID: "5f0c1b1e-0000-4000-8000-000000000002", Region: "lab"},
	})
	_, err := recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	row, err := cfg.Store.Cluster(t.Context(), "clu_1")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Present, row.Desired)
	require.Equal(t, "https://lb-1.hub.example.com:6443", row.Outputs.APIURL)
}

func TestAClusterThatTheBucketShowsAsReadyIsNotAdopted(t *testing.T) {
	cfg, _ := world(t)
	putCreate(t, cfg, contract.AttemptRecord{
		Attempt: "att_1", Number: 1, Kind: "create", Cluster: "clu_1", Installation: "test", Name: "shop", BaseDomain: "labs.example.com", Platform: "aws",
		Region: "eu-west-1", Version: "4.20.3", Account: "123456789012",
	})
	a := recovery.Adoption{Orphan: approved(t, cfg.Store, "clu_1"), Cluster: "clu_1", Platform: "aws", Account: "123456789012", Why: "a scan found it",
		Resources: []recovery.Tagged{{Resource: resource("clu_1", "shop", "shop-abcde"), Region: "eu-west-1"}}}
	err := cfg.Adopt(t.Context(), a)
	require.ErrorIs(t, err, recovery.ErrUnfit)
	require.ErrorContains(t, err, "a ready cluster that was not torn down")

	_, err = cfg.Bucket.PutOnce(t.Context(), artifacts.AttemptKey("clu_1", "destroy", 2, time.Now()), []byte(`{"attempt": "att_2", "number": 2, "kind": "destroy", "cluster": "clu_1"}`))
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(cfg.Adopt(t.Context(), a)), "a ready cluster", "its teardown had begun")
}
