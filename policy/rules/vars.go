package rules

import (
	"math"
	"reflect"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/ocpctl/ocpctl/policy"
)

// What a rule can read. The names are those of the request's JSON. Each variable is typed, so a misspelt name is reported when the
// catalogue is loaded.
type (
	request struct {
		Source      string            `cel:"source"` // entry point: pr_label, pr_comment, api, web, slack, environment
		Profile     string            `cel:"profile"`
		Name        string            `cel:"name"`
		Region      string            `cel:"region"`
		Version     string            `cel:"version"`
		BaseDomain  string            `cel:"baseDomain"`
		Team        string            `cel:"team"`
		Owner       string            `cel:"owner"`
		CostCenter  string            `cel:"costCenter"`
		Environment string            `cel:"environment"`
		TTL         time.Duration     `cel:"ttl"`
		TTLHours    int64             `cel:"ttlHours"` // a started hour counts as a whole one
		Generation  int64             `cel:"generation"`
		Tags        map[string]string `cel:"tags"`
	}
	profile struct {
		Name            string   `cel:"name"`
		Platform        string   `cel:"platform"`
		CredentialsMode string   `cel:"credentialsMode"`
		AdminOnly       bool     `cel:"adminOnly"`
		Publish         string   `cel:"publish"`
		ControlPlane    int64    `cel:"controlPlane"` // number of machines
		Workers         int64    `cel:"workers"`      // number of machines
		Nodes           int64    `cel:"nodes"`        // both
		Regions         []string `cel:"regions"`
		Versions        []string `cel:"versions"`
		BaseDomains     []string `cel:"baseDomains"`
		DefaultTTLHours int64    `cel:"defaultTtlHours"`
		MaxTTLHours     int64    `cel:"maxTtlHours"`
	}
	actor struct {
		ID         string   `cel:"id"`
		Name       string   `cel:"name"`
		Role       string   `cel:"role"` // the most powerful role
		Teams      []string `cel:"teams"`
		EveryTeam  bool     `cel:"everyTeam"`
		Permission string   `cel:"permission"` // on the repository, as GitHub reports it
	}
	team struct {
		Name         string   `cel:"name"`
		Declared     bool     `cel:"declared"`
		Owner        string   `cel:"owner"`
		CostCenters  []string `cel:"costCenters"`
		Environments []string `cel:"environments"`
		Weight       int64    `cel:"weight"`
		BudgetCents  int64    `cel:"budgetCents"` // per month; 0: none
	}
	counts struct {
		Live           int64   `cel:"live"`
		Creating       int64   `cel:"creating"`
		Waiting        int64   `cel:"waiting"`
		NodeHours      float64 `cel:"nodeHours"`
		SpentCents     int64   `cel:"spentCents"`
		CommittedCents int64   `cel:"committedCents"`
	}
	usage struct {
		Person     counts `cel:"person"`
		Team       counts `cel:"team"`
		Repository counts `cel:"repository"`
		Everywhere counts `cel:"everywhere"`
	}
	pullRequest struct {
		Repo   string   `cel:"repo"`
		Number int64    `cel:"number"` // 0: there is no pull request
		Author string   `cel:"author"`
		Head   string   `cel:"head"`
		Base   string   `cel:"base"`
		IsFork bool     `cel:"is_fork"`
		Fork   bool     `cel:"fork"` // from a fork
		Draft  bool     `cel:"draft"`
		Labels []string `cel:"labels"`

		Association string `cel:"association"` // of the author, in GitHub's spelling; empty: unknown
	}
	price struct {
		HourlyCents int64 `cel:"hourlyCents"`
		TotalCents  int64 `cel:"totalCents"` // until its end, by list prices
	}
)

// variables are what rules can read, by name.
var variables = map[string]reflect.Type{
	"request": reflect.TypeFor[request](),
	"profile": reflect.TypeFor[profile](),
	"actor":   reflect.TypeFor[actor](),
	"team":    reflect.TypeFor[team](),
	"usage":   reflect.TypeFor[usage](),
	"pr":      reflect.TypeFor[pullRequest](),
	"price":   reflect.TypeFor[price](),
	"now":     reflect.TypeFor[time.Time](),
}

