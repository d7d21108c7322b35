package contract_test

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestAClusterWasAcceptedWhenItsRecordOrItsIDTells(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	id := ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String()
	require.Equal(t, at, contract.AcceptedAt(time.Time{}, "clu_"+id))
	require.Equal(t, at.Add(time.Hour), contract.AcceptedAt(at.Add(time.Hour), "clu_"+id))
	for _, other := range []string{"", "clu_", "clu_1", "clu_" + id + "0", id, "att_" + id, "clu_" + id[1:] + "!"} {
		require.Zero(t, contract.AcceptedAt(time.Time{}, other), other)
		require.Equal(t, at, contract.AcceptedAt(at, other), other)
	}
	require.False(t, contract.IsOlder(at, contract.AcceptedAt(time.Time{}, "clu_1")), "what is not known reports nothing")
}
