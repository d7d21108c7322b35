package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAReadyClusterIsAdoptedAsReadyOnce(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	r.Attempts[0].Outputs = storetest.Outputs()
	wrote, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.True(t, wrote)
	row, err := s.Cluster(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, row.Status)
	require.Equal(t, "https://api.x", row.Outputs.APIURL)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'recovered' AND target_cluster_id = $1`, r.ID))

	r.New = nil
	wrote, err = s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.False(t, wrote)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'recovered'`))

	clock.Pass(2 * time.Hour)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, r.ID).Open)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT max(number) FROM attempts`))
}

func TestAnAdoptedClusterThatIsNotWantedIsTornDownAfterTheLease(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	r.Absent = "not known to be ready"
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Empty(t, storetest.Step(t, s, r.ID).Open, "its runner may be alive")
	clock.Pass(r.Wait)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, r.ID).Open)
	_, facts, err := s.Load(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-abcde"}, facts.Identities, "its name has to be counted")
}

func TestTheIDOfAResourceGroupIsRecoveredWithItsName(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	i := &r.Attempts[0].Identity
	i.CCOName, i.ResourceGroupID = "shop-b2c3d4e5f6", "0123456789abcdef0123456789abcdef"
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE cco_name = $1 AND resource_group_id = $2`, i.CCOName, i.ResourceGroupID))
}

func TestARunnerOfARecoveredAttemptIsRefused(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	_, err := s.Recover(t.Context(), storetest.Found(clock, "shop"))
	require.NoError(t, err)
	_, err = s.Record(t.Context(), "att_shop", "its-token", storetest.Identity("shop-fghij"), nil)
	require.ErrorIs(t, err, db.ErrFenced)
}

func TestNewerAttemptsCloseTheOpenOneAndRaiseTheNumber(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, _ := storetest.Claimed(t, s, "shop")
	_, err := s.Recover(t.Context(), store.RecoveredCluster{ID: row.ID, Why: "found", Wait: time.Minute, Attempts: []store.RecoveredAttempt{
		{Number: 1, Kind: lifecycle.Create, OpenedAt: clock.Now(), Identity: storetest.Identity("shop-abcde"), Artifacts: storetest.Bundles("shop-abcde")},
		{Number: 2, Kind: lifecycle.Destroy, OpenedAt: clock.Now()},
		{Number: 3, Kind: lifecycle.Create, OpenedAt: clock.Now(), Identity: storetest.Identity("shop-fghij")},
	}})
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE number = 1 AND outcome = 'lost' AND infra_id = 'shop-abcde'`))
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	clock.Pass(time.Minute)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open, "what the newest made is cleaned up first")
	require.Equal(t, 4, storetest.Count(t, s, `SELECT max(number) FROM attempts`))
}

func TestAnOpenAttemptThatSucceededAfterTheBackupMakesItsClusterReady(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, _ := storetest.Claimed(t, s, "shop")
	_, err := s.Recover(t.Context(), store.RecoveredCluster{ID: row.ID, Why: "found", Attempts: []store.RecoveredAttempt{
		{Number: 1, Kind: lifecycle.Create, OpenedAt: clock.Now(), Identity: storetest.Identity("shop-abcde"), Artifacts: storetest.Bundles("shop-abcde"), Outputs: storetest.Outputs()},
	}})
	require.NoError(t, err)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, row.Status)
}

func TestAnAttemptThatStillRunsGoesOnWithWhatItRecordedSince(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, attempt := storetest.Claimed(t, s, "shop")
	_, err := s.Recover(t.Context(), store.RecoveredCluster{ID: row.ID, Why: "found", Attempts: []store.RecoveredAttempt{
		{Number: 1, Kind: lifecycle.Create, OpenedAt: clock.Now(), Identity: storetest.Identity("shop-abcde"), Artifacts: storetest.Bundles("shop-abcde")},
	}})
	require.NoError(t, err)
	lease, err := s.Record(t.Context(), attempt.Attempt, attempt.Token, storetest.Identity("shop-abcde"), nil)
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
}

func TestALivingNameIsNotTakenByARecovery(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	storetest.Accept(t, s, storetest.Granted("shop"))
	_, err := s.Recover(t.Context(), storetest.Found(clock, "shop"))
	require.ErrorIs(t, err, db.ErrNameTaken)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'recovered'`))
}

func TestARecoveredClusterThatMaySleepIsWoken(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	r.New.SleepMode = lifecycle.SleepStopped
	r.Attempts[0].Outputs = storetest.Outputs()
	r.Attempts = append(r.Attempts, store.RecoveredAttempt{Number: 2, Kind: lifecycle.Sleep, OpenedAt: clock.Now()})
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Empty(t, storetest.Step(t, s, r.ID).Open, "the runner that puts it to sleep may be alive")
	row, err := s.Cluster(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.Ready, lifecycle.Waking, lifecycle.Changing}, []any{row.Status, row.Phase, row.Power})
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM jobs WHERE job_type = 'WAKE' AND ended_at IS NULL`))
	clock.Pass(r.Wait)
	require.Equal(t, lifecycle.Wake, storetest.Step(t, s, r.ID).Open)
}
