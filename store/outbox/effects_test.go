package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestAnEffectIsMadeOncePerCauseAndAskedForUntilItIsDone(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.NoError(t, s.Outbox.SaveEffect(t.Context(), storetest.Eyes("react:eyes:comment:123")))
	second := storetest.Eyes("react:eyes:comment:123")
	second.Content = "confused"
	require.NoError(t, s.Outbox.SaveEffect(t.Context(), second))
	id := storetest.Text(t, s, `SELECT id FROM effects`)
	require.Equal(t, []string{`{"effect": "` + id + `"}`}, storetest.RiverJobs(t, s, "effect"))
	got, done, err := s.Outbox.Effect(t.Context(), id)
	require.NoError(t, err)
	require.False(t, done)
	want := storetest.Eyes("react:eyes:comment:123")
	want.ID, want.CreatedAt = id, clock.Now()
	require.Equal(t, want, got, "the first stands")

	storetest.Lose(t, s)
	n, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Zero(t, n, "not yet")
	for range 2 {
		clock.Pass(31 * time.Second)
		n, err = s.WakeDue(t.Context(), 100)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Len(t, storetest.RiverJobs(t, s, "effect"), 1)
	}
	require.NoError(t, s.Outbox.EffectDone(t.Context(), id, "done", false))
	require.NoError(t, s.Outbox.EffectDone(t.Context(), id, "done twice", false))
	_, done, err = s.Outbox.Effect(t.Context(), id)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, "done", storetest.Text(t, s, `SELECT note FROM effects`))
	clock.Pass(time.Hour)
	n, err = s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Zero(t, n)
	_, _, err = s.Outbox.Effect(t.Context(), "eff_none")
	require.ErrorIs(t, err, db.ErrNotFound)
	wrong := storetest.Eyes("other")
	wrong.Target = 0
	require.ErrorIs(t, s.Outbox.SaveEffect(t.Context(), wrong), db.ErrConflict)
}

