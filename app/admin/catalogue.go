package admin

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Profiles returns the profiles that the principal could ask for, and the default's name. Only admins and auditors see those for
// admins.
func (s *Service) Profiles(p policy.Principal) (list []profiles.Profile, unasked string, err error) {
	if err := app.MayForEverybody(p, policy.ActProfiles, "see the profiles"); err != nil {
		return nil, "", err
	}
	for _, one := range s.catalogue().All() {
		if !one.AdminOnly || p.HasAnywhere(policy.PlatformAdmin, policy.Auditor) {
			list = append(list, one)
		}
	}
	first, _ := s.catalogue().Default()
	return list, first.Name, nil
}

// TeamState is a team with its spent and committed amounts of this month.
type TeamState struct {
	profiles.Team
	Spent, Committed int64 // US cents
}

// Teams returns the declared teams that the principal may see.
func (s *Service) Teams(ctx context.Context, p policy.Principal) ([]TeamState, error) {
	if err := app.MayForEverybody(p, policy.ActProfiles, "see the teams"); err != nil {
		return nil, err
	}
	var out []TeamState
	for _, t := range s.myTeams(p) {
		used, err := s.store.Usage(ctx, usage.Scope{Team: t.Name})
		if err != nil {
			return nil, fmt.Errorf("count what team %s uses: %w", t.Name, err)
		}
		out = append(out, TeamState{Team: t, Spent: used.Team.SpentCents, Committed: used.Team.CommittedCents})
	}
	return out, nil
}

// myTeams returns the declared teams that the principal may see or, if none are declared, the teams of its roles.
func (s *Service) myTeams(p policy.Principal) []profiles.Team {
	var out []profiles.Team
	declared := s.catalogue().Teams
	for _, t := range declared {
		if p.May(policy.ActSee, t.Name) {
			out = append(out, t)
		}
	}
	if len(declared) > 0 {
		return out
	}
	names, _ := p.Teams()
	for _, name := range names {
		out = append(out, profiles.Team{Name: name})
	}
	return out
}

// QuotaState is a quota as it applies to somebody, with its usage.
type QuotaState struct {
	profiles.Quota
	Key    string // person or team it applies to; empty: everywhere
	Used   usage.Counts
	Cohort *policy.CohortUse // of the team whose live clusters it limits; nil: it has none
}

// MostLive returns how many live clusters the quota allows at once, with those to borrow.
func (q QuotaState) MostLive() int { return q.Live + q.Borrow }

// Quotas returns the limits that apply to the principal and its teams, with their usage.
func (s *Service) Quotas(ctx context.Context, p policy.Principal) ([]QuotaState, error) {
	if err := app.MayForEverybody(p, policy.ActQuotas, "see the quotas"); err != nil {
		return nil, err
	}
	teams := s.myTeams(p)
	var out []QuotaState
	for _, q := range s.catalogue().Quotas {
		keys := []string{""}
		switch q.Scope {
		case profiles.ScopePerson:
			keys = []string{p.ID}
		case profiles.ScopeTeam:
			keys = nil
			for _, t := range teams {
				keys = append(keys, t.Name)
			}
		case profiles.ScopeRepository:
			continue // no repository belongs to a principal
		}
		for _, key := range keys {
			if q.Scope != profiles.ScopeEverywhere && len(q.Match) > 0 && !profiles.FitsAny(q.Match, key) {
				continue
			}
			state, err := s.countFor(ctx, q, key)
			if err != nil {
				return nil, err
			}
			out = append(out, state)
		}
	}
	return out, nil
}

