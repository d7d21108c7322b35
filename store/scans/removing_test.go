package scans_test

import (
	"fmt"
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

var findingLimits = lifecycle.FindingLimits{MinAge: 30 * time.Minute, MinSights: 2}

// change changes one orphan's columns.
func change(t *testing.T, s *store.Store, id, set string, args ...any) {
	t.Helper()
	_, err := s.Pool().Exec(t.Context(), `UPDATE orphans SET `+set+` WHERE id = $1`, append([]any{id}, args...)...)
	require.NoError(t, err)
}

func stateOf(t *testing.T, s *store.Store, id string) lifecycle.OrphanState {
	t.Helper()
	r, err := s.Scans.Removal(t.Context(), id)
	require.NoError(t, err)
	return r.Orphan.State
}

func TestARemovalIsApprovedAllOrNoneWithAnAuditLineForEach(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(time.Hour)
	one := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanReported)
	two := storetest.Orphan(t, s, clock, row.ID, "shop-fghij", lifecycle.OrphanExempt)
	early := storetest.Orphan(t, s, clock, row.ID, "shop-klmno", lifecycle.OrphanSeen)
	admin := clusters.Origin{Actor: "saml:ada@acme.example", Source: "api", Why: "it costs money"}

	err := s.Scans.Approve(t.Context(), []string{one, early}, admin)
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, early+": it was not seen often and long enough yet")
	require.Equal(t, lifecycle.OrphanReported, stateOf(t, s, one), "all or none")
	require.ErrorIs(t, s.Scans.Approve(t.Context(), []string{one, "orp_x"}, admin), db.ErrNotFound)

	require.NoError(t, s.Scans.Approve(t.Context(), []string{two, one, one}, admin))
	require.NoError(t, s.Scans.Approve(t.Context(), []string{one}, admin), "a second time changes nothing")
	require.Equal(t, lifecycle.OrphanApproved, stateOf(t, s, one))
	require.Equal(t, lifecycle.OrphanApproved, stateOf(t, s, two))
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'orphan_approved' AND actor = $1 AND target_cluster_id = $2`, admin.Actor, row.ID))
	require.NotEmpty(t, storetest.RiverJobs(t, s, "cleanup"))
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase, "nothing is opened before the removal begins")

	require.NoError(t, s.Scans.Explain(t.Context(), one, lifecycle.OrphanApproved, "it waits: for a test"))
	waits, err := s.Scans.Orphan(t.Context(), one)
	require.NoError(t, err)
	require.Equal(t, "it costs money", waits.DecidedWhy, "the admin's reason stays")
	require.Equal(t, "it waits: for a test (decided: it costs money)", waits.StateReason())

	require.NoError(t, s.Scans.Exempt(t.Context(), []string{two}, admin))
	require.Equal(t, lifecycle.OrphanExempt, stateOf(t, s, two), "an approval can be taken back until it begins")
	ids, err := s.Scans.ApprovedRemovals(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []string{one}, ids)

	clock.Pass(time.Minute)
	change(t, s, early, `state = 'reported'`)
	require.NoError(t, s.Scans.Approve(t.Context(), []string{early}, admin))
	for _, next := range []string{early, one, early} {
		ids, err := s.Scans.ApprovedRemovals(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, []string{next}, ids, "one that waits holds up no other")
		clock.Pass(time.Minute)
	}
}

func TestWhatIsSomebodyElsesIsNeverApproved(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(time.Hour)
	id := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanReported)
	for _, class := range []lifecycle.OrphanClass{lifecycle.ClassForeign, lifecycle.ClassOwned, lifecycle.ClassNobody} {
		change(t, s, id, `class = $2`, class)
		require.ErrorIs(t, s.Scans.Approve(t.Context(), []string{id}, clusters.Origin{Actor: "saml:ada@acme.example"}), db.ErrConflict)
	}
}

func TestTheSettingApprovesOnlyWhatIsCertainlyOurs(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	s.DB.Options.Installation = "here"
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(time.Hour)
	id := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanReported)
	good := func() {
		change(t, s, id, `class = 'released', state = 'reported', installation = 'here', managed_by = true, sights = 2, first_seen_at = $2, last_seen_at = $3, cluster_tag = $4`,
			clock.Now().Add(-time.Hour), clock.Now(), row.ID)
	}
	try := func(classes ...lifecycle.OrphanClass) int {
		ids, err := s.Scans.BySetting(t.Context(), classes, findingLimits)
		require.NoError(t, err)
		n, err := s.Scans.ApproveBySetting(t.Context(), []string{id}, classes, findingLimits)
		require.NoError(t, err)
		require.Len(t, ids, n)
		return n
	}
	good()
	require.Zero(t, try(), "off by default")
	require.Zero(t, try(lifecycle.ClassUnknown), "another class is on")
	for what, set := range map[string]string{
		"another installation's": `installation = 'there'`, "without an installation": `installation = ''`, "a tag is missing": `managed_by = false`, "no cluster's id": `cluster_tag = ''`,
		"seen once": `sights = 1`, "two sights in a row": `first_seen_at = last_seen_at - interval '29 minutes'`, "exempt": `state = 'exempt'`, "kept": `state = 'kept'`, "not told yet": `state = 'seen'`,
	} {
		good()
		change(t, s, id, set)
		require.Zero(t, try(lifecycle.ClassReleased, lifecycle.ClassUnknown), what)
	}
	for _, class := range []lifecycle.OrphanClass{lifecycle.ClassUnrecorded, lifecycle.ClassOwned, lifecycle.ClassNobody} {
		good()
		change(t, s, id, `class = $2`, class)
		require.Zero(t, try(lifecycle.OrphanClasses...), "%s needs a person, whatever the setting says", class)
	}
	good()
	require.Equal(t, 1, try(lifecycle.ClassReleased))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'orphan_approved' AND metadata ->> 'why' = 'scan.remove has released'`))
}

