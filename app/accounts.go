package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
)

// linkCounts is how long a linked account counts as its owner's after their last sign-in.
const linkCounts = 7 * 24 * time.Hour

// ExternalPrincipal returns the principal who acts by an account elsewhere. It has the roles that the catalogue's identities
// give the account's claims, and those of the person who linked it, both by the current identities.
func (s *Service) ExternalPrincipal(ctx context.Context, said policy.Claims) (policy.Principal, error) {
	return s.principalOf(ctx, said, linkCounts)
}

// principalOf is ExternalPrincipal, with how long a linked account counts after its owner's last sign-in.
func (s *Service) principalOf(ctx context.Context, said policy.Claims, linked time.Duration) (policy.Principal, error) {
	p := policy.Principal{ID: string(said.Source) + ":" + said.Subject, Name: said.Name, Said: &said, Seats: policy.SeatsOf(s.catalogue().Identities, said)}
	owner, _, err := s.ownerOfAccount(ctx, p.ID, linked)
	if err != nil {
		return policy.Principal{}, err
	}
	p.Seats = append(p.Seats, owner.Seats...)
	return p, nil
}

// LinkedOwner returns the person who linked an account elsewhere, with the roles that the current identities give what they proved last;
// ok is false if nobody did, or if their last sign-in is too old.
func (s *Service) LinkedOwner(ctx context.Context, account string) (owner policy.Principal, ok bool, err error) {
	return s.ownerOfAccount(ctx, account, linkCounts)
}

func (s *Service) ownerOfAccount(ctx context.Context, account string, within time.Duration) (owner policy.Principal, ok bool, err error) {
	linked, err := s.store.People.AccountOf(ctx, account)
	if errors.Is(err, db.ErrNotFound) {
		return owner, false, nil
	}
	if err != nil {
		return owner, false, fmt.Errorf("look for the account of %s: %w", account, err)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return owner, false, fmt.Errorf("read the clock: %w", err)
	}
	if now.Sub(linked.SeenAt) > within {
		return owner, false, nil
	}
	var proof policy.Claims
	if err := json.Unmarshal(linked.Proof, &proof); err != nil {
		return owner, false, fmt.Errorf("what the owner of %s proved: %w", account, err)
	}
	if proof.Subject == "" {
		return owner, false, nil
	}
	return policy.Principal{ID: linked.Principal, Name: linked.Name, Seats: policy.SeatsOf(s.catalogue().Identities, proof)}, true, nil
}