func (s *Service) countFor(ctx context.Context, q profiles.Quota, key string) (QuotaState, error) {
	var counted usage.Scope
	switch q.Scope {
	case profiles.ScopePerson:
		counted.Person = key
	case profiles.ScopeTeam:
		counted.Team, counted.Cohort = key, app.CohortScope(key, s.catalogue().Catalogue)
	default:
		counted.Everywhere = true
	}
	used, err := s.store.Usage(ctx, counted)
	if err != nil {
		return QuotaState{}, fmt.Errorf("count what is used: %w", err)
	}
	out := QuotaState{Quota: q, Key: key, Used: used.Everywhere}
	switch q.Scope {
	case profiles.ScopePerson:
		out.Used = used.Person
	case profiles.ScopeTeam:
		out.Used = used.Team
		if cohort, has := policy.CohortOf(key, app.ToPolicyUsage(used), s.catalogue().Catalogue); has && q.Live > 0 {
			out.Cohort = &cohort
		}
	}
	return out, nil
}

// CatalogueState says which catalogue is in use and whether its files hold another.
type CatalogueState struct {
	catalogue.Status
	app.CatalogueHome
	Catalogue catalogue.Catalogue
	Embedded  bool // it is built into the program and never changes
}

// Catalogue returns which catalogue is in use, since when, and what is wrong with its files if they could not be loaded.
func (s *Service) Catalogue(p policy.Principal) (CatalogueState, error) {
	if err := app.MayForEverybody(p, policy.ActProfiles, "see the catalogue's state"); err != nil {
		return CatalogueState{}, err
	}
	state := s.catalogueState()
	if state.Err != nil && !p.MayAnywhere(policy.ActCatalogue) {
		state.Err = errUnsound // the errors quote the files, which name people of every team
	}
	return state, nil
}

var errUnsound = errors.New("the files have errors, so the previous catalogue stays active; platform admins can see the errors")

func (s *Service) catalogueState() CatalogueState {
	state := CatalogueState{Catalogue: s.catalogue(), Embedded: s.keeper == nil, CatalogueHome: s.home, Status: catalogue.Status{LoadedAt: s.since}}
	if s.keeper != nil {
		state.Status = s.keeper.Status()
	}
	state.Hash = state.Catalogue.Hash
	return state
}

// ReloadCatalogue reads the catalogue's files now instead of at the next check. Invalid files change nothing, and the state says
// why.
func (s *Service) ReloadCatalogue(ctx context.Context, p policy.Principal, origin app.Origin) (CatalogueState, error) {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "reload the catalogue"); err != nil {
		return CatalogueState{}, err
	}
	before := s.catalogue().Hash
	if s.keeper != nil {
		_, _ = s.keeper.Reload() // the state shows the error
	}
	now := s.catalogueState()
	meta := map[string]string{"why": "the catalogue was reloaded", "before": before, "after": now.Hash}
	if err := s.store.Audit(ctx, s.core.StoreOrigin(origin, p), "catalogue.reloaded", "", meta); err != nil {
		return CatalogueState{}, fmt.Errorf("record the reload: %w", err)
	}
	return now, nil
}

// ValidateCatalogue reads files as the server would and stores nothing. Problems are a result; hash is empty if there are any.
func (s *Service) ValidateCatalogue(p policy.Principal, files map[string]string) (hash string, problems profiles.Problems, err error) {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "validate a catalogue"); err != nil {
		return "", nil, err
	}
	read, problems, err := s.loadFiles(files)
	if err != nil || len(problems) > 0 {
		return "", problems, err
	}
	return read.Hash, nil, nil
}

// newMemoryFolder returns an in-memory folder with the files.
func newMemoryFolder(files map[string]string) (fs.FS, error) {
	var wrong []app.Field
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !fs.ValidPath(path) || path == "." {
			wrong = append(wrong, app.ProblemOf("files."+path, messages.Problem{"it is not a valid file path", []string{"profiles/<name>.yaml", "teams/…", "quotas/…", "policies/…", "identities/…"}}))
			continue
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, files[path])
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", path, err)
		}
	}
	if len(wrong) > 0 {
		return nil, &app.Error{Kind: app.Invalid, Message: "Some paths are not valid.", Fields: wrong}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack the files: %w", err)
	}
	return zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
}