func TestABegunRemovalOpensTheTeardownThatLearnsTheName(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(time.Hour)
	id := storetest.Orphan(t, s, clock, row.ID, "shop-fghij", lifecycle.OrphanApproved)
	change(t, s, id, `cleanup_cluster = NULL, class = 'unrecorded'`)
	kept := storetest.Orphan(t, s, clock, row.ID, "shop-klmno", lifecycle.OrphanExempt)
	order := store.RemovalOrder{Orphan: id, Cluster: row.ID, Class: lifecycle.ClassUnrecorded, Names: []attempts.IdentityRow{storetest.Identity("shop-fghij")}}
	require.NoError(t, s.BeginRemoval(t.Context(), order))
	require.NoError(t, s.BeginRemoval(t.Context(), order), "a repeated begin adds no second name")
	d := storetest.Step(t, s, row.ID)
	require.Equal(t, lifecycle.Destroy, d.Open)
	_, facts, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-abcde", "shop-fghij"}, facts.Identities, "both have to be counted")
	require.Equal(t, lifecycle.OrphanRemoving, stateOf(t, s, id))
	storetest.Counted(t, s, clock, row.ID)
	require.Equal(t, lifecycle.OrphanExempt, stateOf(t, s, kept), "only a scan says that what was exempted meanwhile is gone")

	require.NoError(t, s.Scans.Remaining(t.Context(), time.Minute))
	require.Equal(t, lifecycle.OrphanGone, stateOf(t, s, id), "the final count found nothing, and no scan looked since")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM orphans WHERE id = $1 AND gone_at = (SELECT destroyed_at FROM clusters WHERE id = $2)`, id, row.ID), "it costs nothing after the count")
	clock.Pass(time.Hour)
	change(t, s, id, `last_seen_at = $2, state = 'seen', gone_at = NULL`, clock.Now())
	require.NoError(t, s.Scans.Remaining(t.Context(), time.Minute))
	require.Equal(t, lifecycle.OrphanReported, stateOf(t, s, id), "it is told again, and not removed again by itself")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE cause LIKE 'finding:orphan:' || $1 || ':%'`, id), "and announced again")
	require.Zero(t, storetest.Count(t, s, `SELECT sights FROM orphans WHERE id = $1`, id), "the setting needs new sights")
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
}

func TestAReadyClusterLearnsANameAndGoesOn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	r.Attempts[0].Outputs = storetest.Outputs()
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	id := storetest.Orphan(t, s, clock, r.ID, "shop-fghij", lifecycle.OrphanApproved)
	change(t, s, id, `cleanup_cluster = NULL, class = 'unrecorded'`)
	order := store.RemovalOrder{Orphan: id, Cluster: r.ID, Class: lifecycle.ClassUnrecorded, Names: []attempts.IdentityRow{storetest.Identity("shop-fghij")}}
	require.NoError(t, s.BeginRemoval(t.Context(), order))
	require.Equal(t, lifecycle.PhaseReady, storetest.Step(t, s, r.ID).Next.Phase, "nothing happens to it now")
	require.Equal(t, lifecycle.OrphanRemoving, stateOf(t, s, id))
	_, err = s.Destroy(t.Context(), r.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, r.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), r.ID)
	require.NoError(t, err)
	spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-fghij", "shop-abcde"}, []string{spec.Identities[0].InfraID, spec.Identities[1].InfraID}, "the name with which it was installed is the newest: sleep and wake go by it")
	_, facts, err := s.Load(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-abcde", "shop-fghij"}, facts.Identities)
}

