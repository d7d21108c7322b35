package people

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Person is one human with several identities, as the catalogue links them.
type Person struct {
	ID         string   // "person:maya"
	Name       string   // display name
	Identities []string // principal ids, e.g. github:maya
	Spellings  []string // how the person may be written as an owner, in lower case; each means this person only
}

// peopleLock is the lock under which the catalogue's people are replaced.
const peopleLock = "people"

// KeepPeople replaces the known people. What was counted for their identities before counts for them from now on, and identities
// that no longer belong to anybody count for themselves. It writes nothing if nothing changed.
func (s *Store) KeepPeople(ctx context.Context, people []Person) error {
	var identities, spellings []personRow
	for _, p := range people {
		for _, id := range p.Identities {
			identities = append(identities, personRow{id, p.ID, p.Name})
		}
		for _, text := range p.Spellings {
			spellings = append(spellings, personRow{text, p.ID, p.Name})
		}
	}
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{peopleLock}); err != nil {
			return err
		}
		linked, err := replacePeople(ctx, c, "person_identities", "identity", "principal_key(t.key)", identities)
		if err != nil {
			return err
		}
		spelt, err := replacePeople(ctx, c, "person_spellings", "spelling", "t.key", spellings)
		if err != nil || linked+spelt == 0 {
			return err
		}
		clusters.NextTurns(c) // who is counted together changed
		return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: "the catalogue links identities in another way"}, "people_linked", "", clusters.Action{After: len(people)})
	})
	if err != nil {
		return fmt.Errorf("keep the catalogue's people: %w", err)
	}
	return nil
}

// personRow is one identity or spelling of a person.
type personRow struct{ Key, Person, Name string }

// replacePeople makes a table hold exactly these rows, and returns how many it changed.
func replacePeople(ctx context.Context, c *db.Tx, table, key, keyed string, rows []personRow) (changed int64, err error) {
	slices.SortFunc(rows, func(a, b personRow) int { return cmp.Compare(a.Key, b.Key) })
	keys, persons, names := make([]string, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	for i, r := range rows {
		keys[i], persons[i], names[i] = r.Key, r.Person, r.Name
	}
	for _, statement := range []string{
		`DELETE FROM %[1]s WHERE %[2]s NOT IN (SELECT %[3]s FROM unnest(@keys::text[], @persons::text[], @names::text[]) AS t (key, person, name))`,
		`INSERT INTO %[1]s AS old (%[2]s, person, name)
			SELECT %[3]s, t.person, t.name FROM unnest(@keys::text[], @persons::text[], @names::text[]) AS t (key, person, name)
			ON CONFLICT (%[2]s) DO UPDATE SET person = excluded.person, name = excluded.name
			WHERE (old.person, old.name) IS DISTINCT FROM (excluded.person, excluded.name)`,
	} {
		tag, err := c.Exec(ctx, fmt.Sprintf(statement, table, key, keyed), pgx.NamedArgs{"keys": keys, "persons": persons, "names": names})
		if err != nil {
			return 0, fmt.Errorf("write %s: %w", table, err)
		}
		changed += tag.RowsAffected()
	}
	return changed, nil
}

// ShownNames returns, by principal, what people in Slack read for them: the display name of the catalogue's person, or for an account in
// Slack its name there, as @name. Others are missing.
func (s *Store) ShownNames(ctx context.Context, principals ...string) (map[string]string, error) {
	names, err := s.NamesOf(ctx, principals...)
	if err != nil {
		return nil, err
	}
	found, err := db.All[struct{ Account, Name string }](ctx, s.db.Pool(), `SELECT account, name FROM slack_people WHERE account = ANY ($1) AND name <> ''`, principals)
	if err != nil {
		return nil, fmt.Errorf("look for the names of people in Slack: %w", err)
	}
	for _, f := range found {
		if names[f.Account] == "" {
			names[f.Account] = "@" + f.Name
		}
	}
	return names, nil
}

// NamesOf returns, by principal, the display names of those that belong to a person of the catalogue, of accounts on GitHub their login there,
// and of others what their sign-in calls them, unless a person of the catalogue or somebody before them is called so. Others are missing.
func (s *Store) NamesOf(ctx context.Context, principals ...string) (map[string]string, error) {
	found, err := db.All[struct{ Principal, Name string }](ctx, s.db.Pool(), `
		SELECT t.id AS principal, coalesce(
			(SELECT min(p.name) FROM person_identities p WHERE p.person = person_of(t.id)),
			(SELECT g.login || CASE WHEN l.account = g.id THEN ' (GitHub)' ELSE ' (GitHub account ' || g.id || ')' END
				FROM github_accounts g LEFT JOIN github_logins l ON l.login = lower(g.login) WHERE g.principal = account_of(principal_key(t.id))),
			(SELECT n.name FROM sign_in_names n WHERE n.principal = principal_key(t.id)
				AND NOT EXISTS (SELECT FROM person_spellings p WHERE p.spelling = lower(n.name)) AND NOT EXISTS (SELECT FROM person_identities p WHERE lower(p.name) = lower(n.name))
				AND NOT EXISTS (SELECT FROM sign_in_names o WHERE lower(o.name) = lower(n.name) AND (o.since, o.principal) < (n.since, n.principal))), '') AS name
		FROM unnest($1::text[]) AS t (id)`, principals)
	if err != nil {
		return nil, fmt.Errorf("look for the names of people: %w", err)
	}
	names := make(map[string]string, len(found))
	for _, f := range found {
		if f.Name != "" {
			names[f.Principal] = f.Name
		}
	}
	return names, nil
}
