package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// found is a cluster that the database does not know, with one create.
func found(clock *clock, name string) store.RecoveredCluster {
	row := granted(name).Row
	row.ID, row.AcceptedAt, row.MaxTries = "clu_"+name, clock.now().Add(-time.Hour), 1
	row.TTL, row.Ends.TTL, row.Ends.Max = 2*time.Hour, clock.now().Add(time.Hour), clock.now().Add(24*time.Hour)
	row.Status, row.Phase, row.Why = lifecycle.Creating, lifecycle.Configuring, "recovered"
	return store.RecoveredCluster{ID: row.ID, New: &row, Why: "found", Found: []string{"bucket"}, Wait: 16 * time.Minute, Attempts: []store.RecoveredAttempt{{
		ID: "att_" + name, Number: 1, Kind: lifecycle.Create, OpenedAt: row.AcceptedAt, Identity: identity(name + "-abcde"), Artifacts: bundles(name + "-abcde"),
	}}}
}

func outputs() *clusters.Outputs {
	return &clusters.Outputs{APIURL: "https://api.x", ConsoleURL: "https://c.x", KubeconfigRef: "s3://b/k", KubeadminRef: "s3:b", MetadataRef: "s3://b/m"}
}

func TestAReadyClusterIsAdoptedAsReadyOnce(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	r := found(clock, "shop")
	r.Attempts[0].Outputs = outputs()
	wrote, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.True(t, wrote)
	row, err := s.Cluster(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, row.Status)
	require.Equal(t, "https://api.x", row.Outputs.APIURL)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'recovered' AND target_cluster_id = $1`, r.ID))

	r.New = nil
	wrote, err = s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.False(t, wrote)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'recovered'`))

	clock.pass(2 * time.Hour)
	require.Equal(t, lifecycle.Destroy, step(t, s, r.ID).Open)
	require.Equal(t, 2, count(t, s, `SELECT max(number) FROM attempts`))
}

func TestAnAdoptedClusterThatIsNotWantedIsTornDownAfterTheLease(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	r := found(clock, "shop")
	r.Absent = "not known to be ready"
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Empty(t, step(t, s, r.ID).Open, "its runner may be alive")
	clock.pass(r.Wait)
	require.Equal(t, lifecycle.Destroy, step(t, s, r.ID).Open)
	_, facts, err := s.Load(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-abcde"}, facts.Identities, "its name has to be counted")
}

func TestTheIDOfAResourceGroupIsRecoveredWithItsName(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	r := found(clock, "shop")
	i := &r.Attempts[0].Identity
	i.CCOName, i.ResourceGroupID = "shop-b2c3d4e5f6", "0123456789abcdef0123456789abcdef"
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM attempts WHERE cco_name = $1 AND resource_group_id = $2`, i.CCOName, i.ResourceGroupID))
}

func TestARunnerOfARecoveredAttemptIsRefused(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	_, err := s.Recover(t.Context(), found(clock, "shop"))
	require.NoError(t, err)
	_, err = s.Record(t.Context(), "att_shop", "its-token", identity("shop-fghij"), nil)
	require.ErrorIs(t, err, db.ErrFenced)
}

func TestNewerAttemptsCloseTheOpenOneAndRaiseTheNumber(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row, _ := claimed(t, s, "shop")
	_, err := s.Recover(t.Context(), store.RecoveredCluster{ID: row.ID, Why: "found", Wait: time.Minute, Attempts: []store.RecoveredAttempt{
		{Number: 1, Kind: lifecycle.Create, OpenedAt: clock.now(), Identity: identity("shop-abcde"), Artifacts: bundles("shop-abcde")},
		{Number: 2, Kind: lifecycle.Destroy, OpenedAt: clock.now()},
		{Number: 3, Kind: lifecycle.Create, OpenedAt: clock.now(), Identity: identity("shop-fghij")},
	}})
	require.NoError(t, err)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM attempts WHERE number = 1 AND outcome = 'lost' AND infra_id = 'shop-abcde'`))
	require.Empty(t, step(t, s, row.ID).Open)
	clock.pass(time.Minute)
	require.Equal(t, lifecycle.Destroy, step(t, s, row.ID).Open, "what the newest made is cleaned up first")
	require.Equal(t, 4, count(t, s, `SELECT max(number) FROM attempts`))
}

func TestAnOpenAttemptThatSucceededAfterTheBackupMakesItsClusterReady(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row, _ := claimed(t, s, "shop")
	_, err := s.Recover(t.Context(), store.RecoveredCluster{ID: row.ID, Why: "found", Attempts: []store.RecoveredAttempt{
		{Number: 1, Kind: lifecycle.Create, OpenedAt: clock.now(), Identity: identity("shop-abcde"), Artifacts: bundles("shop-abcde"), Outputs: outputs()},
	}})
	require.NoError(t, err)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, row.Status)
}

func TestAnAttemptThatStillRunsGoesOnWithWhatItRecordedSince(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row, attempt := claimed(t, s, "shop")
	_, err := s.Recover(t.Context(), store.RecoveredCluster{ID: row.ID, Why: "found", Attempts: []store.RecoveredAttempt{
		{Number: 1, Kind: lifecycle.Create, OpenedAt: clock.now(), Identity: identity("shop-abcde"), Artifacts: bundles("shop-abcde")},
	}})
	require.NoError(t, err)
	lease, err := s.Record(t.Context(), attempt.Attempt, attempt.Token, identity("shop-abcde"), nil)
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
}

func TestALivingNameIsNotTakenByARecovery(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	accept(t, s, granted("shop"))
	_, err := s.Recover(t.Context(), found(clock, "shop"))
	require.ErrorIs(t, err, db.ErrNameTaken)
	require.Zero(t, count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'recovered'`))
}

func TestARecoveredClusterThatMaySleepIsWoken(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	r := found(clock, "shop")
	r.New.SleepMode = lifecycle.SleepStopped
	r.Attempts[0].Outputs = outputs()
	r.Attempts = append(r.Attempts, store.RecoveredAttempt{Number: 2, Kind: lifecycle.Sleep, OpenedAt: clock.now()})
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Empty(t, step(t, s, r.ID).Open, "the runner that puts it to sleep may be alive")
	row, err := s.Cluster(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.Ready, lifecycle.Waking, lifecycle.Changing}, []any{row.Status, row.Phase, row.Power})
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM jobs WHERE job_type = 'WAKE' AND ended_at IS NULL`))
	clock.pass(r.Wait)
	require.Equal(t, lifecycle.Wake, step(t, s, r.ID).Open)
}