func TestARemovalDoesNotBeginBesideAnOpenAttemptOrAfterAChange(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, _ := storetest.Claimed(t, s, "shop")
	id := storetest.Orphan(t, s, clock, row.ID, "shop-fghij", lifecycle.OrphanApproved)
	change(t, s, id, `cleanup_cluster = NULL, class = 'unrecorded'`)
	order := store.RemovalOrder{Orphan: id, Cluster: row.ID, Class: lifecycle.ClassUnrecorded, Names: []attempts.IdentityRow{storetest.Identity("shop-fghij")}}
	require.ErrorIs(t, s.BeginRemoval(t.Context(), order), db.ErrConflict)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE infra_id = 'shop-fghij'`))
	require.Equal(t, lifecycle.OrphanApproved, stateOf(t, s, id), "all or nothing")

	order.Class = lifecycle.ClassReleased
	require.ErrorIs(t, s.BeginRemoval(t.Context(), order), db.ErrConflict, "its cluster lives")
	require.NoError(t, s.Scans.Refuse(t.Context(), id, "a test says so"))
	require.Equal(t, lifecycle.OrphanReported, stateOf(t, s, id))
	order.Class = lifecycle.ClassUnrecorded
	require.ErrorIs(t, s.BeginRemoval(t.Context(), order), db.ErrConflict, "it is no longer approved")
}

func TestANameOfAnotherClusterIsNeverAdded(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	storetest.Gone(t, s, clock, "other")
	clock.Pass(time.Hour)
	id := storetest.Orphan(t, s, clock, row.ID, "other-abcde", lifecycle.OrphanApproved)
	change(t, s, id, `cleanup_cluster = NULL, class = 'unrecorded'`)
	err := s.BeginRemoval(t.Context(), store.RemovalOrder{Orphan: id, Cluster: row.ID, Class: lifecycle.ClassUnrecorded, Names: []attempts.IdentityRow{storetest.Identity("other-abcde")}})
	require.ErrorIs(t, err, db.ErrConflict)
	r, err := s.Scans.Removal(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "other-abcde", r.Taken[0].Name, "so the plan refuses it for good")
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
}

func TestAnAdoptedClusterTakesItsOrphanAlong(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "other")
	id := storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	change(t, s, id, `cleanup_cluster = NULL, class = 'unknown', cluster_id = NULL`)
	r := storetest.Found(clock, "shop")
	r.Absent, r.Orphan = "a scan found it", id
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, lifecycle.OrphanRemoving, stateOf(t, s, id))

	late := storetest.Found(clock, "late")
	late.Orphan = id
	_, err = s.Recover(t.Context(), late)
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Cluster(t.Context(), late.ID)
	require.ErrorIs(t, err, db.ErrNotFound, "without its approval nothing is adopted")
}

func TestARemovalKnowsTheAccountsInWhichItsClusterWas(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	accounts := func(cluster string) []string {
		t.Helper()
		r, err := s.Scans.Removal(t.Context(), storetest.Orphan(t, s, clock, cluster, "infra-"+cluster, lifecycle.OrphanReported))
		require.NoError(t, err)
		return r.Of.Accounts
	}
	wanted := storetest.Granted("wanted")
	wanted.Row.Spec.Account = "999999999999"
	never := storetest.Accept(t, s, wanted)
	require.Equal(t, []string{"999999999999"}, accounts(never.ID), "no attempt recorded one: where it was to be made")
	require.Empty(t, accounts(storetest.Accept(t, s, storetest.Granted("nowhere")).ID))

	made := storetest.Granted("made")
	made.Row.Spec.Account = "999999999999"
	row := storetest.Accept(t, s, made)
	for number, account := range []string{"210987654321", "123456789012", "210987654321", ""} {
		_, err := s.Pool().Exec(t.Context(), `
			INSERT INTO attempts (id, cluster_id, job_id, number, kind, phase, token_id, opened_at, account, closed_at, outcome)
			VALUES ($1, $2, (SELECT id FROM jobs WHERE cluster_id = $2), $3, 'create', 'installing', $1, $4, nullif($5, ''), $4, 'failed')`, fmt.Sprintf("att_%d", number), row.ID, number+1, clock.Now(), account)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"123456789012", "210987654321"}, accounts(row.ID), "each that an attempt recorded, and no other")
}
