package store_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestAcceptWritesEverythingAtOnce(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	a := storetest.FromPR(storetest.Granted("pr41-shop"), 41)
	a.Row.ID, a.Row.JobID = db.NewID("clu"), db.NewID("job")
	a.Reply = &clusters.Reply{Cause: "comment:1", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "on its way"}

	row, err := storetest.Judge(s, storetest.Requests(a), a)
	require.NoError(t, err)
	require.Equal(t, a.Row.ID, row.ID)
	require.Equal(t, a.Row.JobID, row.JobID)
	require.Equal(t, clock.Now(), row.AcceptedAt)
	require.Equal(t, clock.Now().Add(4*time.Hour), row.DestroyAt)
	require.Equal(t, clock.Now().Add(8*time.Hour), row.Ends.Max)
	require.Equal(t, 4*time.Hour, row.TTL)
	require.Equal(t, lifecycle.Pending, row.Status)
	require.Equal(t, lifecycle.Queued, row.Phase)
	require.Equal(t, int64(1), row.Version)
	require.Equal(t, a.Row.Spec, row.Spec)
	require.Equal(t, a.Row.Tags, row.Tags)
	require.Equal(t, a.Row.PR, row.PR)
	require.Nil(t, row.Outputs)
	require.Empty(t, row.Identities)

	job, err := s.Reports.Job(t.Context(), row.JobID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.JobCreate, job.Type)
	require.Equal(t, lifecycle.JobPending, job.Status)
	subs, err := s.Outbox.Subscribers(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"github_comment", "github_check", "github_deployment", "github_label"}, storetest.Kinds(subs))
	events, err := s.Timeline(t.Context(), row.ID)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, "accepted", events[0].Action)
	require.Equal(t, "PENDING/queued", events[0].To)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events e JOIN cluster_requests q ON q.cluster_id = e.target_cluster_id
		WHERE e.action = 'accepted' AND e.source = 'pr_label' AND (e.metadata::jsonb -> 'verdict') = q.verdict::jsonb`), "the audit line has the verdict")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE allowed AND cluster_id = $1`, row.ID))
	require.Equal(t, 4, storetest.Count(t, s, `SELECT ttl_hours::int FROM clusters WHERE id = $1`, row.ID))
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1)
	require.Len(t, storetest.RiverJobs(t, s, "publish"), 4)
	require.Len(t, storetest.RiverJobs(t, s, "reply"), 1)
}

func TestARefusedAcceptLeavesNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.FromPR(storetest.Granted("pr41-shop"), 41)
	a.Row.Platform = "gcp"
	_, err := storetest.Judge(s, storetest.Requests(a), a)
	require.ErrorIs(t, err, db.ErrConflict)
	for _, table := range []string{"clusters", "cluster_requests", "jobs", "subscribers", "audit_events", "river_job", "usage_samples"} {
		require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM `+table), table)
	}
}

func TestAnIdempotencyKeyIsReplayed(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("one")
	first, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(a), "key-1"), a)
	require.NoError(t, err)
	a.Row.Name = "two"
	again, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(a), "key-1"), a)
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM clusters`))

	a.Row.RequestedBy = "github:will"
	other, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(a), "key-1"), a)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, other.ID, "a key belongs to its principal")
}

func TestTheSameKeyAtTheSameTimeMakesOneCluster(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("one")
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			row, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(a), "key-1"), a)
			if err == nil {
				ids[i] = row.ID
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.NotEmpty(t, ids[0])
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM clusters`))
}

func TestALiveNameIsTakenUntilItsClusterIsReleased(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	again := storetest.Granted("shop")
	judged, err := s.Judge(t.Context(), storetest.Requests(again), func(usage.Usage) (store.Judgement, error) { return again, nil })
	require.ErrorIs(t, err, db.ErrNameTaken)
	require.Equal(t, again.Verdict, judged.Verdict, "the caller learns which verdict it was")
	require.Empty(t, judged.Request, "nothing was stored")

	elsewhere := storetest.Granted("shop")
	elsewhere.Row.BaseDomain = "other.example.com"
	storetest.Accept(t, s, elsewhere)

	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	_, err = storetest.Judge(s, storetest.Requests(storetest.Granted("shop")), storetest.Granted("shop"))
	require.ErrorIs(t, err, db.ErrNameTaken, "a cluster that is going still has its name")

	require.Equal(t, lifecycle.Destroyed, storetest.Step(t, s, row.ID).Next.Status)
	storetest.Accept(t, s, storetest.Granted("shop"))
}

func TestAPullRequestWantsOneClusterPerProfile(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	first := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("one"), 41))
	again := storetest.FromPR(storetest.Granted("two"), 41)
	again.Row.Generation = 2
	_, err := storetest.Judge(s, storetest.Requests(again), again)
	require.ErrorIs(t, err, db.ErrConflict)
	require.False(t, errors.Is(err, db.ErrNameTaken))

	_, err = s.Destroy(t.Context(), first.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	second := storetest.Accept(t, s, again)
	newest, err := s.ClusterForPR(t.Context(), "acme/shop", 41, "aws-minimal-test")
	require.NoError(t, err)
	require.Equal(t, second.ID, newest.ID)
	_, err = s.ClusterForPR(t.Context(), "acme/shop", 42, "aws-minimal-test")
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestARefusalIsKeptAndAnsweredOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("later")
	a.Row.RequestedBy = "github:rita"
	ask := storetest.Keyed(storetest.Requests(a), "comment:9")
	refused := func(usage.Usage) (store.Judgement, error) {
		return store.Judgement{
			Verdict: []byte(`{"allowed":false,"checks":[{"name":"permission","result":"fail","words":"read is not enough"}]}`),
			Failed:  []byte(`[{"name":"permission","result":"fail","words":"read is not enough"}]`),
			Reply:   &clusters.Reply{Cause: "comment:9", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "no"},
		}, nil
	}
	first, err := s.Judge(t.Context(), ask, refused)
	require.NoError(t, err)
	require.False(t, first.Allowed)
	again, err := s.Judge(t.Context(), ask, refused)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE NOT allowed AND verdict->'checks'->0->>'words' = 'read is not enough'`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'refused' AND metadata->'checks'->0->>'name' = 'permission'`))
	require.Len(t, storetest.RiverJobs(t, s, "reply"), 1)

	row, err := storetest.Judge(s, ask, a)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE id = $1 AND allowed AND cluster_id = $2`, first.Request, row.ID),
		"a refusal gives way to a grant")
}
