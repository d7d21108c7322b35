package web

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// createForm is the content of the form for a cluster, as typed.
type createForm struct {
	Key string // one for each request

	Name, Profile, Region, Version, BaseDomain, TTLHours string
	Team, Owner, CostCenter, Environment                 string
	SSHPublicKey, ExtraTags                              string
}

var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

type formField struct {
	name  string
	value *string
}

// fields returns the form's fields with the names that the service uses.
func (f *createForm) fields() []formField {
	return []formField{
		{"name", &f.Name}, {"profile", &f.Profile}, {"region", &f.Region}, {"version", &f.Version}, {"baseDomain", &f.BaseDomain},
		{"ttlHours", &f.TTLHours}, {"team", &f.Team}, {"owner", &f.Owner}, {"costCenter", &f.CostCenter}, {"environment", &f.Environment},
		{"sshPublicKey", &f.SSHPublicKey}, {"extraTags", &f.ExtraTags},
	}
}

func formOf(value func(string) string) createForm {
	f := createForm{Key: value("key")}
	for _, field := range f.fields() {
		*field.value = strings.TrimSpace(value(field.name))
	}
	return f
}

// request converts the form to a request.
func (f createForm) request() app.CreateRequest {
	r := app.CreateRequest{
		Name: f.Name, Profile: f.Profile, Region: f.Region, Version: f.Version, BaseDomain: f.BaseDomain,
		Team: f.Team, Owner: f.Owner, CostCenter: f.CostCenter, Environment: f.Environment, SSHPublicKey: f.SSHPublicKey, Source: policy.SourceWeb,
	}
	if f.TTLHours != "" {
		hours, err := strconv.Atoi(f.TTLHours)
		if err == nil && hours <= mostHours && hours >= -mostHours {
			r.TTLHours = &hours
		} else {
			r.Wrong = append(r.Wrong, app.Field{Name: "ttlHours", Detail: fmt.Sprintf("%q is not a number of hours", f.TTLHours), Accept: []string{"a whole number of hours, such as 24"}})
		}
	}
	var unread []app.Field
	r.ExtraTags, unread = tags(f.ExtraTags)
	r.Wrong = append(r.Wrong, unread...)
	return r
}

// mostHours keeps every lifetime far below the longest time.Duration.
const mostHours = 100_000

// tags parses lines of Key=value.
func tags(text string) (map[string]string, []app.Field) {
	var wrong []app.Field
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		_, again := out[key]
		switch {
		case line == "":
		case !ok || key == "":
			wrong = append(wrong, app.Field{Name: "extraTags", Detail: fmt.Sprintf("%q is not a tag", line), Accept: []string{"a line such as Purpose=smoke"}})
		case again:
			wrong = append(wrong, app.Field{Name: "extraTags", Detail: key + " is given twice", Accept: []string{"each key once"}})
		default:
			out[key] = value
		}
	}
	if len(out) == 0 {
		return nil, wrong
	}
	return out, wrong
}

// newView is the form with its choices and problems.
type newView struct {
	Form    createForm
	Wrong   map[string][]string // by field
	Wrongs  int
	Others  []string // problems that belong to no field of the form
	Verdict *verdictView

	Profiles                  []profiles.Profile
	Profile                   profiles.Profile
	Region, Version           string // selected
	BaseDomain, Team          string
	Teams                     []string // choices; empty: any name
	CostCenters, Environments []string // choices; empty: any name
	Required                  []string // tags on everything in the cloud
}

// verdictView is a verdict with its price.
type verdictView struct {
	policy.Verdict
	lifecycle.Forecast
}

// Expected says when it would begin and be ready; empty if nothing was granted.
func (v verdictView) Expected() string { return chatops.Expected(v.Forecast) }

// Price says what it would cost; empty if nothing was granted.
func (v verdictView) Price() string {
	if v.Grant.HourlyCents == 0 {
		return ""
	}
	return fmt.Sprintf("about %s an hour, %s until its planned end, by list prices", policy.Dollars(int64(v.Grant.HourlyCents)), policy.Dollars(v.Grant.PriceCents))
}

type fieldView struct {
	Name     string
	Messages []string
}

// At returns the problems of a field.
func (v newView) At(name string) fieldView { return fieldView{name, v.Wrong[name]} }

// blame adds each problem to its field. Problems without a field are shown above the form.
func (v *newView) blame(wrong []app.Field) {
	if v.Wrong == nil {
		v.Wrong = map[string][]string{}
	}
	known := []string{"platform"}
	for _, field := range v.Form.fields() {
		known = append(known, field.name)
	}
	for _, f := range wrong {
		name, _, _ := strings.Cut(f.Name, ".") // a tag's field name ends with its key
		if slices.Contains(known, name) {
			v.Wrong[name] = append(v.Wrong[name], fieldText(f))
			v.Wrongs++
			continue
		}
		v.Others = append(v.Others, fieldText(f))
	}
}

// required are the tags that ocpctl sets on everything.
var required = []string{"ManagedBy", "ClusterId", "ClusterName", "Owner", "Team", "CostCenter", "Environment", "TTLExpiry", "RequestId", "InstallationId"}

// showNew shows the form with the choices that the profile and the team allow.
func (p *pages) showNew(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, v newView) {
	list, unasked, err := p.Admin.Profiles(who)
	if err != nil {
		p.fail(w, r, who, err)
		return
	}
	state, err := p.Admin.Catalogue(who)
	if err != nil {
		p.fail(w, r, who, err)
		return
	}
	v.choose(list, unasked)
	v.belongs(who, state.Catalogue.Catalogue)
	v.Required = required
	p.show(w, r, who, status, "new", v)
}

func (v *newView) choose(list []profiles.Profile, unasked string) {
	v.Profiles = list
	name := v.Form.Profile
	if !slices.ContainsFunc(list, func(p profiles.Profile) bool { return p.Name == name }) {
		name = unasked
	}
	for _, p := range list {
		if p.Name == name {
			v.Profile = p
		}
	}
	v.Region = among(v.Form.Region, v.Profile.RegionNames(), v.Profile.DefaultRegion)
	v.Version = among(v.Form.Version, v.Profile.Versions.Allow, v.Profile.Versions.Default)
	v.BaseDomain = among(v.Form.BaseDomain, v.Profile.BaseDomains.Allow, v.Profile.BaseDomains.Default)
}

func (v *newView) belongs(who policy.Principal, c profiles.Catalogue) {
	first := ""
	if v.Teams, _ = teamsOf(who, c); len(v.Teams) > 0 {
		first = v.Teams[0]
	}
	v.Team = among(v.Form.Team, v.Teams, first)
	if t, known, _ := c.Team(v.Team); known {
		v.CostCenters, v.Environments = t.CostCenters, t.Environments
	}
}

// among returns the value if it is allowed, otherwise the other one.
func among(value string, allowed []string, other string) string {
	if slices.Contains(allowed, value) {
		return value
	}
	return other
}
