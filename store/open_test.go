package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATransactionThatStandsStillHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var limit string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SHOW idle_in_transaction_session_timeout`).Scan(&limit))
	require.Equal(t, "1min", limit)
}
