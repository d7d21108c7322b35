package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/auditchain"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// trail is a store whose trail has n lines of maya's.
func trail(t testing.TB, n int) *store.Store {
	t.Helper()
	s, clock := storetest.Open(t)
	for i := range n {
		clock.Pass(time.Minute)
		require.NoError(t, s.Audit(t.Context(), storetest.Maya(""), fmt.Sprintf("act-%d", i+1), fmt.Sprintf("clu_%d", i%3), map[string]any{"n": i}))
	}
	return s
}

// tamper runs statements as somebody who may do anything.
func tamper(t testing.TB, s *store.Store, statements ...string) {
	t.Helper()
	for _, sql := range slices.Concat([]string{`ALTER TABLE audit_events DISABLE TRIGGER USER`}, statements, []string{`ALTER TABLE audit_events ENABLE TRIGGER USER`}) {
		_, err := s.Pool().Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
}

func TestTheTrailTakesNothingBack(t *testing.T) {
	t.Parallel()
	s := trail(t, 3)
	for _, sql := range []string{
		`UPDATE audit_events SET actor = 'nobody' WHERE seq = 1`, `DELETE FROM audit_events WHERE seq = 1`, `TRUNCATE audit_events`,
		`UPDATE audit_events SET actor = 'nobody' WHERE false`,
	} {
		storetest.Refuses(t, s, "append-only", sql)
	}
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM audit_head`)
	require.NoError(t, err)
	require.Error(t, s.Audit(t.Context(), storetest.Maya(""), "act", "", nil), "without its head nothing is written any more")
	proof, err := s.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.Equal(t, auditchain.Rewritten, proof.Breaks[0].Kind)
}

func TestAForgedLineIsChained(t *testing.T) {
	t.Parallel()
	s := trail(t, 3)
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO audit_events (actor, action, metadata, created_at, seq, previous, hash) VALUES ('nobody', 'forged', '{}', now(), 2, 'x', 'y')`)
	require.NoError(t, err)
	require.NoError(t, s.Audit(t.Context(), storetest.Maya(""), "after", "", nil))
	proof, err := s.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, proof.Whole(), proof.Text())
	require.Equal(t, int64(5), proof.Lines)
}

func TestTamperingIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  []string
		seq  int64
		kind auditchain.Kind
	}{
		"a changed text":     {[]string{`UPDATE audit_events SET actor = 'nobody' WHERE seq = 4`}, 4, auditchain.Changed},
		"changed metadata":   {[]string{`UPDATE audit_events SET metadata = metadata || '{"n": 7}' WHERE seq = 4`}, 4, auditchain.Changed},
		"a changed time":     {[]string{`UPDATE audit_events SET created_at = created_at + interval '1 microsecond' WHERE seq = 4`}, 4, auditchain.Changed},
		"a changed source":   {[]string{`UPDATE audit_events SET source = 'slack' WHERE seq = 4`}, 4, auditchain.Changed},
		"a deleted line":     {[]string{`DELETE FROM audit_events WHERE seq = 4`}, 5, auditchain.Missing},
		"the first deleted":  {[]string{`DELETE FROM audit_events WHERE seq = 1`}, 2, auditchain.Missing},
		"the tail cut off":   {[]string{`DELETE FROM audit_events WHERE seq > 5`}, 5, auditchain.Cut},
		"everything deleted": {[]string{`DELETE FROM audit_events`}, 0, auditchain.Cut},
		"two lines swapped": {[]string{`UPDATE audit_events SET seq = -seq WHERE seq IN (4, 5)`,
			`UPDATE audit_events SET seq = CASE seq WHEN -4 THEN 5 ELSE 4 END WHERE seq < 0`}, 4, auditchain.Reordered},
		"a text with a hash of its own": {[]string{`UPDATE audit_events SET actor = 'nobody',
			hash = audit_hash(seq, previous, 'nobody', action, source, target_cluster_id, metadata, created_at) WHERE seq = 4`}, 5, auditchain.Rewritten},
		"the head put back": {[]string{`UPDATE audit_head SET (seq, hash) = (SELECT seq, hash FROM audit_events WHERE seq = 5)`}, 5, auditchain.Rewritten},
		"a line slipped in": {[]string{`INSERT INTO audit_events (actor, action, metadata, created_at, seq, previous, hash)
			SELECT 'nobody', 'forged', '{}', now(), 9, hash, repeat('a', 64) FROM audit_events WHERE seq = 8`}, 9, auditchain.Changed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := trail(t, 8)
			whole, err := s.VerifyAudit(t.Context())
			require.NoError(t, err)
			require.True(t, whole.Whole(), whole.Text())
			tamper(t, s, c.sql...)
			proof, err := s.VerifyAudit(t.Context())
			require.NoError(t, err)
			require.False(t, proof.Whole())
			require.Equal(t, []any{c.seq, c.kind}, []any{proof.Breaks[0].Seq, proof.Breaks[0].Kind}, proof.Text())
		})
	}
}

