package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAccountsThatLookLikeAPersonsAreThoseThatNobodyHas(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for number, login := range map[int64]string{1: "Maya", 2: "maya-w", 3: "rob"} {
		_, err := s.People.RecordGitHubAccount(t.Context(), number, login)
		require.NoError(t, err)
	}
	for _, p := range []people.SlackPerson{
		{ID: "UNAME", Name: "MAYA"}, {ID: "UMAIL", Name: "mw", Email: "maya@acme.example"}, {ID: "UROB", Name: "rob", Email: "rob@acme.example"},
		{ID: "UBOT", Name: "maya", Bot: true}, {ID: "UGONE", Name: "maya", Deactivated: true}, {ID: "UNOMAIL"},
	} {
		p.Workspace = "T1"
		require.NoError(t, s.People.KeepSlackPerson(t.Context(), p))
	}
	alike := func(name, email string) []string {
		t.Helper()
		list, err := s.People.ListLookalikes(t.Context(), name, email)
		require.NoError(t, err)
		return list
	}
	require.Equal(t, []string{"github:id/1", "slack:T1/UMAIL", "slack:T1/UNAME"}, alike("maya", "Maya@acme.example"))
	require.Equal(t, []string{"github:id/1", "slack:T1/UNAME"}, alike("maya", ""), "no address is not the same as no address")
	require.Empty(t, alike("ada", "ada@acme.example"))

	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{{ID: "person:maya", Name: "Maya", Identities: []string{"saml:maya@acme.example", "github:id/1"}, Spellings: []string{"saml:maya@acme.example", "github:id/1"}}}))
	require.Equal(t, []string{"slack:T1/UMAIL", "slack:T1/UNAME"}, alike("maya", "maya@acme.example"), "what the catalogue gives to a person is theirs")
}
