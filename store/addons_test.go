package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

var twoAddons = []clusters.Addon{
	{Name: "cert-manager", Manifests: `{"kind":"List","items":[]}`, Waits: []clusters.AddonWait{
		{Kind: "crd", Name: "certificates.cert-manager.io", Condition: "Established", Timeout: 5 * time.Minute},
	}},
	{Name: "pr-namespace", Manifests: `{"kind":"List","items":[1]}`},
}

func furnished(name string) store.Judgement {
	a := storetest.Granted(name)
	a.Addons = twoAddons
	return a
}

func conditionOf(t testing.TB, s *store.Store, id, kind string) (q clusters.Condition) {
	t.Helper()
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT type, status, reason, message FROM conditions WHERE cluster_id = $1 AND type = $2`, id, kind).
		Scan(&q.Type, &q.Status, &q.Reason, &q.Message))
	return q
}

func TestAddonsAreFrozenWithTheCluster(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, furnished("shop"))
	require.Equal(t, []string{"cert-manager", "pr-namespace"}, row.Addons)
	storetest.Refuses(t, s, "never change", `UPDATE clusters SET addons = '{}' WHERE id = $1`, row.ID)
	storetest.Refuses(t, s, "never change", `UPDATE cluster_addons SET manifests = 'x' WHERE cluster_id = $1`, row.ID)
	storetest.Refuses(t, s, "never change", `DELETE FROM cluster_addons WHERE cluster_id = $1`, row.ID)
	storetest.Refuses(t, s, "clusters_work", `UPDATE clusters SET work = '{"configure": {"done": 1}}' WHERE id = $1`, row.ID)
	storetest.Refuses(t, s, "cluster_addons_manifests_check", `INSERT INTO cluster_addons VALUES ($1, 3, 'more', repeat('x', 200000), '[]')`, row.ID)

	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
	require.NoError(t, err)
	require.Equal(t, []clusters.Addon{twoAddons[0], {Name: "pr-namespace", Manifests: twoAddons[1].Manifests, Waits: []clusters.AddonWait{}}}, spec.Addons)
	require.Empty(t, storetest.Accept(t, s, storetest.Granted("bare")).Addons)
}

func TestARefreshIsWantedOncePerCauseAndTheNewestIsMet(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	bare := storetest.Accept(t, s, storetest.Granted("bare"))
	_, err := s.WantRefresh(t.Context(), bare.ID, "push:abc", storetest.Maya(""))
	require.ErrorContains(t, err, "the cluster is PENDING")
	_, err = s.WantRefresh(t.Context(), storetest.Usable(t, s, bare).ID, "push:abc", storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "without add-ons")

	row := storetest.Usable(t, s, storetest.Accept(t, s, furnished("shop")))
	stale := storetest.Maya("")
	stale.Version = row.Version + 1
	_, err = s.WantRefresh(t.Context(), row.ID, "push:abc", stale)
	require.ErrorIs(t, err, db.ErrStale)
	storetest.Lose(t, s)
	job, err := s.WantRefresh(t.Context(), row.ID, "push:abc", storetest.Maya("abc was pushed"))
	require.NoError(t, err)
	_, meta := storetest.Said(t, s, "refresh_asked")
	require.Equal(t, []any{1.0, job, "abc was pushed"}, []any{meta["after"], meta["job"], meta["why"]})
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1)
	again, err := s.WantRefresh(t.Context(), row.ID, "push:abc", storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, job, again)
	require.Equal(t, 1, wanted(t, s, row.ID), "a delivery that comes twice is one desired")

	require.Equal(t, lifecycle.Configure, storetest.Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	require.Equal(t, clusters.Condition{Type: "Configured", Status: "False", Reason: "Configuring", Message: "its add-ons are being brought anew"}, conditionOf(t, s, row.ID, "Configured"))
	another, err := s.WantRefresh(t.Context(), row.ID, "push:def", storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, job, another, "one job at a time")
	lease, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Configuring, Addons: []attempts.AddonState{
		{Name: "cert-manager", There: true, Reason: "Applied", Message: "it is there"},
		{Name: "pr-namespace", Reason: "NotReady", Message: "it never came.", Next: "Look at it."},
	}})
	require.NoError(t, err)
	require.Empty(t, lease.Stop, "what is under way goes on")
	require.Equal(t, clusters.Condition{Type: "AddonApplied/pr-namespace", Status: "False", Reason: "NotReady", Message: "it never came. Look at it."}, conditionOf(t, s, row.ID, "AddonApplied/pr-namespace"))
	require.Equal(t, "True", conditionOf(t, s, row.ID, "AddonApplied/cert-manager").Status)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Addons: new(2)})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Configure, storetest.Step(t, s, row.ID).Open, "the newer desired is met by one more")
	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Addons: new(2)})
	require.NoError(t, err)
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{2, 2, lifecycle.Ready}, []any{row.Work[lifecycle.Configure].Wanted, row.Work[lifecycle.Configure].Done, row.Status})
	require.Equal(t, "True", conditionOf(t, s, row.ID, "Configured").Status)
	attempts, err := s.Attempts.List(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{2, 2}, []any{*attempts[len(attempts)-1].AddonsWanted, *attempts[len(attempts)-1].AddonsSeen})

	_, err = s.Destroy(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	_, err = s.WantRefresh(t.Context(), row.ID, "push:fed", storetest.Maya(""))
	require.ErrorContains(t, err, "is going")
}

func wanted(t testing.TB, s *store.Store, id string) int {
	t.Helper()
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row.Work[lifecycle.Configure].Wanted
}

func TestOnlyWhatBringsAddonsTellsOfThem(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, furnished("shop"))
	storetest.Step(t, s, row.ID)
	create, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), create.Attempt, create.Token, "pod")
	require.NoError(t, err)
	_, err = s.Attempts.Report(t.Context(), create.Attempt, create.Token, attempts.ReportRow{Seq: 1, Addons: []attempts.AddonState{{Name: "other"}}})
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Attempts.Report(t.Context(), create.Attempt, create.Token, attempts.ReportRow{Seq: 1, Addons: []attempts.AddonState{{Name: "cert-manager", Reason: "Applying", Message: "it is being applied"}}})
	require.NoError(t, err)

	scaled := scalableAddons(t, s)
	_, err = s.Scale(t.Context(), scaled.ID, 4, storetest.Maya(""))
	require.NoError(t, err)
	storetest.Step(t, s, scaled.ID)
	scale, err := s.Attempts.OpenAttempt(t.Context(), scaled.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), scale.Attempt, scale.Token, "pod")
	require.NoError(t, err)
	_, err = s.Attempts.Report(t.Context(), scale.Attempt, scale.Token, attempts.ReportRow{Seq: 1, Addons: []attempts.AddonState{{Name: "cert-manager"}}})
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Attempts.Result(t.Context(), scale.Attempt, scale.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Addons: new(2)})
	require.ErrorIs(t, err, db.ErrConflict)
}

// scalableAddons is a ready cluster that can be scaled and has add-ons.
func scalableAddons(t testing.TB, s *store.Store) clusters.Row {
	t.Helper()
	a := furnished("both")
	a.Row.WorkersLeast, a.Row.WorkersBase, a.Row.WorkersMost = new(1), new(3), new(5)
	return storetest.Usable(t, s, storetest.Accept(t, s, a))
}

func TestARefreshDoesNotEndTheWaitOfAScalingThatFailed(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := scalableAddons(t, s)
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET workers_wanted = 4,
		work = jsonb_build_object('scale', jsonb_build_object('wanted', 1, 'failures', 1, 'retry_at', created_at + interval '1 hour')) WHERE id = $1`, row.ID)
	require.NoError(t, err)
	_, err = s.WantRefresh(t.Context(), row.ID, "push:abc", storetest.Maya(""))
	require.NoError(t, err)
	d := storetest.Step(t, s, row.ID)
	require.Equal(t, []any{lifecycle.Configure, 1, row.AcceptedAt.Add(time.Hour).UTC()}, []any{d.Open, d.Next.Work[lifecycle.Scale].Failures, d.Next.Work[lifecycle.Scale].RetryAt.UTC()})
}
