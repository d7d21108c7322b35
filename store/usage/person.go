package usage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/store/db"
)

// Person returns the principal behind an id: the owner of a linked account, else the id itself.
func Person(ctx context.Context, c *db.Tx, id string) (principal string, err error) {
	err = c.QueryRow(ctx, `SELECT coalesce((SELECT principal FROM accounts WHERE account = $1), $1)`, id).Scan(&principal)
	if err != nil {
		return "", fmt.Errorf("look for the owner of %s: %w", id, err)
	}
	return principal, nil
}

// human is the part that one person's ids share: IAM Identity Center uses the same name in SAML and in the sessions of its
// roles. It may take two people for one, so use it only to deny something.
func human(principal string) string {
	if name, ok := strings.CutPrefix(principal, "saml:"); ok {
		return strings.ToLower(name)
	}
	if _, role, ok := strings.Cut(principal, ":role/AWSReservedSSO_"); ok && strings.HasPrefix(principal, "aws:") {
		if _, name, ok := strings.Cut(role, "/"); ok {
			return strings.ToLower(name)
		}
	}
	return principal
}

// SamePrincipal reports whether two ids belong to one person.
func SamePrincipal(ctx context.Context, c *db.Tx, a, b string) (bool, error) {
	first, err := Person(ctx, c, a)
	if err != nil {
		return false, err
	}
	second, err := Person(ctx, c, b)
	return first == second, err
}

// Identities are those of one person.
type Identities struct{ IDs []string }

const identitiesOf = `SELECT identities_of($1) AS ids`

// QueueIdentities is PersonIdentities as a part of a batch. The result is filled in when the batch is sent.
func QueueIdentities(b *db.Batch, principal string) *Identities {
	var found Identities
	b.Ask("look for a person's identities", db.Into(&found), identitiesOf, principal)
	return &found
}

// PersonIdentities returns every identity of the person that a principal belongs to, its own included. GitHub logins and SAML names
// are in lower case.
func PersonIdentities(ctx context.Context, from db.Source, principal string) (ids []string, err error) {
	found, err := db.One[Identities](ctx, from, identitiesOf, principal)
	if err != nil {
		return nil, fmt.Errorf("look for the identities of %s: %w", principal, err)
	}
	return found.IDs, nil
}

// IdentitiesNamed is PersonIdentities for typed text: a principal, or any spelling that means one person.
func IdentitiesNamed(ctx context.Context, from db.Source, text string) ([]string, error) {
	found, err := db.One[struct{ Person string }](ctx, from, `
		SELECT coalesce((SELECT person FROM person_spellings WHERE spelling = lower($1)), $1) AS person`, text)
	if err != nil {
		return nil, fmt.Errorf("look for the person %s: %w", text, err)
	}
	return PersonIdentities(ctx, from, found.Person)
}

// MayBeOnePerson reports whether two principals are one person, by the catalogue, linked accounts and the ids themselves. It may take
// two people for one (see human), so use it only to deny something.
func MayBeOnePerson(ctx context.Context, c *db.Tx, a, b string) (bool, error) {
	first, err := PersonIdentities(ctx, c, a)
	if err != nil {
		return false, err
	}
	second, err := PersonIdentities(ctx, c, b)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(first, func(id string) bool {
		return slices.ContainsFunc(second, func(other string) bool { return human(id) == human(other) })
	}), nil
}

const (
	IdentitiesOf = `SELECT n.name FROM attempts a, LATERAL (VALUES (1, a.infra_id), (2, a.cco_name)) AS n (i, name)
		WHERE a.cluster_id = c.id AND n.name IS NOT NULL ORDER BY a.number, n.i`
)

// SharedWith selects the shares with a principal, by any identity of its person, or with its teams. What a person gave to themselves
// counts for nothing, because they would keep it after they lost the role.
const SharedWith = `(s.kind = 'principal' AND principal_key(s.grantee) = ANY ((SELECT identities_of(@principal))::text[])
		AND principal_key(s.granted_by) <> ALL ((SELECT identities_of(@principal))::text[])
	OR s.kind = 'team' AND s.grantee = ANY (@teams))`
