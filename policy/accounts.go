package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// AccountRegion is a region of a cloud account, by the cloud's id of it.
type AccountRegion struct{ Number, Region string }

// AccountUsage is what the cloud accounts hold, counted under the request's locks.
type AccountUsage struct {
	Live map[string]int        // clusters, by the account's name
	Fits map[AccountRegion]int // how many more fit as measured; without an entry it is not known
}

// AccountWish is what a cluster needs of its cloud account.
type AccountWish struct {
	Name       string // the only one that it may be; empty: any
	Team       string
	Profile    profiles.Profile
	Region     string
	BaseDomain string // as requested; empty: none was
}

// AccountFit is how an account fits a wish.
type AccountFit struct {
	profiles.Account
	Why   string // why it gets no new cluster; empty: it may get this one
	Room  int    // how many more clusters it may get
	Known bool   // Room is known
}

// RankAccounts returns the accounts that the team may use, the best first: those that fit, then the most room, where an unknown one comes before
// none, then priority, then name. It depends on nothing else.
func RankAccounts(all []profiles.Account, w AccountWish, u AccountUsage) (ranked []AccountFit) {
	for _, a := range all {
		if a.Platform == w.Profile.Platform && a.MayUse(w.Team) && (w.Name == "" || w.Name == a.Name) {
			ranked = append(ranked, fitAccount(a, w, u))
		}
	}
	slices.SortFunc(ranked, func(a, b AccountFit) int {
		return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(b.Room, a.Room),
			cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	return ranked
}

// fitAccount compares one account with what is needed of it.
func fitAccount(a profiles.Account, w AccountWish, u AccountUsage) AccountFit {
	f := AccountFit{Account: a}
	f.Room, f.Known = u.Fits[AccountRegion{a.Number, w.Region}]
	if left := a.Cap - u.Live[a.Name]; a.Cap > 0 && (!f.Known || left < f.Room) {
		f.Room, f.Known = max(0, left), true
	}
	switch {
	case len(a.Regions) > 0 && !slices.Contains(a.Regions, w.Region):
		f.Why = "not for " + w.Region
	case a.BaseDomain != "" && w.BaseDomain != "" && w.BaseDomain != a.BaseDomain, a.BaseDomain != "" && !w.Profile.BaseDomains.Has(a.BaseDomain):
		f.Why = "only for " + a.BaseDomain
	case a.Maintenance:
		f.Why = "in maintenance"
	case a.Cap > 0 && u.Live[a.Name] >= a.Cap:
		f.Why = fmt.Sprintf("%d of %d clusters", u.Live[a.Name], a.Cap)
	}
	return f
}

func (f AccountFit) class() int {
	switch {
	case f.Why != "":
		return 3
	case f.Known && f.Room > 0:
		return 0
	case !f.Known:
		return 1
	}
	return 2
}

// roomText says how much room there is; empty: it is not known.
func (f AccountFit) roomText() string {
	switch {
	case !f.Known:
		return ""
	case f.Room == 0:
		return "no room now"
	}
	return fmt.Sprintf("room for %d", f.Room)
}

// SeesAccount reports whether the principal may read about the account: a team of theirs may use it, or they read everything.
func (p Principal) SeesAccount(a profiles.Account) bool {
	teams, every := p.Teams()
	return every || slices.ContainsFunc(teams, a.MayUse)
}

// chooseAccount chooses the cloud account, with the check that says so. Without accounts of the platform, the installation's own is used.
func (j judging) chooseAccount() judging {
	if j.stranger || !j.known {
		return j
	}
	w := AccountWish{Name: j.r.Account, Team: j.own.Team, Profile: j.profile, Region: orDefault(j.r.Region, j.profile.DefaultRegion), BaseDomain: j.r.BaseDomain}
	declared := slices.ContainsFunc(j.terms.Catalogue.Accounts, func(a profiles.Account) bool { return a.Platform == w.Profile.Platform })
	if _, offered := j.profile.Region(w.Region); !offered || !declared && w.Name == "" {
		return j
	}
	ranked := RankAccounts(j.terms.Catalogue.Accounts, w, j.usage.Accounts)
	check := Check{Name: "account", Result: Fail, Asked: w.Name, Next: "Ask again later, or ask a platform admin."}
	var others []string
	for i, f := range ranked {
		if text := cmp.Or(f.Why, f.roomText()); i > 0 || f.Why != "" {
			others = append(others, strings.TrimSuffix(f.Name+" ("+text+")", " ()"))
		}
		j.accounts = append(j.accounts, f.Name)
	}
	check.Accept = strings.Join(j.accounts, ", ")
	switch list := strings.Join(others, ", "); {
	case len(ranked) == 0 && w.Name != "": // whoever may not use an account does not learn that it is there
		check.Message, check.Next = fmt.Sprintf("Team %s has no account that is called %q.", w.Team, w.Name), "Leave the account out: then one that fits is chosen."
	case len(ranked) == 0:
		check.Message = fmt.Sprintf("Team %s may use no account of %s.", w.Team, price.PlatformText(w.Profile.Platform))
	case ranked[0].Why == "":
		j.account = ranked[0].Account
		check.Result, check.Next, check.Message = Pass, "", "A new cluster is made in the account "+j.account.Name
		if text := ranked[0].roomText(); text != "" {
			check.Message += " (" + text + ")"
		}
		if check.Message += "."; list != "" {
			check.Message += " The others: " + list + "."
		}
	case j.terms.Claims:
		check.Result, check.Next = Pass, ""
		check.Message = "No account takes a new cluster, so only one that waits in a pool can be taken: " + list + "."
		j.claimOnly = true
	default:
		check.Message = "No account takes a new cluster: " + list + "."
	}
	j.accountCheck = &check
	return j
}
