package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/db"
)

// How long a freeze may last. Nobody remembers a longer one; it can be made again.
const (
	leastFreeze = time.Minute
	mostFreeze  = 14 * duration.Day
)

// AllBrakes is what thaws everything.
const AllBrakes = "all"

// Brakes returns what keeps new clusters from being created now, the oldest first. Proofs of accounts are not among them: nobody thaws one.
func (s *Service) Brakes(ctx context.Context, who policy.Principal) ([]lifecycle.Brake, error) {
	if err := MayForEverybody(who, policy.ActBrakes, "see what is frozen"); err != nil {
		return nil, err
	}
	list, err := s.store.Brakes.List(ctx)
	return slices.DeleteFunc(list, func(b lifecycle.Brake) bool { return b.Kind == lifecycle.Proof }), err
}

// FreezeRequest is a freeze as somebody asks for it. Times are RFC 3339, or how long, as people type it.
type FreezeRequest struct {
	Where   lifecycle.Place
	Until   string
	Drain   bool   // what lives there ends too
	DrainBy string // then; empty: after its grace, if Drain
}

// Freeze keeps creates from beginning at a place, and ends what lives there if that is asked for.
func (s *Service) Freeze(ctx context.Context, who policy.Principal, r FreezeRequest, origin Origin) (lifecycle.Brake, error) {
	if err := MayForEverybody(who, policy.ActBrakes, "freeze new clusters"); err != nil {
		return lifecycle.Brake{}, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return lifecycle.Brake{}, fmt.Errorf("read the clock: %w", err)
	}
	if a, ok := s.catalogue().Account(r.Where.Account); ok { // by its name
		r.Where.Account = a.Number
	}
	wrong := s.checkPlace(r.Where)
	length, problem := checkMoment("until", r.Until, mostFreeze, now)
	wrong = append(wrong, problem...)
	drain, problem := r.checkDrain(length, now)
	wrong = append(wrong, problem...)
	origin, err = CheckReason(origin, true)
	var reason *Error
	if errors.As(err, &reason) {
		wrong = append(wrong, reason.Fields...)
	}
	if len(wrong) > 0 {
		return lifecycle.Brake{}, &Error{Kind: Invalid, Message: "Nothing was frozen.", Fields: wrong}
	}
	brake, err := s.store.Brakes.Freeze(ctx, r.Where, length, drain, s.StoreOrigin(origin, who))
	var short *brakes.ShortFreezeError
	if errors.As(err, &short) {
		return lifecycle.Brake{}, &Error{Kind: Invalid, Message: "Nothing was frozen.", Fields: []Field{ProblemOf("until", messages.Problem{
			Detail: fmt.Sprintf("clusters there have a grace of %s, and the freeze would be over before their end", duration.Format(short.Grace)),
			Accept: []string{duration.Typed(short.Grace) + " or more", "an earlier end, in drainBy"},
		})}}
	}
	return brake, err
}

// checkDrain returns the drain that is asked for; nil: none.
func (r FreezeRequest) checkDrain(length time.Duration, now time.Time) (*brakes.Drain, []Field) {
	switch {
	case r.DrainBy != "":
		in, problem := checkMoment("drainBy", r.DrainBy, max(length, leastFreeze), now)
		return &brakes.Drain{In: in}, problem
	case r.Drain:
		return &brakes.Drain{}, nil
	}
	return nil, nil
}

// checkMoment returns how long it is until a moment, which may be so far away.
func checkMoment(field, text string, most time.Duration, now time.Time) (time.Duration, []Field) {
	length, ok := parseUntil(text, now)
	if ok && length >= leastFreeze && length <= most {
		return length, nil
	}
	return 0, []Field{ProblemOf(field, messages.Problem{
		Detail: fmt.Sprintf("%q is not a time within the next %s", text, duration.Format(most)),
		Accept: []string{duration.Accepted, "a time, such as " + now.Add(min(most, 4*time.Hour)).UTC().Format(time.RFC3339)},
	})}
}

// Thaw ends a brake, or every one with AllBrakes, and returns those that it ended.
func (s *Service) Thaw(ctx context.Context, who policy.Principal, id string, origin Origin) ([]lifecycle.Brake, error) {
	if err := MayForEverybody(who, policy.ActBrakes, "thaw"); err != nil {
		return nil, err
	}
	origin, err := CheckReason(origin, false)
	if err != nil {
		return nil, err
	}
	one := id
	if id == AllBrakes {
		one = ""
	}
	ended, err := s.store.Brakes.Thaw(ctx, one, s.StoreOrigin(origin, who))
	if errors.Is(err, db.ErrNotFound) {
		return nil, Fail(NotFound, fmt.Sprintf("There is no brake %s: it ended, or never was. See ocpctl admin brakes.", id))
	}
	return ended, err
}

// parseUntil returns how long it is until a time, or the duration that the text says.
func parseUntil(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Sub(now), true
		}
	}
	return duration.ParseHours(text)
}

// checkPlace returns a problem for every part of a place that the installation does not have: a freeze there would stop nothing.
func (s *Service) checkPlace(where lifecycle.Place) (wrong []Field) {
	c := s.catalogue()
	var platforms, regions, accounts, teams []string
	for _, p := range c.All() {
		platforms, regions = append(platforms, p.Platform), append(regions, p.RegionNames()...)
	}
	for _, cloud := range s.installs.Clouds {
		accounts = append(accounts, cloud.Account)
	}
	for _, a := range c.Accounts {
		accounts = append(accounts, a.Name, a.Number)
	}
	for _, t := range c.Teams {
		teams = append(teams, t.Name)
	}
	for _, part := range []struct {
		field, value string
		known        []string
	}{
		{"platform", where.Platform, platforms}, {"account", where.Account, accounts}, {"region", where.Region, regions},
		{"profile", where.Profile, c.Names()}, {"team", where.Team, teams},
	} {
		if part.value == "" || len(part.known) == 0 && part.field == "team" || slices.Contains(part.known, part.value) {
			continue
		}
		known := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(part.known))), func(name string) bool { return name == "" })
		wrong = append(wrong, ProblemOf(part.field, messages.Problem{Detail: fmt.Sprintf("there is no %s %q", part.field, part.value), Accept: append(known, "none, for every "+part.field)}))
	}
	return wrong
}

// brakeOn returns the brake that an accepted cluster would wait for; nil: none.
func (s *Service) brakeOn(r ClusterRequest, g policy.Grant, now time.Time) *lifecycle.Brake {
	account, _ := r.catalogue.Account(g.Account)
	return s.terms(r, now).BrakeFor(account, g.Platform, g.Region, g.Profile, g.Ownership.Team, g.Version)
}

// checkBrakes says that an accepted cluster would wait for a brake.
func (s *Service) checkBrakes(r ClusterRequest, g policy.Grant, now time.Time) []policy.Check {
	brake := s.brakeOn(r, g, now)
	if brake == nil {
		return nil
	}
	return []policy.Check{{Name: "brake", Result: policy.Wait, Message: messages.Sentence(strings.TrimSuffix(brake.String(), ".")) + ".", Next: "Nothing to do: it starts by itself afterwards. A cluster that waits in a pool can be claimed now."}}
}