// Whoever owns the database can write the whole trail anew; what was known before tells.
func TestATrailWrittenAnewIsSeenByAnEarlierProof(t *testing.T) {
	t.Parallel()
	s := trail(t, 8)
	before, err := s.VerifyAudit(t.Context())
	require.NoError(t, err)
	tamper(t, s, `DELETE FROM audit_events WHERE seq > 5`, `UPDATE audit_head SET (seq, hash) = (SELECT seq, hash FROM audit_events WHERE seq = 5)`)
	proof, err := s.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, proof.Whole(), "nothing is left that could tell")
	proof, err = s.VerifyAudit(t.Context(), before.Head)
	require.NoError(t, err)
	require.Equal(t, auditchain.Cut, proof.Breaks[0].Kind)
	for range 3 {
		require.NoError(t, s.Audit(t.Context(), storetest.Maya(""), "another", "", nil))
	}
	proof, err = s.VerifyAudit(t.Context(), before.Head)
	require.NoError(t, err)
	require.Equal(t, []any{auditchain.Rewritten, before.Head.Seq}, []any{proof.Breaks[0].Kind, proof.Breaks[0].Seq}, "as many lines, but others")
}

func TestManyWritersMakeOneChain(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var wg sync.WaitGroup
	for w := range 50 {
		wg.Go(func() {
			for i := range 4 {
				if err := s.Audit(context.Background(), storetest.Maya(""), fmt.Sprintf("act-%d-%d", w, i), "", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	proof, err := s.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, proof.Whole(), proof.Text())
	require.Equal(t, []int64{200, 200}, []int64{proof.Lines, proof.Head.Seq})
}

// Changes that hold several clusters' rows, jobs and subscribers, and write lines, never wait for each other in a circle.
func TestChangesDoNotWaitForEachOtherInACircle(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var ids []string
	for i := range 4 {
		ids = append(ids, storetest.Accept(t, s, storetest.FromPR(storetest.Granted(fmt.Sprintf("c%d", i)), 41+i)).ID)
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			for range 15 {
				id := ids[random.IntN(len(ids))]
				var err error
				switch random.IntN(4) {
				case 0:
					_, err = s.Extend(context.Background(), id, time.Minute, storetest.Maya("more"))
				case 1:
					err = s.SetEnd(context.Background(), id, clusters.EndPRClosed, nil, lifecycle.Reason{}, "github:maya")
				case 2:
					_, err = s.Hold(context.Background(), id, time.Date(2026, 11, 20, 13, random.IntN(60), 0, 0, time.UTC), storetest.Maya("demo"))
				case 3:
					err = storetest.Decide(s, id)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	proof, err := s.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, proof.Whole(), proof.Text())
}

func TestAPageOfTheTrailIsFiltered(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	first := clock.Now()
	clock.Pass(time.Hour)
	require.NoError(t, s.Audit(t.Context(), storetest.Maya("look"), "kubeconfig.read", row.ID, map[string]string{"why": "look"}))
	clock.Pass(time.Hour)
	require.NoError(t, s.Audit(t.Context(), clusters.Origin{Actor: "saml:will@acme.example", Source: "web"}, "kubeconfig.read", "clu_other", nil))

	for name, c := range map[string]struct {
		filter store.AuditFilter
		want   []int64
	}{
		"everything, newest first": {store.AuditFilter{}, []int64{3, 2, 1}},
		"oldest first":             {store.AuditFilter{Oldest: true}, []int64{1, 2, 3}},
		"an actor":                 {store.AuditFilter{Actor: "saml:maya@acme.example"}, []int64{2}},
		"an action":                {store.AuditFilter{Action: "kubeconfig.read"}, []int64{3, 2}},
		"a cluster":                {store.AuditFilter{Cluster: row.ID}, []int64{2, 1}},
		"a source":                 {store.AuditFilter{Source: "web"}, []int64{3}},
		"teams":                    {store.AuditFilter{Teams: []string{row.Team}}, []int64{2, 1}},
		"no team":                  {store.AuditFilter{Teams: []string{}}, nil},
		"from":                     {store.AuditFilter{From: first.Add(time.Hour)}, []int64{3, 2}},
		"to":                       {store.AuditFilter{To: first.Add(time.Hour)}, []int64{1}},
		"after a cursor":           {store.AuditFilter{Cursor: "2"}, []int64{1}},
		"after a cursor, oldest":   {store.AuditFilter{Cursor: "2", Oldest: true}, []int64{3}},
	} {
		lines, next, err := s.AuditPage(t.Context(), c.filter)
		require.NoError(t, err, name)
		require.Empty(t, next)
		var got []int64
		for _, l := range lines {
			got = append(got, l.Seq)
		}
		require.Equal(t, c.want, got, name)
	}
	page, next, err := s.AuditPage(t.Context(), store.AuditFilter{Limit: 2})
	require.NoError(t, err)
	require.Len(t, page, 2)
	require.Equal(t, "2", next)
	_, _, err = s.AuditPage(t.Context(), store.AuditFilter{Cursor: "x"})
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestAnExportIsVerifiedWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	s := trail(t, 7)
	require.NoError(t, s.Audit(t.Context(), storetest.Maya("<b> & \"grün\"\n\t\\u0001"), "odd", "", map[string]any{
		"z": 1, "aa": "<é\u0001\x7f>", "b": []any{1.50, 1e3, nil, true, map[string]any{}}, "a": ""}))
	var copied bytes.Buffer
	out := json.NewEncoder(&copied)
	for cursor := ""; ; {
		page, next, err := s.AuditPage(t.Context(), store.AuditFilter{Oldest: true, Limit: 3, Cursor: cursor})
		require.NoError(t, err)
		for _, l := range page {
			require.NoError(t, out.Encode(l))
		}
		if cursor = next; next == "" {
			break
		}
	}
	proof, err := auditchain.After(auditchain.Start).Copy(&copied)
	require.NoError(t, err)
	require.True(t, proof.Whole(), proof.Text())
	require.Equal(t, int64(8), proof.Lines)
}

func TestWordsThatNoRowCanHoldAreKeptWithoutWhatItCannot(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	require.NoError(t, s.Audit(t.Context(), storetest.Maya(""), "looked", "", map[string]string{"why": "a\x00b\xff"}))
	_, meta := storetest.Said(t, s, "looked")
	require.Equal(t, "a\ufffdb\ufffd", meta["why"])
	a := storetest.Granted("shop")
	ask := storetest.Requests(a)
	ask.Request, a.Verdict = []byte(`{"name":"a\u0000b"}`), []byte(`{"words":"\u0000"}`)
	_, err := storetest.Judge(s, ask, a)
	require.NoError(t, err)
}
