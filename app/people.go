package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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

// NameOf returns the display name of a principal, the same at every entry point: that of the catalogue's person, for each of their accounts.
// Otherwise it is the account's present name on GitHub or in Slack, or the name from the person's own sign-in.
func (s *Service) NameOf(id string) string {
	source, _, _ := strings.Cut(id, ":")
	isAccount := profiles.Source(source) == profiles.SourceGitHub || profiles.Source(source) == profiles.SourceSlack
	if _, known := s.catalogue().PersonOf(id); s.store == nil || !isAccount && (known || !profiles.IsPersonal(id)) {
		return s.catalogue().NameOf(id)
	}
	name := s.shown.lookUp(id, func(ctx context.Context) (string, error) {
		names, err := s.store.People.ShownNames(ctx, id)
		return names[id], err
	})
	return cmp.Or(name, s.catalogue().NameOf(id))
}

// RecordName stores the name from a sign-in of a person with a role, if it is new. A name that looks like an id or an account is not stored.
func (s *Service) RecordName(ctx context.Context, p policy.Principal) {
	if known, seen := s.recorded.Load(p.ID); seen && known == p.Name || len(p.Seats) == 0 || !profiles.IsPersonal(p.ID) || !profiles.IsDisplayName(p.Name) {
		return
	}
	if err := s.store.People.RecordName(ctx, p.ID, p.Name); err != nil {
		s.log.WarnContext(ctx, "name not stored", "principal", p.ID, "err", err)
		return
	}
	s.recorded.Store(p.ID, p.Name)
}

const (
	shownFor  = 5 * time.Second // how long a name is shown before it is read again
	shownMost = 10_000          // how many names are kept
	shownWait = time.Second     // how long a page waits for a name
)

// shownNames keeps names of accounts for a moment, because a page shows the same name often. The zero value is ready to use.
type shownNames struct {
	mu    sync.Mutex
	names map[string]shownName
}

type shownName struct {
	name string
	at   time.Time
}

// lookUp returns a name, which read looks up unless it was read just now. If that fails, the last name is returned.
func (n *shownNames) lookUp(id string, read func(context.Context) (string, error)) string {
	n.mu.Lock()
	known := n.names[id]
	n.mu.Unlock()
	if time.Since(known.at) < shownFor {
		return known.name
	}
	ctx, cancel := context.WithTimeout(context.Background(), shownWait)
	defer cancel()
	name, err := read(ctx)
	if err != nil {
		return known.name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil || len(n.names) >= shownMost {
		n.names = map[string]shownName{}
	}
	n.names[id] = shownName{name, time.Now()}
	return name
}

// PersonNamed returns the display name of the catalogue's person with this identity; empty: nobody has it.
func (s *Service) PersonNamed(identity string) string {
	person, _ := s.catalogue().PersonOf(identity)
	return person.DisplayName
}

// withDisplayName returns the principal with the display name of the catalogue's person, if there is one. Clusters, tags and messages then
// show that name, whichever identity made the request.
func withDisplayName(p policy.Principal, c profiles.Catalogue) policy.Principal {
	if person, known := c.PersonOf(p.ID); known {
		p.Name = person.DisplayName
	}
	return p
}

// isSamePerson reports whether two principals are one person, by everything that is linked now.
func (s *Service) isSamePerson(ctx context.Context, p policy.Principal, other string) (bool, error) {
	if p.ID == other {
		return true, nil
	}
	ids, err := s.store.IdentitiesOf(ctx, p.ID)
	if err != nil {
		return false, fmt.Errorf("look for the identities of a person: %w", err)
	}
	return slices.Contains(ids, profiles.IdentityKey(other)), nil
}
