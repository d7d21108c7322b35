package people_test

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
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func handover(t testing.TB, s *store.Store, id string) people.Handover {
	t.Helper()
	h, err := s.People.Handover(t.Context(), id)
	require.NoError(t, err)
	return h
}

func TestAnOfferIsMadeOnceAndAnnounced(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	h := storetest.Offers(t, s, row, "slack:1")
	require.Equal(t, people.Handover{
		ID: h.ID, Cluster: row.ID, Team: "acme/platform", FromPrincipal: "saml:maya@acme.example", FromName: storetest.Maya("").DisplayName(),
		ToAccount: "slack:T1/U2", ToName: "will", State: clusters.HandoverOffered, CreatedAt: clock.Now(), ExpiresAt: clock.Now().Add(24 * time.Hour),
	}, h)
	require.Equal(t, h, handover(t, s, h.ID))
	require.Equal(t, h, storetest.Offers(t, s, row, "slack:1"), "the same request again")
	require.Equal(t, h, storetest.Offers(t, s, row, "slack:2"), "the same person again")
	found, err := s.People.HandoverOf(t.Context(), "slack:1")
	require.NoError(t, err)
	require.Equal(t, h, found)
	_, err = s.People.HandoverOf(t.Context(), "slack:2")
	require.ErrorIs(t, err, db.ErrNotFound)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE event = 'handover' AND cluster_id = $1
		AND facts = jsonb_build_object('handover', $2::text, 'from', $3::text, 'to', 'slack:T1/U2') AND done_at IS NULL`, row.ID, h.ID, h.FromName))
	require.Len(t, storetest.RiverJobs(t, s, "announce"), 1)
	line, meta := storetest.Said(t, s, "handover_offered")
	require.Equal(t, []any{"saml:maya@acme.example", row.ID, "a holiday", h.ID}, []any{line.Actor, line.Cluster, meta["why"], meta["note"]})
	require.Equal(t, map[string]any{"to": "slack:T1/U2", "name": "will"}, meta["after"])

	other, err := s.People.OfferHandover(t.Context(), row.ID, people.Grantee{Account: "slack:T1/U3", Name: "rita"}, "slack:3", time.Hour, nil, storetest.Maya(""))
	require.NoError(t, err)
	require.NotEqual(t, h.ID, other.ID)
	h = handover(t, s, h.ID)
	require.Equal(t, []any{clusters.HandoverWithdrawn, "saml:maya@acme.example", "it was offered to somebody else"}, []any{h.State, h.DecidedBy, h.Note})
	require.ErrorIs(t, s.AcceptHandover(t.Context(), h, h.Team, "will", storetest.Will(""), nil), db.ErrConflict)
	require.NoError(t, s.People.EndHandover(t.Context(), other, clusters.HandoverDeclined, storetest.Will("no time")))
	require.ErrorIs(t, s.People.EndHandover(t.Context(), other, clusters.HandoverDeclined, storetest.Will("")), db.ErrConflict)
	_, meta = storetest.Said(t, s, "handover_declined")
	require.Equal(t, "no time", meta["why"])
}

func TestWhoAcceptsOwnsTheClusterOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	h := storetest.Offers(t, s, row, "slack:1")
	by := storetest.Will("")
	by.Reply = &clusters.ReplyOnce{Cause: "slack:T1:9", Build: func(clusters.Outcome) clusters.Reply {
		return clusters.Reply{Workspace: "T1", Channel: "C1", Person: "U2", Body: "yours"}
	}}
	full := errors.New("no room")
	require.ErrorIs(t, s.AcceptHandover(t.Context(), h, "acme/web", "will", by, func(usage.Usage, usage.Counts) ([]lifecycle.Limit, error) { return nil, full }), full)
	require.Equal(t, clusters.HandoverOffered, handover(t, s, h.ID).State, "what is refused is still offered")
	for range 2 {
		require.NoError(t, s.AcceptHandover(t.Context(), h, "acme/web", "will", by, func(usage.Usage, usage.Counts) ([]lifecycle.Limit, error) { return nil, nil }))
	}
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"acme/web", "will"}, []string{now.Team, now.Owner})
	h = handover(t, s, h.ID)
	require.Equal(t, []any{clusters.HandoverAccepted, "slack:T1/U2"}, []any{h.State, h.DecidedBy})
	require.NotNil(t, h.DecidedAt)
	for _, action := range []string{"handover_accepted", "transferred"} {
		require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = $1 AND actor = 'slack:T1/U2'`, action))
	}
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM replies WHERE cause = 'slack:T1:9'`))
	by.Reply = nil
	require.ErrorIs(t, s.AcceptHandover(t.Context(), h, "acme/web", "will", by, nil), db.ErrConflict)
}

func TestAnOfferEndsWithItsClusterItsOwnerOrItsTime(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	gone, given, late := storetest.Accept(t, s, storetest.Granted("gone")), storetest.Accept(t, s, storetest.Granted("given")), storetest.Accept(t, s, storetest.Granted("late"))
	ends := map[string]people.Handover{"gone": storetest.Offers(t, s, gone, "1"), "given": storetest.Offers(t, s, given, "2"), "late": storetest.Offers(t, s, late, "3")}
	_, err := s.Destroy(t.Context(), gone.ID, storetest.Maya("enough"))
	require.NoError(t, err)
	require.NoError(t, s.Transfer(t.Context(), given.ID, "acme/web", "rita", storetest.Maya(""), nil))
	clock.Pass(24 * time.Hour)
	require.Equal(t, []any{clusters.HandoverExpired, ""}, []any{handover(t, s, ends["late"].ID).State, handover(t, s, ends["late"].ID).DecidedBy})
	for name, h := range ends {
		require.ErrorIs(t, s.AcceptHandover(t.Context(), h, h.Team, "will", storetest.Will(""), nil), db.ErrConflict, name)
	}
	_, err = s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	for name, want := range map[string][]any{
		"gone":  {clusters.HandoverWithdrawn, db.Lifecycle, "the cluster is no longer wanted: enough"},
		"given": {clusters.HandoverWithdrawn, "saml:maya@acme.example", "it was given to rita of team acme/web"},
		"late":  {clusters.HandoverExpired, db.Lifecycle, "nobody accepted it in time"},
	} {
		h := handover(t, s, ends[name].ID)
		require.Equal(t, want, []any{h.State, h.DecidedBy, h.Note}, name)
	}
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'handover_withdrawn'`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'handover_expired'`))
	require.NotEqual(t, ends["late"].ID, storetest.Offers(t, s, late, "4").ID, "it may be offered again")
	_, err = s.People.OfferHandover(t.Context(), gone.ID, storetest.WillInSlack, "5", time.Hour, nil, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestOfManyAcceptancesOneCounts(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	h := storetest.Offers(t, s, row, "1")
	var all sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		all.Go(func() { results[i] = s.AcceptHandover(t.Context(), h, h.Team, "will", storetest.Will(""), nil) })
	}
	all.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
			continue
		}
		require.ErrorIs(t, err, db.ErrConflict)
	}
	require.Equal(t, 1, done)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'handover_accepted'`))
}