func TestWhatSomebodyAskedForIsInTheTrailOnceForEachCause(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	labels := clusters.Effect{Cause: "labels:1", Kind: outbox.EffectEnsureLabels, Installation: 5001, Repo: "acme/shop"}
	will := clusters.Origin{Actor: "saml:will", Source: "api", Why: "a new profile"}
	asked, err := s.Outbox.AskEffect(t.Context(), labels, will, "labels_asked")
	require.NoError(t, err)
	labels.ID, labels.CreatedAt = asked.ID, clock.Now()
	require.Equal(t, outbox.EffectState{Effect: labels}, asked)
	require.Equal(t, []string{`{"effect": "` + asked.ID + `"}`}, storetest.RiverJobs(t, s, "effect"))
	require.JSONEq(t, `{"why": "a new profile", "repository": "acme/shop"}`, storetest.Text(t, s, `SELECT metadata FROM audit_events WHERE action = 'labels_asked' AND actor = 'saml:will'`))

	other := labels
	other.Repo = "acme/else"
	again, err := s.Outbox.AskEffect(t.Context(), other, will, "labels_asked")
	require.NoError(t, err)
	require.Equal(t, asked, again, "the first stands")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events`))

	clock.Pass(time.Minute)
	for note, given := range map[string]bool{"given up: GitHub says 403": true, "made ocp/aws-standard": false} {
		other.Cause = note
		state, err := s.Outbox.AskEffect(t.Context(), other, will, "labels_asked")
		require.NoError(t, err)
		require.False(t, state.GivenUp)
		require.NoError(t, s.Outbox.EffectDone(t.Context(), state.ID, note, given))
		state, err = s.Outbox.EffectState(t.Context(), state.ID)
		require.NoError(t, err)
		require.Equal(t, []any{note, given}, []any{state.Note, state.GivenUp})
		require.WithinDuration(t, clock.Now(), *state.DoneAt, 0)
	}
	_, err = s.Outbox.EffectState(t.Context(), "eff_none")
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestTheEffectsOfAVerdictAreWrittenWithItOrNotAtAll(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	label := clusters.Effect{Cause: "label:1", Kind: outbox.EffectRemoveLabel, Installation: 5001, Repo: "acme/shop", Number: 41, Content: "ocp/nope"}
	a := storetest.FromPR(storetest.Granted("shop"), 41)
	a.Effects = []clusters.Effect{storetest.Eyes("a"), storetest.Eyes("b")}
	storetest.Accept(t, s, a)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM effects`))

	refuse := func(effects ...clusters.Effect) error {
		_, err := s.Judge(t.Context(), storetest.Keyed(storetest.Requests(a), "key"), func(usage.Usage) (store.Judgement, error) {
			return store.Judgement{Verdict: []byte(`{}`), Effects: effects}, nil
		})
		return err
	}
	require.NoError(t, refuse(label))
	require.NoError(t, refuse(label), "the same desired again")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM effects WHERE kind = 'remove_label'`))
	require.Len(t, storetest.RiverJobs(t, s, "effect"), 3)
	lines := storetest.Count(t, s, `SELECT count(*) FROM audit_events`)
	label.Cause, label.Content = "label:2", ""
	require.ErrorIs(t, refuse(label), db.ErrConflict)
	require.Equal(t, lines, storetest.Count(t, s, `SELECT count(*) FROM audit_events`))
}

func TestWhatIsDoneWithIsPrunedAndWhatNeverWorkedIsGivenUp(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	const keep = 30 * 24 * time.Hour
	require.NoError(t, s.Outbox.SaveEffect(t.Context(), storetest.Eyes("done")))
	require.NoError(t, s.Outbox.EffectDone(t.Context(), storetest.Text(t, s, `SELECT id FROM effects`), "done", false))
	require.NoError(t, s.Outbox.SaveEffect(t.Context(), storetest.Eyes("undone")))
	_, err := s.Inbox.AskAgain(t.Context(), "guid", 3, time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Inbox.SetMark(t.Context(), "deliveries", clock.Now()))
	rows := func() int {
		return storetest.Count(t, s, `SELECT (SELECT count(*) FROM effects) + (SELECT count(*) FROM redeliveries) + (SELECT count(*) FROM marks)`)
	}
	clock.Pass(keep)
	n, err := s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Zero(t, n)
	clock.Pass(time.Second)
	n, err = s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.EqualValues(t, 4, n)
	require.Equal(t, 1, rows())
	require.Contains(t, storetest.Text(t, s, `SELECT note FROM effects WHERE cause = 'undone' AND done_at IS NOT NULL`), "given up")
	clock.Pass(keep + time.Second)
	_, err = s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Zero(t, rows())
}

func TestARedeliveryIsAskedForSoOftenAndNotTooSoon(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	ask := func(guid string) bool {
		t.Helper()
		may, err := s.Inbox.AskAgain(t.Context(), guid, 2, time.Minute)
		require.NoError(t, err)
		return may
	}
	require.True(t, ask("one"))
	require.False(t, ask("one"), "too soon")
	require.True(t, ask("two"), "of another delivery nothing was asked")
	clock.Pass(time.Minute)
	require.True(t, ask("one"))
	clock.Pass(time.Hour)
	require.False(t, ask("one"), "often enough")
	may, err := s.Inbox.AskAgain(t.Context(), "three", 0, time.Minute)
	require.NoError(t, err)
	require.False(t, may)
}

func TestDeliveriesThatNeverCameAreTold(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("came"))
	require.NoError(t, err)
	missing, err := s.Inbox.MissingDeliveries(t.Context(), "github", []string{"late", "came", "lost"})
	require.NoError(t, err)
	require.Equal(t, []string{"late", "lost"}, missing)
	missing, err = s.Inbox.MissingDeliveries(t.Context(), "slack", []string{"came"})
	require.NoError(t, err)
	require.Equal(t, []string{"came"}, missing)
	missing, err = s.Inbox.MissingDeliveries(t.Context(), "github", nil)
	require.NoError(t, err)
	require.Empty(t, missing)
}

func TestAMarkNeverGoesBack(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	at, err := s.Inbox.Mark(t.Context(), "deliveries")
	require.NoError(t, err)
	require.True(t, at.IsZero())
	for _, d := range []time.Duration{0, time.Hour, time.Minute} {
		require.NoError(t, s.Inbox.SetMark(t.Context(), "deliveries", clock.Now().Add(d)))
	}
	at, err = s.Inbox.Mark(t.Context(), "deliveries")
	require.NoError(t, err)
	require.Equal(t, clock.Now().Add(time.Hour), at)
}
