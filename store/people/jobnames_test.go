package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestANameOfAJobStaysWithTheNumberThatHadItFirst(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	shop := people.JobName{Site: "https://gitlab.com", Kind: "project", Name: "Acme/shop", Number: "20"}
	other := shop
	other.Name, other.Number = "acme/Shop", "21"
	sees := func(n people.JobName) bool {
		t.Helper()
		reused, err := s.People.RecordJobName(t.Context(), n)
		require.NoError(t, err)
		return reused
	}
	first, err := s.People.JobNameOwner(t.Context(), shop)
	require.NoError(t, err)
	require.Empty(t, first)
	require.False(t, sees(shop))
	for range 2 {
		require.True(t, sees(other))
	}
	require.False(t, sees(shop), "it keeps the name")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'name_reused' AND actor = 'project 21'`), "it is told once")
	first, err = s.People.JobNameOwner(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, "20", first)

	elsewhere, renamed := other, other
	elsewhere.Site, renamed.Name = "https://gitlab.example.com", "acme/store"
	require.False(t, sees(elsewhere), "another platform has numbers of its own")
	require.False(t, sees(renamed))
}
