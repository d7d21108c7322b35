package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// scalable is a ready cluster with 3 workers, of 1 to 5.
func scalable(t testing.TB, s *store.Store) clusters.Row {
	t.Helper()
	a, least, base, most := storetest.Granted("shop"), 1, 3, 5
	a.Row.WorkersLeast, a.Row.WorkersBase, a.Row.WorkersMost = &least, &base, &most
	return storetest.Usable(t, s, storetest.Accept(t, s, a))
}

func TestADeedIsMeantForTheRowThatWasSeen(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := scalable(t, s)
	stale := storetest.Maya("why not")
	stale.Version = row.Version + 1
	_, err := s.Extend(t.Context(), row.ID, time.Hour, stale)
	require.ErrorIs(t, err, db.ErrStale)
	_, err = s.Hold(t.Context(), row.ID, clock.Now().Add(time.Hour), stale)
	require.ErrorIs(t, err, db.ErrStale)
	_, err = s.Scale(t.Context(), row.ID, 4, stale)
	require.ErrorIs(t, err, db.ErrStale)
	_, err = s.Destroy(t.Context(), row.ID, stale)
	require.ErrorIs(t, err, db.ErrStale)
	require.ErrorIs(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", stale, nil), db.ErrStale)
	require.ErrorIs(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "team", Grantee: "acme/web", Access: people.AccessSee}, stale), db.ErrStale)
	require.ErrorIs(t, s.Abandon(t.Context(), row.ID, stale), db.ErrStale)
	require.ErrorIs(t, s.RetryTeardown(t.Context(), row.ID, stale), db.ErrStale)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events`), "nothing happened")

	fits := stale
	fits.Version = row.Version
	out, err := s.Extend(t.Context(), row.ID, time.Hour, fits)
	require.NoError(t, err)
	require.Equal(t, []any{time.Hour, false}, []any{out.After.TTL.Sub(out.Before.TTL), out.Capped})
	line, meta := storetest.Said(t, s, "extended")
	require.Equal(t, []string{"saml:maya@acme.example", "api", row.ID}, []string{line.Actor, line.Source, line.Cluster})
	require.Equal(t, "why not", meta["why"])
	require.Equal(t, []any{out.Before.TTL.Format(time.RFC3339Nano), out.After.TTL.Format(time.RFC3339Nano)}, []any{meta["before"], meta["after"]})

	job, err := s.Destroy(t.Context(), row.ID, storetest.Maya("enough"))
	require.NoError(t, err)
	again, err := s.Destroy(t.Context(), row.ID, fits)
	require.NoError(t, err, "it is going, whatever was seen")
	require.Equal(t, job, again)
	_, err = s.Extend(t.Context(), "clu_none", time.Hour, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestAHoldIsAFloorUnderEveryEndButTheMaximum(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	closed := clock.Now().Add(time.Hour)
	require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &closed, lifecycle.Reason{}, "github:maya"))
	until := clock.Now().Add(6 * time.Hour)
	out, err := s.Hold(t.Context(), row.ID, until, storetest.Maya("a demo"))
	require.NoError(t, err)
	require.False(t, out.Capped)
	require.Equal(t, []time.Time{closed, until}, []time.Time{out.Before.DestroyAt(), out.After.DestroyAt()})
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{until, until, "a demo"}, []any{row.DestroyAt, row.Ends.DestroyAt(), row.HoldWhy})

	out, err = s.Hold(t.Context(), row.ID, clock.Now().Add(100*time.Hour), storetest.Maya("longer"))
	require.NoError(t, err)
	require.True(t, out.Capped)
	require.Equal(t, row.Ends.Max, out.After.DestroyAt())
	_, meta := storetest.Said(t, s, "hold_set")
	require.Equal(t, true, meta["capped"])
	version, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	out, err = s.Hold(t.Context(), row.ID, clock.Now().Add(101*time.Hour), storetest.Maya("longer"))
	require.NoError(t, err)
	require.True(t, out.Capped)
	same, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, version.Version, same.Version, "nothing changed")

	out, err = s.Hold(t.Context(), row.ID, time.Time{}, storetest.Maya("done"))
	require.NoError(t, err)
	require.Equal(t, closed, out.After.DestroyAt(), "the other ends count again")
	_, meta = storetest.Said(t, s, "hold_lifted")
	require.Equal(t, row.Ends.Max.Format(time.RFC3339Nano), meta["before"])
	_, err = s.Hold(t.Context(), row.ID, clock.Now(), storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Destroy(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	_, err = s.Hold(t.Context(), row.ID, until, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	storetest.Refuses(t, s, "clusters_hold", `UPDATE clusters SET end_hold = end_max + interval '1 second', hold_why = 'x'`)
}

func TestWorkersAreWantedWithinTheirBounds(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	waiting := storetest.Accept(t, s, storetest.Granted("other"))
	_, err := s.Scale(t.Context(), waiting.ID, 4, storetest.Maya(""))
	require.ErrorContains(t, err, "the cluster is PENDING")
	_, err = s.Scale(t.Context(), storetest.Usable(t, s, waiting).ID, 4, storetest.Maya(""))
	require.ErrorContains(t, err, "no bounds")

	row := scalable(t, s)
	for _, replicas := range []int{0, 6, -1} {
		_, err = s.Scale(t.Context(), row.ID, replicas, storetest.Maya(""))
		require.ErrorContains(t, err, "not between 1 and 5")
		require.ErrorIs(t, err, db.ErrConflict)
	}
	job, err := s.Scale(t.Context(), row.ID, 3, storetest.Maya(""))
	require.NoError(t, err)
	require.Empty(t, job, "there are three")
	storetest.Lose(t, s)
	job, err = s.Scale(t.Context(), row.ID, 5, storetest.Maya("a load test"))
	require.NoError(t, err)
	kept, err := s.Reports.Job(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.JobScale, lifecycle.JobPending}, []any{kept.Type, kept.Status})
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1)
	_, meta := storetest.Said(t, s, "scale_asked")
	require.Equal(t, []any{3.0, 5.0, job}, []any{meta["before"], meta["after"], meta["job"]})
	for _, replicas := range []int{5, 1, 3} {
		again, err := s.Scale(t.Context(), row.ID, replicas, storetest.Maya(""))
		require.NoError(t, err)
		require.Equal(t, job, again, "one job at a time")
		row, err = s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		require.Equal(t, replicas, *row.WorkersWanted)
	}
	require.Equal(t, lifecycle.Scale, storetest.Step(t, s, row.ID).Open)
	_, err = s.Destroy(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	_, err = s.Scale(t.Context(), row.ID, 4, storetest.Maya(""))
	require.ErrorContains(t, err, "is going")
}

func TestAClusterGoesToAnotherTeam(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", storetest.Maya("she leaves"), nil))
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"acme/web", "will", "github:maya"}, []string{now.Team, now.Owner, now.RequestedBy})
	require.Equal(t, row.Tags, now.Tags, "the tags in the cloud stay")
	_, meta := storetest.Said(t, s, "transferred")
	require.Equal(t, map[string]any{"team": "acme/platform", "owner": "maya"}, meta["before"])
	require.Contains(t, meta["note"], "tags")
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", storetest.Maya("again"), nil))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'transferred'`))
	require.ErrorIs(t, s.Transfer(t.Context(), row.ID, "acme/web", "", storetest.Maya(""), nil), db.ErrConflict)
	_, err = s.Destroy(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.ErrorIs(t, s.Transfer(t.Context(), row.ID, "acme/other", "will", storetest.Maya(""), nil), db.ErrConflict)
}

