package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestALeakOpensTheTeardownOfAReleasedClusterAgainAndItCountsUntilTheNewProof(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	_, err := s.Pool().Exec(t.Context(), `UPDATE removals SET done_at = $2 WHERE cluster_id = $1`, row.ID, clock.Now())
	require.NoError(t, err)
	clock.Pass(time.Hour)
	found := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)

	d := storetest.Step(t, s, row.ID)
	require.Equal(t, lifecycle.Destroy, d.Open, "a new teardown begins at once")
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroying, row.Status)
	require.Contains(t, row.Why.String(), "found again: arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1 was seen after the final count")
	require.True(t, row.ReleasedAt.IsZero())
	require.Equal(t, 1, row.Reopened)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM orphans WHERE id = $1 AND state = 'removing'`, found))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'JANITOR_DESTROY' AND status = 'RUNNING'`, row.ID))
	usage, err := s.Usage(t.Context(), usage.Scope{Person: "github:maya"})
	require.NoError(t, err)
	require.Equal(t, 1, usage.Person.Live, "it counts again")
	clock.Pass(time.Hour)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	before := row.Meter.Spent(clock.Now())
	require.Positive(t, row.Meter.Rate, "and costs again")

	again := storetest.Counted(t, s, clock, row.ID)
	require.Equal(t, lifecycle.Destroyed, again.Status)
	require.GreaterOrEqual(t, again.Meter.Spent(clock.Now()), before)
	due, err := s.Reports.DueRemovals(t.Context(), time.Hour, 10)
	require.NoError(t, err)
	require.NotEmpty(t, due, "what the second teardown stored is removed too")
	require.Equal(t, reports.RemoveAccess, due[0].Kind)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE cause = $1`, row.ID+":destroyed:1"), "its second end is announced too")
	require.False(t, storetest.Step(t, s, row.ID).Next.WakeAt.After(time.Time{}), "and it is left alone again")
}

func TestWithoutAnApprovedLeakReleasedIsFinal(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	for _, state := range []lifecycle.OrphanState{lifecycle.OrphanSeen, lifecycle.OrphanReported, lifecycle.OrphanExempt, lifecycle.OrphanKept, lifecycle.OrphanRemoving} {
		clock.Pass(time.Minute)
		storetest.Orphan(t, s, clock, row.ID, "shop-"+string(state), state)
	}
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
	storetest.Refuses(t, s, "only a leak whose removal is allowed", `
		UPDATE clusters SET status = 'DESTROYING', phase = 'restoring', destroyed_at = NULL, wake_at = now(), reopened = 1, reopened_at = now() WHERE id = $1`, row.ID)
}

func TestASightFromBeforeTheReleaseOpensNothing(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	id := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	_, err := s.Pool().Exec(t.Context(), `UPDATE orphans SET last_seen_at = $2 WHERE id = $1`, id, row.ReleasedAt.Add(-time.Second))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
}

func TestATeardownIsNotOpenedAgainWhileALivingClusterHasTheName(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	newer := storetest.Accept(t, s, storetest.Granted("shop"))
	clock.Pass(time.Hour)
	found := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	_, facts, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, newer.ID, facts.Leaked.NameOf)
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM orphans WHERE id = $1 AND state = 'approved'`, found), "it waits")
}

func TestANameThatIsTakenBetweenTheDecisionAndItsWriteIsRefused(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(time.Hour)
	storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	c, facts, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	decision := lifecycle.Decide(c, facts, storetest.Limits)
	storetest.Accept(t, s, storetest.Granted("shop"))
	require.ErrorIs(t, s.Apply(t.Context(), decision, c.Version), db.ErrStale, "it is decided again, and then it waits")
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
}

func TestAProofFromBeforeALeakDoesNotReleaseAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(time.Hour)
	storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	storetest.Step(t, s, row.ID)
	_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'cancelled' WHERE cluster_id = $1 AND closed_at IS NULL`, row.ID, clock.Now())
	require.NoError(t, err)
	require.NotEqual(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
	_, err = s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'lost' WHERE cluster_id = $1 AND closed_at IS NULL`, row.ID, clock.Now())
	require.NoError(t, err)
	storetest.Refuses(t, s, "has no proof of zero", `UPDATE clusters SET status = 'DESTROYED', phase = 'released', destroyed_at = now() WHERE id = $1`, row.ID)
}

func TestTheCensusFollowsATeardownThatIsOpenedAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	storetest.Gone(t, s, clock, "other")
	clock.Pass(time.Hour)
	census, err := s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, census.Clusters[lifecycle.Destroyed])
	storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	storetest.Step(t, s, row.ID)
	census, err = s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, census.Clusters[lifecycle.Destroyed])
	storetest.Counted(t, s, clock, row.ID)
	census, err = s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, census.Clusters[lifecycle.Destroyed])
}

func TestALeakOfAnAbandonedClusterIsToldAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := blocked(t, s, clock)
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO access (id, cluster_id, number, reader, reader_name, role, by_right, lifetime, account, asked_at, attempt, revoked_at, revoke_why)
		VALUES ('acc_1', $1, 1, 'github:maya', 'maya', 'view', 'role', '1 hour', 'maya-1', $2, 1, $2, 'its cluster ends')`, row.ID, clock.Now())
	require.NoError(t, err)
	told := func() int {
		return storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE event = $1 AND cluster_id = $2`, clusters.EventBlocked, row.ID)
	}
	require.NoError(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "ticket 4711"}))
	require.Equal(t, lifecycle.Abandoned, storetest.Settled(t, s, row.ID).Phase)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	storetest.Zero(t, s, clock, open)
	require.Equal(t, lifecycle.Released, storetest.Settled(t, s, row.ID).Phase)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM access WHERE removed_at IS NOT NULL`), "its accounts are gone with it")
	require.Equal(t, 1, told())

	clock.Pass(time.Hour)
	storetest.Orphan(t, s, clock, row.ID, "demo-abcde", lifecycle.OrphanApproved)
	for range storetest.Limits.BlockAfter {
		storetest.Step(t, s, row.ID)
		storetest.Leaves(t, s, row.ID)
		storetest.Step(t, s, row.ID)
		clock.Pass(storetest.Limits.RetryMax)
	}
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.DestroyBlocked, row.Phase, "nobody abandoned what came to light later")
	require.Equal(t, 2, told())
}
