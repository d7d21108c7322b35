package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

func Eyes(cause string) clusters.Effect {
	return clusters.Effect{Cause: cause, Kind: outbox.EffectReact, Installation: 5001, Repo: "acme/shop", Number: 41, Target: 123, Content: "eyes"}
}

func Text(t testing.TB, s *store.Store, sql string, args ...any) (is string) {
	t.Helper()
	require.NoError(t, s.Pool().QueryRow(t.Context(), sql, args...).Scan(&is))
	return is
}