// What waits for a place of one team's takes none of another's beyond that one's limit.
func TestWhoWaitsIsGivenAwayWithTheNewTeamsLimits(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	full := storetest.Queues(t, s, clock, "first", 1)
	waiting := storetest.Queues(t, s, clock, "second", 1)
	a := storetest.Granted("third")
	a.Row.Team = "acme/web"
	storetest.Accept(t, s, a)
	limit := lifecycle.Limit{Quota: "web", Scope: lifecycle.ScopeTeam, Key: "acme/web", What: lifecycle.CountLive, Most: 2}
	judged := 0
	judge := func(u usage.Usage, _ usage.Counts) ([]lifecycle.Limit, error) {
		judged++
		require.Equal(t, 1, u.Team.Live)
		return []lifecycle.Limit{limit}, nil
	}
	require.NoError(t, s.Transfer(t.Context(), waiting.ID, "acme/web", "will", storetest.Maya(""), judge))
	require.NoError(t, s.Transfer(t.Context(), waiting.ID, "acme/web", "maya", storetest.Maya(""), judge))
	require.Equal(t, 1, judged, "another owner in the same team takes no room")
	b := storetest.Granted("fourth")
	b.Row.Team = "acme/web"
	storetest.Accept(t, s, b)
	goes(t, s, full.ID)
	require.Empty(t, served(t, s), "the team it left has room, and its own has none")
	goes(t, s, liveOf(t, s, "third"))
	require.Equal(t, []string{waiting.ID}, served(t, s))
}

