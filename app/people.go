package app

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/people"
)

// KeepPeople gives the store the people that the current catalogue links. It writes once per catalogue; after an error the next
// call tries again. Without a valid catalogue it changes nothing, so that existing links stay.
func (s *Service) KeepPeople(ctx context.Context) error { return s.keepPeople(ctx, s.catalogue()) }

func (s *Service) keepPeople(ctx context.Context, b catalogue.Catalogue) error {
	if kept := s.people.Load(); b.Hash == "" || kept != nil && *kept == b.Hash {
		return nil
	}
	if err := s.store.People.KeepPeople(ctx, peopleOf(b.Catalogue)); err != nil {
		return fmt.Errorf("link the identities of people: %w", err)
	}
	s.people.Store(&b.Hash)
	return nil
}

// peopleOf returns the catalogue's people in the store's form.
func peopleOf(c profiles.Catalogue) []people.Person {
	spelt := map[string][]string{}
	all := profiles.Spellings(c.People)
	for _, text := range slices.Sorted(maps.Keys(all)) {
		spelt[all[text].Name] = append(spelt[all[text].Name], text)
	}
	out := make([]people.Person, 0, len(c.People))
	for _, p := range c.People {
		out = append(out, people.Person{ID: p.ID(), Name: p.DisplayName, Identities: p.Identities, Spellings: spelt[p.Name]})
	}
	return out
}

// NameOf returns the display name of a principal, the same at every entry point.
func (s *Service) NameOf(id string) string { return s.catalogue().NameOf(id) }

// PersonNamed returns the display name of the catalogue's person with this identity; empty: nobody has it.
func (s *Service) PersonNamed(identity string) string {
	person, _ := s.catalogue().PersonOf(identity)
	return person.DisplayName
}

// named returns the principal with the display name of the catalogue's person, if there is one. Clusters, tags and messages then
// show that name, whichever identity made the request.
func named(p policy.Principal, c profiles.Catalogue) policy.Principal {
	if person, known := c.PersonOf(p.ID); known {
		p.Name = person.DisplayName
	}
	return p
}

// same reports whether two principals are one person, by everything that is linked now.
func (s *Service) same(ctx context.Context, p policy.Principal, other string) (bool, error) {
	if p.ID == other {
		return true, nil
	}
	ids, err := s.store.IdentitiesOf(ctx, p.ID)
	if err != nil {
		return false, fmt.Errorf("look for the identities of a person: %w", err)
	}
	return slices.Contains(ids, profiles.IdentityKey(other)), nil
}