// declareVariables adds the variables to an environment, each with the type "ocpctl.<name>".
func declareVariables() []cel.EnvOption {
	counted := cel.NativeTypeAlias(space + "counts")
	opts := []cel.EnvOption{
		cel.Types(
			cel.NativeTypeFor[counts](counted, useStructTags),
			cel.NativeTypeFor[request](cel.NativeTypeAlias(space+"request"), useStructTags), cel.NativeTypeFor[profile](cel.NativeTypeAlias(space+"profile"), useStructTags),
			cel.NativeTypeFor[actor](cel.NativeTypeAlias(space+"actor"), useStructTags), cel.NativeTypeFor[team](cel.NativeTypeAlias(space+"team"), useStructTags),
			cel.NativeTypeFor[usage](cel.NativeTypeAlias(space+"usage"), useStructTags), cel.NativeTypeFor[pullRequest](cel.NativeTypeAlias(space+"pr"), useStructTags),
			cel.NativeTypeFor[price](cel.NativeTypeAlias(space+"price"), useStructTags)),
		cel.Variable("now", cel.TimestampType),
	}
	for name := range variables {
		if name != "now" {
			opts = append(opts, cel.Variable(name, cel.ObjectType(space+name)))
		}
	}
	return opts
}

const space = "ocpctl."

func useStructTags(o *types.NativeTypeOptions) error { return types.ParseStructTags(true)(o) }

// variableValues returns the variables of one request.
func variableValues(in policy.In) map[string]any {
	r := in.Request
	var pr pullRequest
	if p := r.PR; p != nil {
		pr = pullRequest{
			Repo: p.Repo, Number: int64(p.Number), Author: p.Author, Head: p.Head, Base: p.Base, IsFork: p.Fork, Fork: p.Fork, Draft: p.Draft, Labels: p.Labels, Association: p.Association,
		}
	}
	return map[string]any{
		"request": requestOf(r), "profile": profileOf(in), "actor": actorOf(r), "team": teamOf(in), "usage": usageOf(in.Usage), "pr": pr,
		"price": priceOf(in), "now": in.Now.UTC(),
	}
}

func requestOf(r policy.Request) request {
	own := r.Ownership
	return request{
		Source: string(r.Source), Profile: r.Profile, Name: r.Name, Region: r.Region, Version: r.Version, BaseDomain: r.BaseDomain,
		Team: orFallback(r.Team, own.Team), Owner: orFallback(r.Owner, own.Owner), CostCenter: orFallback(r.CostCenter, own.CostCenter), Environment: orFallback(r.Environment, own.Environment),
		TTL: r.TTL, TTLHours: hoursStarted(r.TTL), Generation: int64(r.Generation), Tags: r.Tags,
	}
}

func profileOf(in policy.In) profile {
	p := in.Profile
	return profile{
		Name: p.Name, Platform: p.Platform, CredentialsMode: p.CredentialsMode, AdminOnly: p.AdminOnly, Publish: p.Publish,
		ControlPlane: int64(p.ControlPlane.Replicas), Workers: int64(p.Workers.Replicas), Nodes: int64(p.Nodes()),
		Regions: p.RegionNames(), Versions: p.Versions.Allow, BaseDomains: p.BaseDomains.Allow, DefaultTTLHours: hoursStarted(p.DefaultTTL), MaxTTLHours: hoursStarted(p.MaxTTL),
	}
}

func actorOf(r policy.Request) actor {
	teams, every := r.Principal.Teams()
	return actor{ID: r.Principal.ID, Name: r.Principal.Name, Role: string(r.Principal.Role()), Teams: teams, EveryTeam: every, Permission: r.Permission}
}

func teamOf(in policy.In) team {
	t := in.Team
	return team{
		Name: orFallback(t.Name, orFallback(in.Request.Team, in.Request.Ownership.Team)), Declared: t.Name != "", Owner: t.Owner, CostCenters: t.CostCenters,
		Environments: t.Environments, Weight: int64(max(1, t.Weight)), BudgetCents: t.Budget.MonthlyCents,
	}
}

func usageOf(u policy.Usage) usage {
	return usage{Person: countsOf(u.Person), Team: countsOf(u.Team), Repository: countsOf(u.Repository), Everywhere: countsOf(u.Everywhere)}
}

func countsOf(c policy.Counts) counts {
	return counts{Live: int64(c.Live), Creating: int64(c.Creating), Waiting: int64(c.Waiting), NodeHours: c.NodeHours, SpentCents: c.SpentCents, CommittedCents: c.CommittedCents}
}

func priceOf(in policy.In) price {
	region, _ := in.Profile.Region(orFallback(in.Request.Region, in.Profile.DefaultRegion))
	return price{HourlyCents: int64(region.HourlyCents), TotalCents: in.PriceCents}
}

// hoursStarted counts started hours, so that 24h59m does not pass a bound of 24.
func hoursStarted(d time.Duration) int64 { return int64(math.Ceil(d.Hours())) }

func orFallback(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
