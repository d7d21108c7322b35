package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// linkCounts is how long an account elsewhere counts as its owner's after they signed in last.
const linkCounts = 7 * 24 * time.Hour

// elsewhere is who acts by an account elsewhere: it has the seats that the catalogue's identities give it for what that place
// says of it, and those of the person who said that the account is theirs. Both are worked out now, by the identities of now.
// The number is the account's own there, which no renaming changes.
func (d *Service) ExternalPrincipal(ctx context.Context, said policy.Claims, number string, door policy.Door) (policy.Principal, error) {
	p, identities := policy.Principal{ID: string(said.Source) + ":" + said.Subject, Name: said.Name}, d.catalogue().Identities
	p.Seats = policy.SeatsOf(identities, said)
	proof, err := d.LinkedPerson(ctx, p, number, door)
	if err != nil {
		return policy.Principal{}, err
	}
	p.Seats = append(p.Seats, policy.SeatsOf(identities, proof)...)
	return p, nil
}

// linked is what the person proved last who said that the account is theirs: nothing where nobody did, or not lately. A name
// that came to be another's is theirs no longer.
func (d *Service) LinkedPerson(ctx context.Context, by policy.Principal, number string, door policy.Door) (proof policy.Claims, err error) {
	account, err := d.store.AccountOf(ctx, by.ID)
	if errors.Is(err, store.ErrNotFound) {
		return proof, nil
	}
	if err != nil {
		return proof, fmt.Errorf("look for the account of %s: %w", by.ID, err)
	}
	if account.Number != number {
		why := "account " + account.Number + " had this name then, and account " + number + " has it now"
		err := d.store.Unlink(ctx, account.Account, account.Principal, store.Deed{Actor: by.ID, Door: string(door), Why: why})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return proof, fmt.Errorf("unlink the account of %s: %w", by.ID, err)
		}
		return proof, nil
	}
	now, err := d.store.Now(ctx)
	if err != nil {
		return proof, fmt.Errorf("read the clock: %w", err)
	}
	if now.Sub(account.SeenAt) > linkCounts {
		return proof, nil
	}
	if err := json.Unmarshal(account.Proof, &proof); err != nil {
		return policy.Claims{}, fmt.Errorf("what the owner of %s proved: %w", account.Account, err)
	}
	return proof, nil
}
