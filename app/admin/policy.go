package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/price/list"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// Policy is everything that requests are judged by, as far as a principal may see it. Whole says that it is everything: what concerns
// only some people is for those who may read the whole audit trail.
type Policy struct {
	State CatalogueState
	Whole bool

	Rules      []RuleState
	Checks     []CheckState // of the product's own, that did something in HitsSpan
	Rights     []Right
	Profiles   []Placed[profiles.Profile]
	Teams      []Placed[profiles.Team]
	Quotas     []Placed[profiles.Quota]
	People     []Placed[profiles.Person]
	Identities []Placed[profiles.Identity]
	Addons     []Placed[profiles.Addon]
	Pools      []Placed[profiles.Pool]
	Accounts   []Placed[profiles.Account]
	Prices     []Placed[list.List]
}

// HitsSpan is the time over which Policy counts what rules and checks did.
const HitsSpan = 7 * 24 * time.Hour

// Placed is an object of the catalogue with its place in the files.
type Placed[T any] struct {
	Value T
	At    profiles.Place
}

// RuleState is a rule, where it stands, and what it did.
type RuleState struct {
	profiles.Rule
	Policy            string
	Sources, Profiles []string // to which it applies; empty: all
	At                profiles.Place
	Hits              []store.CheckHits // without Whole: none
}

// CheckState is a check of the product's own, or one of its parts, and what it did.
type CheckState struct {
	Name, Part string
	Hits       []store.CheckHits
}

// Right is an act with the roles that may perform it.
type Right struct {
	Act   policy.Act
	Verbs []policy.Verb // on a cluster, that take this right
	Roles []policy.Role
	All   bool // it takes a role in every team
}

// Policy returns what requests are judged by.
func (s *Service) Policy(ctx context.Context, p policy.Principal) (Policy, error) {
	state, err := s.Catalogue(p)
	if err != nil {
		return Policy{}, err
	}
	c := state.Catalogue.Catalogue
	out := Policy{State: state, Whole: p.May(policy.ActAudit, policy.EveryTeam), Rights: listRights()}
	var hits []store.CheckHits
	if out.Whole {
		if hits, err = s.store.CheckHits(ctx, time.Now().Add(-HitsSpan)); err != nil {
			return Policy{}, fmt.Errorf("read what rules did: %w", err)
		}
		out.People = place(c, "people", c.People, func(one profiles.Person) string { return one.Name })
		out.Identities = place(c, "identities", c.Identities, func(one profiles.Identity) string { return one.Name })
	}
	out.Rules, out.Checks = sortHits(c, hits)
	visible, _, err := s.Profiles(p)
	if err != nil {
		return Policy{}, err
	}
	out.Profiles = place(c, "profiles", visible, func(one profiles.Profile) string { return one.Name })
	out.Teams = place(c, "teams", s.myTeams(p), func(one profiles.Team) string { return one.Name })
	out.Quotas = place(c, "quotas", c.Quotas, func(one profiles.Quota) string { return one.Name })
	out.Addons = place(c, "addons", c.Addons, func(one profiles.Addon) string { return one.Name })
	out.Pools = place(c, "pools", slices.DeleteFunc(slices.Clone(c.Pools), func(one profiles.Pool) bool { return !p.SeesPool(one) }), func(one profiles.Pool) string { return one.Name })
	out.Accounts = place(c, "accounts", slices.DeleteFunc(slices.Clone(c.Accounts), func(one profiles.Account) bool { return !p.SeesAccount(one) }), func(one profiles.Account) string { return one.Name })
	out.Prices = place(c, "prices", c.Prices, func(one list.List) string { return one.Cloud })
	return out, nil
}

func place[T any](c profiles.Catalogue, folder string, all []T, name func(T) string) []Placed[T] {
	out := make([]Placed[T], 0, len(all))
	for _, one := range all {
		out = append(out, Placed[T]{one, c.PlaceOf(folder, name(one))})
	}
	return out
}

// sortHits gives each rule of the catalogue its hits. What is left is of the product's own checks, and of rules that are gone.
func sortHits(c profiles.Catalogue, hits []store.CheckHits) (rules []RuleState, checks []CheckState) {
	at := map[string]int{}
	for _, p := range c.Policies {
		for _, r := range p.Rules {
			at[policy.RuleID(p, r)] = len(rules)
			rules = append(rules, RuleState{Rule: r, Policy: p.Name, Sources: p.Sources, Profiles: p.Profiles, At: profiles.Place{File: p.File, Line: r.Line}})
		}
	}
	for _, h := range hits {
		if i, known := at[h.Part]; known && h.Name == policy.RulesCheck {
			rules[i].Hits = append(rules[i].Hits, h)
			continue
		}
		if n := len(checks) - 1; n >= 0 && checks[n].Name == h.Name && checks[n].Part == h.Part {
			checks[n].Hits = append(checks[n].Hits, h)
			continue
		}
		checks = append(checks, CheckState{h.Name, h.Part, []store.CheckHits{h}})
	}
	return rules, checks
}

// listRights lists every act with its roles, those on a cluster first.
func listRights() (rights []Right) {
	for _, act := range policy.Acts() {
		rights = append(rights, Right{act, policy.VerbsOf(act), policy.RolesFor(act), policy.Everybodys(act)})
	}
	slices.SortStableFunc(rights, func(a, b Right) int { return min(1, len(b.Verbs)) - min(1, len(a.Verbs)) })
	return rights
}

// CountMistakes counts what keeps the catalogue's files from being in force; for people who may do nothing about it there are none.
func (s *Service) CountMistakes(_ context.Context, p policy.Principal) (int, error) {
	if !p.MayAnywhere(policy.ActCatalogue) {
		return 0, nil
	}
	return len(s.catalogueState().Problems()), nil
}

// Problems lists what keeps the files from being in force; none if they are. Files that could not be read are one problem.
func (c CatalogueState) Problems() profiles.Problems {
	var found profiles.Problems
	if c.Err != nil && !errors.As(c.Err, &found) {
		found = profiles.Problems{{Got: c.Err.Error()}}
	}
	return found
}
