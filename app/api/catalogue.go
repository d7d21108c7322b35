package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// ListProfiles implements GET /api/v1/profiles.
func (s *server) ListProfiles(w http.ResponseWriter, r *http.Request) {
	list, unasked, err := s.Admin.Profiles(principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Profiles{Items: []v1.Profile{}}
	for _, p := range list {
		out.Items = append(out.Items, toProfile(p, p.Name == unasked))
	}
	writeOK(w, out)
}

// GetProfile implements GET /api/v1/profiles/{name}.
func (s *server) GetProfile(w http.ResponseWriter, r *http.Request, name string) {
	list, unasked, err := s.Admin.Profiles(principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	var names []string
	for _, p := range list {
		if p.Name == name {
			writeOK(w, toProfile(p, p.Name == unasked))
			return
		}
		names = append(names, p.Name)
	}
	detail := "The profile " + name + " does not exist. Profiles: " + strings.Join(names, ", ") + "."
	if near, found := closest.Match(name, names); found {
		detail = "The profile " + name + " does not exist. Did you mean " + near + "?"
	}
	writeProblem(w, http.StatusNotFound, detail)
}

func toProfile(p profiles.Profile, unasked bool) v1.Profile {
	out := v1.Profile{
		Name: p.Name, DisplayName: p.DisplayName, Description: p.Description, Platform: p.Platform, Enabled: p.Enabled,
		DisabledReason: p.DisabledReason, AdminOnly: p.AdminOnly, Default: unasked, Regions: []v1.ProfileRegion{},
		Versions:     v1.AllowList{Allow: p.Versions.Allow, Default: p.Versions.Default},
		BaseDomains:  v1.AllowList{Allow: p.BaseDomains.Allow, Default: p.BaseDomains.Default},
		ControlPlane: v1.Machines{Replicas: p.ControlPlane.Replicas, InstanceType: p.ControlPlane.InstanceType},
		Workers: v1.Machines{
			Replicas: p.Workers.Replicas, InstanceType: p.Workers.InstanceType, Least: p.Workers.Least, Most: p.Workers.Most,
		},
		DefaultTTLSeconds: toSeconds(p.DefaultTTL), MaxTTLSeconds: toSeconds(p.MaxTTL), GraceSeconds: toSeconds(p.Grace), RunGraceSeconds: toSeconds(p.RunGrace),
		WhenFull: v1.ProfileWhenFull(p.WhenFull), AllowUserTags: p.AllowUserTags, PricesAsOf: p.PricesAsOf,
	}
	for _, region := range p.Regions {
		out.Regions = append(out.Regions, v1.ProfileRegion{
			Name: region.Name, Zones: region.Zones, HourlyCents: region.HourlyCents, Default: region.Name == p.DefaultRegion,
		})
	}
	return out
}

func toSeconds(d time.Duration) int64 { return int64(d / time.Second) }

// ListTeams implements GET /api/v1/teams.
func (s *server) ListTeams(w http.ResponseWriter, r *http.Request) {
	list, err := s.Admin.Teams(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Teams{Items: []v1.Team{}}
	for _, t := range list {
		out.Items = append(out.Items, v1.Team{
			Name: t.Name, DisplayName: t.DisplayName, Owner: t.Owner, CostCenters: append([]string{}, t.CostCenters...),
			Environments: append([]string{}, t.Environments...), Weight: t.Weight, BudgetCents: t.Budget.MonthlyCents,
			BudgetHard: t.Budget.Hard, SpentCents: t.Spent, CommittedCents: t.Committed,
		})
	}
	writeOK(w, out)
}

// ListQuotas implements GET /api/v1/quotas.
func (s *server) ListQuotas(w http.ResponseWriter, r *http.Request) {
	list, err := s.Admin.Quotas(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Quotas{Items: []v1.Quota{}}
	for _, q := range list {
		one := v1.Quota{Name: q.Name, Scope: v1.QuotaScope(q.Scope), Key: q.Key, Waiting: q.Used.Waiting}
		for _, bound := range []struct {
			into *v1.Used
			used float64
			most int
		}{{&one.Live, float64(q.Used.Live), q.MostLive()}, {&one.Creating, float64(q.Used.Creating), q.Creating}, {&one.NodeHours, q.Used.NodeHours, q.NodeHours}} {
			if bound.most > 0 {
				*bound.into = v1.Used{Used: float32(bound.used), Most: bound.most}
			}
		}
		if c := q.Cohort; c != nil {
			one.Cohort = v1.CohortShare{Name: c.Name, Guaranteed: c.Own[c.Team], Borrowed: c.CountBorrowed(), Lent: c.CountLent()}
		}
		out.Items = append(out.Items, one)
	}
	writeOK(w, out)
}

// GetCatalogue implements GET /api/v1/catalogue.
func (s *server) GetCatalogue(w http.ResponseWriter, r *http.Request) {
	state, err := s.Admin.Catalogue(principal(r))
	s.writeCatalogue(w, r, state, err)
}

// ReloadCatalogue implements POST /api/v1/catalogue/reload.
func (s *server) ReloadCatalogue(w http.ResponseWriter, r *http.Request) {
	state, err := s.Admin.ReloadCatalogue(r.Context(), principal(r), app.Origin{Source: policy.SourceAPI})
	s.writeCatalogue(w, r, state, err)
}

func (s *server) writeCatalogue(w http.ResponseWriter, r *http.Request, state admin.CatalogueState, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	b := state.Catalogue
	out := v1.CatalogueState{
		Hash: b.Hash, LoadedAt: state.LoadedAt.UTC(), Source: "directory", Profiles: len(b.Names()), Teams: len(b.Teams),
		Quotas: len(b.Quotas), Policies: len(b.Policies), Identities: len(b.Identities),
	}
	if state.Embedded {
		out.Source = "embedded"
	}
	if state.Err != nil {
		out.Problem = state.Err.Error()
	}
	writeOK(w, out)
}

// ValidateCatalogue implements POST /api/v1/catalogue/validate.
func (s *server) ValidateCatalogue(w http.ResponseWriter, r *http.Request) {
	var said v1.CatalogueFiles
	if !s.readDocument(w, r, &said, false, maxCatalogue) {
		return
	}
	hash, problems, err := s.Admin.ValidateCatalogue(principal(r), said.Files)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, v1.CatalogueProblems{Valid: len(problems) == 0, Hash: hash, Problems: toProblems(problems)})
}

func toProblems(problems profiles.Problems) []v1.CatalogueProblem {
	out := []v1.CatalogueProblem{}
	for _, p := range problems {
		detail := p.Got
		if p.Accept != "" {
			detail += "; accepted: " + p.Accept
		}
		out = append(out, v1.CatalogueProblem{File: p.File, Line: p.Line, Field: p.Field, Detail: detail})
	}
	return out
}