func TestAClusterThatIsDestroyedMeanwhileIsEitherAcceptedBeforeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		row := storetest.Accept(t, s, storetest.Granted(name))
		h := storetest.Offers(t, s, row, name)
		var both sync.WaitGroup
		var accepted, destroyed error
		both.Go(func() { accepted = s.AcceptHandover(t.Context(), h, "acme/web", "will", storetest.Will(""), nil) })
		both.Go(func() { _, destroyed = s.Destroy(t.Context(), row.ID, storetest.Maya("enough")) })
		both.Wait()
		require.NoError(t, destroyed)
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		require.Equal(t, lifecycle.Absent, now.Desired)
		if accepted == nil {
			require.Equal(t, []any{"will", clusters.HandoverAccepted}, []any{now.Owner, handover(t, s, h.ID).State})
			continue
		}
		require.ErrorIs(t, accepted, db.ErrConflict)
		require.Equal(t, []any{"maya", clusters.HandoverWithdrawn}, []any{now.Owner, handover(t, s, h.ID).State})
	}
}

func TestTheHandoversTableKeepsItsRules(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	h := storetest.Offers(t, s, row, "1")
	for set, words := range map[string]string{
		"state = 'declined'": "handovers_decided",
		"decided_at = now()": "handovers_decided",
		"decided_by = 'x'":   "handovers_decided",
		"state = 'forgotten', decided_at = now(), decided_by = 'x'": "handovers_state_check",
		"expires_at = created_at":                                   "handovers_last",
		"to_account = ''":                                           "handovers_to_account_check",
	} {
		storetest.Refuses(t, s, words, `UPDATE handovers SET `+set+` WHERE id = $1`, h.ID)
	}
	storetest.Refuses(t, s, "handovers_offered", `INSERT INTO handovers (id, cluster_id, team, from_principal, from_name, to_account, to_name, cause, created_at, expires_at)
		SELECT 'hnd_2', cluster_id, team, from_principal, from_name, to_account, to_name, '2', created_at, expires_at FROM handovers WHERE id = $1`, h.ID)
}

// Claims contain an e-mail address. They are for the answer only.
func TestWhatSomebodyProvedIsForgottenWhenTheirOfferIsOver(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for name, ends := range map[string]func(people.Handover) error{
		"declined": func(h people.Handover) error {
			return s.People.EndHandover(t.Context(), h, clusters.HandoverDeclined, storetest.Will("no"))
		},
		"expired": func(people.Handover) error {
			clock.Pass(25 * time.Hour)
			_, err := s.ExpireApprovals(t.Context())
			return err
		},
	} {
		row := storetest.Accept(t, s, storetest.Granted(name))
		h, err := s.People.OfferHandover(t.Context(), row.ID, storetest.WillInSlack, name, 24*time.Hour, []byte(`{"Values": {"email": ["maya@acme.example"]}}`), storetest.Maya("a holiday"))
		require.NoError(t, err)
		require.Contains(t, string(h.FromClaims), "maya@acme.example")
		require.NoError(t, ends(h))
		require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM handovers WHERE id = $1 AND state = $2 AND from_claims IS NULL`, h.ID, name))
	}
}
