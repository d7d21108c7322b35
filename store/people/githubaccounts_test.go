package people_test

import (
	"database/sql"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/migrations"
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

func TestAccountsOnGitHubAreCarriedOver(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS)
	require.NoError(t, err)
	before := beforeMigration(t, "github_accounts")
	_, err = p.UpTo(t.Context(), before)
	require.NoError(t, err)
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, statement := range []string{
		`INSERT INTO seen_permissions (installation, repo, account, login, permission, teams, seen_at) VALUES (1, 'acme/shop', 7, 'Maya', 'write', '{}', $1)`,
		`INSERT INTO accounts (account, number, principal, name, proof, linked_at, seen_at) VALUES
			('github:will', '9', 'saml:will', 'Will', '{}', $1, $1), ('github:will-old', '9', 'saml:old', 'Will', '{}', $1::timestamptz - interval '1 day', $1), ('slack:T1/U1', 'U1', 'saml:will', 'Will', '{}', $1, $1)`,
		`INSERT INTO deliveries (source, delivery_id, event, body, received_at) VALUES
			('github', 'd1', 'issue_comment', '{"sender": {"login": "rita", "id": 11}, "comment": {"user": {"login": "rita", "id": 11}}}', $1),
			('github', 'd2', 'label', '{"sender": {"login": "toni", "id": 12}}', $1), ('github', 'd3', 'label', '{"sender": {"login": "toni", "id": 13}}', $1),
			('github', 'd4', 'label', 'no JSON', $1), ('github', 'd5', 'label', '{"sender": {"login": "odd", "id": 1.5}}', $1)`,
	} {
		_, err := db.Exec(statement, at)
		require.NoError(t, err, statement)
	}
	texts := func(query string) (out []string) {
		t.Helper()
		rows, err := db.Query(query)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			out = append(out, text)
		}
		return out
	}
	for range 2 {
		_, err = p.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"7 Maya", "9 will", "11 rita", "12 toni", "13 toni"}, texts(`SELECT id || ' ' || login FROM github_accounts ORDER BY id`)[:5])
		require.Equal(t, []string{"maya 7", "rita 11", "toni -", "will 9"},
			texts(`SELECT login || ' ' || coalesce(account::text, '-') FROM github_logins WHERE login <> 'will-old' ORDER BY login`), "a login that several had is nobody's")
		require.Equal(t, []string{"github:id/9 saml:will", "slack:T1/U1 saml:will"}, texts(`SELECT account || ' ' || principal FROM accounts ORDER BY account`))
		_, err = p.DownTo(t.Context(), before)
		require.NoError(t, err)
		require.Equal(t, []string{"github:will saml:will", "slack:T1/U1 saml:will"}, texts(`SELECT account || ' ' || principal FROM accounts ORDER BY account`))
	}
}

// beforeMigration is the number of the migration before the one with a name.
func beforeMigration(t *testing.T, name string) int64 {
	t.Helper()
	found, err := fs.Glob(migrations.FS, "*_"+name+".sql")
	require.NoError(t, err)
	require.Len(t, found, 1)
	number, _, _ := strings.Cut(found[0], "_")
	n, err := strconv.ParseInt(number, 10, 64)
	require.NoError(t, err)
	return n - 1
}
