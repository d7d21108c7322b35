package profiles

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// Account is a cloud account in which clusters are made.
type Account struct {
	Name     string
	Platform string
	Number   string // the cloud's id of it; runners compare it with the cloud's answer before they do anything

	// CredentialsRef is a reference to the cloud's keys; ServiceAccounts are the pods' identities by kind of runner. Both empty: the installation's.
	// Role is the ARN of a role of the account, which these credentials assume (AWS); empty: none.
	CredentialsRef  string
	ServiceAccounts map[string]string
	Role            string

	Regions     []string // in which clusters are made there; empty: every region
	Teams       []string // whose clusters are made there: names or globs; empty: every team's
	Cap         int      // the most clusters at once; 0: no limit
	Priority    int      // decides between accounts with the same room; the higher first
	Maintenance bool     // it gets no new clusters
	BaseDomain  string   // of its clusters; empty: as the request or the profile says
	Server      string   // address of a hub's API, for people; empty on clouds
}

// ExclusiveAccount stands in a profile or request in place of an account's name: any in which there is no other cluster, as long as this one lives.
const ExclusiveAccount = "exclusive"

// MayUse reports whether a team's clusters may be made there.
func (a Account) MayUse(team string) bool { return len(a.Teams) == 0 || FitsAny(a.Teams, team) }

// Version identifies what a proof of the account depends on: with another one it has to be proven again.
func (a Account) Version() string {
	values := []any{a.Platform, a.Number, a.CredentialsRef, a.ServiceAccounts, a.Regions, a.BaseDomain}
	if a.Role != "" {
		values = append(values, a.Role)
	}
	if a.Server != "" {
		values = append(values, a.Server)
	}
	raw, _ := json.Marshal(values) // plain values
	return fmt.Sprintf("%x", sha256.Sum256(raw))[:12]
}

// Account looks an account up by its exact name.
func (c Catalogue) Account(name string) (Account, bool) {
	for _, a := range c.Accounts {
		if a.Name == name {
			return a, true
		}
	}
	return Account{}, false
}

const (
	mostAccountClusters = 100_000
	mostPriority        = 1000
)