func liveOf(t testing.TB, s *store.Store, name string) (id string) {
	t.Helper()
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM clusters WHERE name = $1 AND destroyed_at IS NULL`, name).Scan(&id))
	return id
}

func TestAShareShowsAClusterToOthers(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	storetest.Accept(t, s, storetest.Granted("other"))
	sees := func(principal string, teams ...string) (ids []string, access people.Access) {
		t.Helper()
		rows, _, err := s.List(t.Context(), store.Filter{Teams: append([]string{}, teams...), Principal: principal})
		require.NoError(t, err)
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		share, err := s.People.SharedWith(t.Context(), row.ID, principal, teams)
		require.NoError(t, err)
		return ids, share.Access
	}
	ids, access := sees("saml:will", "acme/web")
	require.Empty(t, ids)
	require.Empty(t, access)
	toTeam := people.Share{Kind: "team", Grantee: "acme/web", Access: people.AccessSee}
	require.NoError(t, s.People.Share(t.Context(), row.ID, toTeam, storetest.Maya("")))
	ids, access = sees("saml:will", "acme/web")
	require.Equal(t, []string{row.ID}, ids)
	require.Equal(t, people.AccessSee, access)
	ids, _ = sees("acme/web", "acme/other")
	require.Empty(t, ids, "a principal is no team")

	toTeam.Access, toTeam.Role = people.AccessUse, "edit"
	for range 2 {
		require.NoError(t, s.People.Share(t.Context(), row.ID, toTeam, storetest.Maya("")))
	}
	require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "principal", Grantee: "saml:will", Access: people.AccessSee}, storetest.Maya("")))
	_, access = sees("saml:will", "acme/web")
	require.Equal(t, people.AccessUse, access, "the most counts")
	_, access = sees("saml:will")
	require.Equal(t, people.AccessSee, access)
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'shared'`), "asked twice is asked once")

	shares, err := s.People.Shares(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"saml:will", "acme/web"}, []string{shares[0].Grantee, shares[1].Grantee})
	require.Equal(t, storetest.Maya("").Actor, shares[0].GrantedBy)
	require.NoError(t, s.People.Unshare(t.Context(), row.ID, "team", "acme/web", storetest.Maya("")))
	require.ErrorIs(t, s.People.Unshare(t.Context(), row.ID, "team", "acme/web", storetest.Maya("")), db.ErrNotFound)
	_, meta := storetest.Said(t, s, "unshared")
	require.Equal(t, map[string]any{"kind": "team", "with": "acme/web", "access": "use", "role": "edit"}, meta["before"])

	require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "principal", Grantee: "slack:T1/UWILL", Access: people.AccessUse, Role: "view"}, storetest.Maya("")))
	_, access = sees("saml:will")
	require.Equal(t, people.AccessSee, access)
	_, err = s.Pool().Exec(t.Context(), `INSERT INTO accounts (account, number, principal, name, proof, linked_at, seen_at) VALUES ('slack:T1/UWILL', '', 'saml:will', 'Will', '{}', now(), now())`)
	require.NoError(t, err)
	ids, access = sees("saml:will")
	require.Equal(t, []string{row.ID}, ids)
	require.Equal(t, people.AccessUse, access, "it is with one of his accounts")
	_, access = sees("saml:rob")
	require.Empty(t, access)
	for _, none := range []people.Share{{Kind: "source", Grantee: "x", Access: "see"}, {Kind: "team", Access: "see"}, {Kind: "team", Grantee: "x", Access: "own"}} {
		require.ErrorIs(t, s.People.Share(t.Context(), row.ID, none, storetest.Maya("")), db.ErrConflict)
	}
}

func TestASignatureIsSpentOnce(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, want := range []bool{true, false, false} {
		fresh, err := s.People.SpendSignature(t.Context(), hash, clock.Now().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, fresh)
	}
	_, err := s.People.SpendSignature(t.Context(), "short", clock.Now())
	require.ErrorIs(t, err, db.ErrConflict)
}
