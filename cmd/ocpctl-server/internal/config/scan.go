package config

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Scan says which cloud accounts are looked through for resources that belong to no living cluster.
type Scan struct {
	Accounts       []ScanAccount `yaml:"accounts"`         // empty: the account of each cloud for which one is set
	Every          time.Duration `yaml:"every"`            // how often each account is looked through; 0: only on request
	MinAge         time.Duration `yaml:"min_age"`          // since a scan first saw an orphan, before it is told
	MinSights      int           `yaml:"min_sights"`       // scans in a row that have to see it before
	CallsPerSecond int           `yaml:"calls_per_second"` // to the cloud at most, in each service and region
	Exempt         []ScanExempt  `yaml:"exempt"`           // what stays, and is not told; all fields of an entry that are set must match
	Remove         []string      `yaml:"remove"`           // classes of orphans that are removed without a person's approval: released, unknown; empty: none
}

type ScanAccount struct {
	Platform       string   `yaml:"platform"`        // aws or ibmcloud; empty: aws
	Account        string   `yaml:"account"`         // its id
	Region         string   `yaml:"region"`          // the home region, for what has none; empty: that of the first profile
	CredentialsRef string   `yaml:"credentials_ref"` // the cloud's keys as JSON; empty: the runner's own identity
	Regions        []string `yaml:"regions"`         // only these; empty: every region that the account has enabled
}

// ScanExempt is a rule; all of its fields that are set have to match.
type ScanExempt struct {
	Account  string `yaml:"account"`  // pattern of the cloud account
	Identity string `yaml:"identity"` // pattern of the infraID or ccoctl name
	Name     string `yaml:"name"`     // pattern of a resource's name
	TagKey   string `yaml:"tag_key"`  // a resource has a tag with this key
	Why      string `yaml:"why"`      // for people
}

// deletable are the classes that a setting may remove: what is certainly this installation's own, and what nobody uses.
var deletable = []lifecycle.OrphanClass{lifecycle.ClassReleased, lifecycle.ClassUnknown}

// Classes returns what is removed without a person's approval.
func (s Scan) Classes() (classes []lifecycle.OrphanClass) {
	for _, class := range s.Remove {
		classes = append(classes, lifecycle.OrphanClass(class))
	}
	return classes
}

// ScanAccounts returns the accounts to look through, with their defaults.
func (c Config) ScanAccounts() (accounts []ScanAccount) {
	for _, a := range c.Scan.Accounts {
		a.Platform = a.platformOrAWS()
		accounts = append(accounts, a)
	}
	if len(accounts) > 0 {
		return accounts
	}
	for _, p := range Platforms {
		if of := c.Cloud(p); of.Account != "" {
			accounts = append(accounts, ScanAccount{Platform: p, Account: of.Account, CredentialsRef: of.CredentialsRef})
		}
	}
	return accounts
}

func (a ScanAccount) platformOrAWS() string { return cmp.Or(a.Platform, names.AWS) }

// RunnersIn returns the account of a platform that runners work in: the configured one, else the only one that scans look through with the
// same keys. Empty: it is not known.
func (c Config) RunnersIn(platform string) string {
	of := c.Cloud(platform)
	if of.Account != "" {
		return of.Account
	}
	only := ""
	for _, a := range c.Scan.Accounts {
		switch {
		case a.platformOrAWS() != platform, a.CredentialsRef != of.CredentialsRef:
		case only != "":
			return ""
		default:
			only = a.Account
		}
	}
	return only
}

const (
	leastScanEvery  = 10 * time.Minute
	mostScanSights  = 10
	mostScansCalls  = 50
	scansExemptHint = "give account, identity, name or tag_key"
)

// checkScan checks which accounts are looked through, and how.
func (s Scan) checkScan() []error {
	var bad []error
	wrong := func(format string, args ...any) { bad = append(bad, fmt.Errorf(format, args...)) }
	for i, a := range s.Accounts {
		form, known := cloudForms[a.platformOrAWS()]
		switch {
		case !known:
			wrong("scan.accounts[%d].platform is %q; give one of %s, or omit it for %s", i, a.Platform, strings.Join(Platforms, ", "), names.AWS)
		case !form.account.MatchString(a.Account):
			wrong("scan.accounts[%d].account is %q; give %s", i, a.Account, form.what)
		}
		if slices.ContainsFunc(s.Accounts[:i], func(other ScanAccount) bool { return other.Account == a.Account }) {
			wrong("scan.accounts[%d].account is given twice; give each account once", i)
		}
		if a.CredentialsRef != "" && !isRef(a.CredentialsRef) {
			wrong("scan.accounts[%d].credentials_ref is not a reference; give a reference (%s) to the cloud's keys, or omit it", i, secret.References)
		}
	}
	if s.Every != 0 && s.Every < leastScanEvery {
		wrong("scan.every is %s; give %s or more, or 0 to look only on request", duration.Typed(s.Every), duration.Typed(leastScanEvery))
	}
	if s.MinAge < 0 {
		wrong("scan.min_age is %s; give 0s or more", duration.Typed(s.MinAge))
	}
	if s.MinSights < 2 || s.MinSights > mostScanSights {
		wrong("scan.min_sights is %d; give 2 to %d: an answer of a cloud can be late", s.MinSights, mostScanSights)
	}
	if s.CallsPerSecond < 1 || s.CallsPerSecond > mostScansCalls {
		wrong("scan.calls_per_second is %d; give 1 to %d", s.CallsPerSecond, mostScansCalls)
	}
	for _, class := range s.Remove {
		if !slices.Contains(deletable, lifecycle.OrphanClass(class)) {
			wrong("scan.remove has %q; give a list of released and unknown, or omit it", class)
		}
	}
	for i, e := range s.Exempt {
		if e.Account+e.Identity+e.Name+e.TagKey == "" {
			wrong("scan.exempt[%d] matches everything; %s", i, scansExemptHint)
		}
		for _, p := range []struct{ field, pattern string }{{"account", e.Account}, {"identity", e.Identity}, {"name", e.Name}} {
			if _, err := path.Match(p.pattern, ""); err != nil {
				wrong("scan.exempt[%d].%s is %q; give a pattern such as shop-*", i, p.field, p.pattern)
			}
		}
	}
	return bad
}
