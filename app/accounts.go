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

// linkCounts is how long a linked account counts as its owner's after their last sign-in.
const linkCounts = 7 * 24 * time.Hour

// ExternalPrincipal returns the principal who acts by an account elsewhere. It has the roles that the catalogue's identities
// give the account's claims, and those of the person who linked it, both by the current identities.
func (s *Service) ExternalPrincipal(ctx context.Context, said policy.Claims) (policy.Principal, error) {
	return s.principal(ctx, said, linkCounts)
}

// principal is ExternalPrincipal, with how long a linked account counts after its owner's last sign-in.
func (s *Service) principal(ctx context.Context, said policy.Claims, linked time.Duration) (policy.Principal, error) {
	p, identities := policy.Principal{ID: string(said.Source) + ":" + said.Subject, Name: said.Name, Said: &said}, s.catalogue().Identities
	p.Seats = policy.SeatsOf(identities, said)
	proof, err := s.linkedPerson(ctx, p, linked)
	if err != nil {
		return policy.Principal{}, err
	}
	p.Seats = append(p.Seats, policy.SeatsOf(identities, proof)...)
	return p, nil
}

// LinkedPerson returns the claims that the owner of a linked account last proved; the zero value: it is not linked, or the last
// sign-in is too old.
func (s *Service) LinkedPerson(ctx context.Context, by policy.Principal) (proof policy.Claims, err error) {
	return s.linkedPerson(ctx, by, linkCounts)
}

func (s *Service) linkedPerson(ctx context.Context, by policy.Principal, within time.Duration) (proof policy.Claims, err error) {
	account, err := s.store.People.AccountOf(ctx, by.ID)
	if errors.Is(err, store.ErrNotFound) {
		return proof, nil
	}
	if err != nil {
		return proof, fmt.Errorf("look for the account of %s: %w", by.ID, err)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return proof, fmt.Errorf("read the clock: %w", err)
	}
	if now.Sub(account.SeenAt) > within {
		return proof, nil
	}
	if err := json.Unmarshal(account.Proof, &proof); err != nil {
		return policy.Claims{}, fmt.Errorf("what the owner of %s proved: %w", account.Account, err)
	}
	return proof, nil
}
