package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestWhatChecksDidIsCountedAndARequestIsKeptWithWhatWasCounted(t *testing.T) {
	s, clock := storetest.Open(t)
	ctx := t.Context()
	refuse := func(principal, key string, checks ...store.JudgedCheck) {
		t.Helper()
		_, err := s.Judge(ctx, store.Ask{Scope: usage.Scope{Person: principal}, Principal: principal, Source: "api", Request: json.RawMessage(`{"profile":"small"}`), Key: key},
			func(usage.Usage) (store.Judgement, error) {
				return store.Judgement{Verdict: json.RawMessage(`{"checks":[]}`), Usage: json.RawMessage(`{"person":{"live":3}}`), Failed: json.RawMessage(`[]`), Checks: checks}, nil
			})
		require.NoError(t, err)
	}
	long := store.JudgedCheck{"rules", "standard/long", "fail"}
	refuse("github:maya", "", long, store.JudgedCheck{"draft", "", "warn"})
	refuse("github:maya", "", long)
	refuse("github:rob", "again", long)
	refuse("github:rob", "again", long) // the same request is refused once

	since := clock.Now().Add(-time.Hour)
	hits, err := s.CheckHits(ctx, since)
	require.NoError(t, err)
	require.Len(t, hits, 2)
	require.Equal(t, store.CheckHits{Name: "draft", Result: "warn", Requests: 1, People: 1, Principals: []string{"github:maya"}, Last: hits[0].Last}, hits[0])
	require.Equal(t, store.CheckHits{Name: "rules", Part: "standard/long", Result: "fail", Requests: 3, People: 2, Principals: []string{"github:maya", "github:rob"}, Last: hits[1].Last}, hits[1])

	first, err := s.Decisions(ctx, since, store.Decision{}, 2)
	require.NoError(t, err)
	require.Len(t, first, 2)
	rest, err := s.Decisions(ctx, since, first[1], 2)
	require.NoError(t, err)
	require.Len(t, rest, 1)
	require.JSONEq(t, `{"person":{"live":3}}`, string(rest[0].Usage))
	require.JSONEq(t, `{"profile":"small"}`, string(rest[0].Request))

	none, err := s.CheckHits(ctx, clock.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, none)
}
