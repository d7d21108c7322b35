package people_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestALoginStaysWithTheAccountThatHadItFirst(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	sees := func(id int64, login string) people.GitHubAccount {
		t.Helper()
		seen, err := s.People.RecordGitHubAccount(t.Context(), id, login)
		require.NoError(t, err)
		return seen
	}
	require.Equal(t, people.GitHubAccount{ID: 7, Principal: "github:id/7", Login: "Maya", Owns: []string{"maya"}}, sees(7, "Maya"))
	require.Equal(t, []string{"maya", "maya-w"}, sees(7, "maya-w").Owns, "whatever it is called now")
	require.Empty(t, sees(8, "maya").Owns, "another account with the old login")
	sees(8, "maya")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'login_reused' AND actor = 'github:id/8'`), "it is told once")

	owner, err := s.People.LoginOwner(t.Context(), "MAYA")
	require.NoError(t, err)
	require.Equal(t, []any{int64(7), "maya-w"}, []any{owner.ID, owner.Login})
	_, err = s.People.LoginOwner(t.Context(), "rob")
	require.ErrorIs(t, err, db.ErrNotFound)
	unknown, err := s.People.UnknownLogins(t.Context(), []string{"rob", "Maya-W", "maya"})
	require.NoError(t, err)
	require.Equal(t, []string{"rob"}, unknown)

	names, err := s.People.NamesOf(t.Context(), "github:id/7", "github:id/8", "github:maya", "github:rob", "saml:x")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"github:id/7": "maya-w (GitHub)", "github:id/8": "maya (GitHub account 8)", "github:maya": "maya-w (GitHub)"}, names)
	logins, err := s.People.LoginsOf(t.Context(), "github:id/8", "saml:x")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"github:id/8": "maya"}, logins)
}

func TestWhoeverIsMentionedIsCalledByTheirCurrentLogin(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for _, seen := range []struct {
		id    int64
		login string
	}{{7, "maya"}, {7, "maya-w"}, {8, "maya"}, {9, "rob"}, {10, "Rob"}, {11, "ada"}} {
		clock.Pass(time.Second)
		_, err := s.People.RecordGitHubAccount(t.Context(), seen.id, seen.login)
		require.NoError(t, err)
	}
	called, err := s.People.CurrentLogins(t.Context(), []string{"acme/leads", "Maya", "github:id/8", "rob", "github:id/11", "unseen", "github:id/99"})
	require.NoError(t, err)
	require.Equal(t, []string{"acme/leads", "maya-w", "maya", "ada", "unseen"}, called, "9 has another login than rob by now, and nobody knows which")
	logins, err := s.People.LoginsOf(t.Context(), "github:id/9", "github:id/10")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"github:id/10": "Rob"}, logins)
}

func TestWhatALoginAskedForBeforeAccountsHadNumbersIsItsAccountsAndNobodyElses(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	askedBy(t, s, "one", "github:Maya", "maya")
	require.Zero(t, live(t, s, "github:id/7"), "no account was seen with the login")
	_, err := s.People.RecordGitHubAccount(t.Context(), 7, "maya")
	require.NoError(t, err)
	askedBy(t, s, "two", "github:id/7", "maya")
	_, err = s.People.RecordGitHubAccount(t.Context(), 7, "maya-w")
	require.NoError(t, err)
	_, err = s.People.RecordGitHubAccount(t.Context(), 8, "maya")
	require.NoError(t, err)
	require.Equal(t, []int{2, 2, 0}, []int{live(t, s, "github:id/7"), live(t, s, "github:maya"), live(t, s, "github:id/8")})

	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	require.Equal(t, []int{2, 2, 0}, []int{live(t, s, mayasToken), live(t, s, "github:id/7"), live(t, s, "github:id/8")}, "the catalogue's github:maya is the first account")

	byNumber := linkedMaya
	byNumber.Identities = []string{"github:id/8", mayasToken}
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{byNumber}))
	askedBy(t, s, "three", "github:id/8", "maya")
	require.Equal(t, []int{1, 2}, []int{live(t, s, mayasToken), live(t, s, "github:id/7")}, "until it names the other one's number")
}