// roleForm matches the ARN of a role: its account, and its path and name.
var roleForm = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):role/[\w+=,.@/-]{1,512}$`)

var serviceAccountForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

func readAccount(r *reader, body []byte) Account {
	var a Account
	if doc := r.document(body, "account"); doc != nil {
		r.object(doc, "", accountFields(r, &a)...)
		checkName(r, a.Name)
		compareAccount(r, a)
	}
	return a
}

// accountFields describes the fields of an account's file.
func accountFields(r *reader, a *Account) []field {
	identity := func(kind string) field {
		return text(kind, new(string), "a service account's name", func(name string) bool {
			if a.ServiceAccounts == nil {
				a.ServiceAccounts = map[string]string{}
			}
			a.ServiceAccounts[kind] = name
			return serviceAccountForm.MatchString(name)
		})
	}
	return []field{
		text("name", &a.Name, nameAccept, nameForm.MatchString),
		choice("platform", &a.Platform, platformNames...),
		text("number", &a.Number, "the cloud's id of the account, in quotes", isFilled),
		optional(r.inner("credentials",
			optional(text("ref", &a.CredentialsRef, "a reference: "+secret.References, func(ref string) bool { return secret.Check(ref) == nil })),
			optional(r.inner("serviceAccounts", identity("create"), identity("destroy"), optional(identity("scale")), optional(identity("configure")),
				optional(identity("access")), optional(identity("scan")))),
			optional(text("role", &a.Role, "the ARN of a role of the account, such as arn:aws:iam::210987654321:role/ocpctl", roleForm.MatchString)))),
		optional(r.texts("regions", &a.Regions, "a region", isFilled)),
		optional(r.texts("teams", &a.Teams, globText, glob)),
		optional(whole("cap", &a.Cap, 1, mostAccountClusters)),
		optional(whole("priority", &a.Priority, 0, mostPriority)),
		optional(boolean("maintenance", &a.Maintenance)),
		optional(text("server", &a.Server, serverText, isServer)),
		optional(text("baseDomain", &a.BaseDomain, "a lowercase DNS domain", domain)),
		kind("Account"),
	}
}

// compareAccount checks that an account's values are those of its cloud.
func compareAccount(r *reader, a Account) {
	if a.Name == ExclusiveAccount {
		r.failAt("name", fmt.Sprintf("%q, which requests write for an account of their own", a.Name), "another name")
	}
	on, known := platforms[a.Platform]
	if !known || !r.good("platform") {
		return
	}
	if r.good("number") && !on.account.MatchString(a.Number) {
		r.failAt("number", fmt.Sprintf("%q", a.Number), on.account.text)
	}
	for i, region := range a.Regions {
		if at := fmt.Sprintf("regions[%d]", i); r.good(at) && !on.region.MatchString(region) {
			r.failAt(at, fmt.Sprintf("%q", region), on.region.text)
		}
	}
	compareHub(r, a)
	switch {
	case a.Platform == "aws":
		a.compareRole(r)
	case r.good("credentials.role"):
		r.failAt("credentials.role", "given on "+a.Platform+", whose installer takes API keys alone", "credentials.ref alone")
	case r.good("credentials.serviceAccounts"):
		r.failAt("credentials.serviceAccounts", "given on "+a.Platform+", where runners need "+keysText[a.Platform], "credentials.ref alone")
	case r.lines["name"] > 0 && r.lines["credentials.ref"] == 0:
		r.fail(r.lines["name"], "credentials.ref", "missing on "+a.Platform, "a reference to "+keysText[a.Platform]+": "+secret.References)
	}
	if r.good("credentials.ref", "credentials.serviceAccounts") {
		r.failAt("credentials.ref", "given with serviceAccounts", "one of the two")
	}
}

// keysText is what a platform's reference has to lead to.
var keysText = map[string]string{"ibmcloud": "an API key", "kubernetes": "a kubeconfig with a token, or {server, token, ca}"}

const serverText = "the address of the hub's API, such as https://api.hub.example.com:6443"

func isServer(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && u.Path == "" && u.RawQuery == "" && u.Fragment == "" && len(raw) <= maxDomain
}

// compareHub checks what only hubs have, and what they have not.
func compareHub(r *reader, a Account) {
	switch {
	case a.Platform != "kubernetes" && r.good("server"):
		r.failAt("server", "given on "+a.Platform, "none, or platform: kubernetes")
	case a.Platform == "kubernetes" && r.lines["name"] > 0 && r.lines["server"] == 0:
		r.fail(r.lines["name"], "server", "missing on kubernetes", serverText)
	}
	if a.Platform == "kubernetes" && r.good("baseDomain") {
		r.failAt("baseDomain", "given on kubernetes, where clusters have no domain", "none")
	}
}

// compareRole checks that the role is one of the account.
func (a Account) compareRole(r *reader) {
	if r.good("credentials.role", "credentials.serviceAccounts") {
		r.failAt("credentials.role", "given with serviceAccounts", "role with ref, or role alone: then the installation's credentials assume it")
	}
	if of := roleForm.FindStringSubmatch(a.Role); r.good("credentials.role", "number") && of[1] != a.Number {
		r.failAt("credentials.role", "of account "+of[1], "a role of account "+a.Number)
	}
}

// agreeAccounts checks the accounts against each other, and against the teams and profiles.
func (l *loader) agreeAccounts() {
	first := map[string]string{}
	teams := listNames(l.teams)
	for _, e := range l.accounts {
		r, a := e.from, e.value
		if r.good("number") {
			if where, again := first[a.Number]; again {
				r.failAt("number", fmt.Sprintf("%q again, as in %s", a.Number, where), "each account once")
			}
			first[a.Number] = r.file
		}
		for i, match := range a.Teams {
			if at := fmt.Sprintf("teams[%d]", i); r.good(at) && len(teams) > 0 && !fit(match, teams) {
				r.failAt(at, fmt.Sprintf("%q, which is not a team", match), "a team or a glob that matches one: "+strings.Join(teams, ", "))
			}
		}
		var domains, regions []string
		for _, p := range l.profiles {
			if p.sound() && p.value.Platform == a.Platform {
				domains, regions = append(domains, p.value.BaseDomains.Allow...), append(regions, p.value.RegionNames()...)
			}
		}
		l.agreePlace(r, "baseDomain", a.BaseDomain, domains)
		for i, region := range a.Regions {
			l.agreePlace(r, fmt.Sprintf("regions[%d]", i), region, regions)
		}
	}
}

// agreePlace checks that a profile of the account's platform allows a value.
func (l *loader) agreePlace(r *reader, at, value string, allowed []string) {
	if r.good("platform", at) && len(allowed) > 0 && !slices.Contains(allowed, value) {
		slices.Sort(allowed)
		r.failAt(at, fmt.Sprintf("%q, which no profile of the platform allows", value), "one of "+strings.Join(slices.Compact(slices.Clone(allowed)), ", "))
	}
}
