package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// AccountRegion is a region of a cloud account, by the cloud's id of it, as it is measured for a profile; no profile: for the last that was created
// there.
type AccountRegion struct{ Number, Region, Profile string }

// AccountUsage is what the cloud accounts hold, counted under the request's locks.
type AccountUsage struct {
	Live map[string]int        // clusters, by the account's name
	Kept map[string]bool       // for one cluster alone, by the account's name
	Fits map[AccountRegion]int // how many more fit as measured; without an entry it is not known

	Unasked map[AccountRegion]int // of the live ones, those that were accepted and for which nothing is set aside yet; without a profile

	Counted time.Time // when Fits were counted
	Asked   []AccountAsk
}

// AccountAsk is a live cluster for which something was set aside in the last minutes.
type AccountAsk struct {
	Number, Region string
	Since          time.Time
}

// countUnknown is how many clusters of an account and region Fits do not know of: nothing was set aside for them when it was counted.
func (u AccountUsage) countUnknown(number, region string) int {
	n := u.Unasked[AccountRegion{Number: number, Region: region}]
	for _, a := range u.Asked {
		if a.Number == number && a.Region == region && a.Since.After(u.Counted) {
			n++
		}
	}
	return n
}

// AccountWish is what a cluster needs of its cloud account.
type AccountWish struct {
	Name       string // the only one that it may be; empty: any
	Exclusive  bool   // no other cluster may be there
	Team       string
	Profile    profiles.Profile
	Region     string
	BaseDomain string                                  // as requested; empty: none was
	Unproven   map[string]Unproven                     // as in Terms
	Brake      func(profiles.Account) *lifecycle.Brake // that keeps a new cluster from an account; nil: none does anywhere
}

// AccountFit is how an account fits a wish.
type AccountFit struct {
	profiles.Account
	Why   string           // why it gets no new cluster; empty: it may get this one
	Next  string           // what to do about that; empty: to wait, or to ask an admin
	Room  int              // how many more clusters it may get
	Known bool             // Room is known
	Brake *lifecycle.Brake // for which it would wait; nil: for none
}

// RankAccounts returns the accounts that the team may use, the best first: those that fit and wait for no brake, then the most room, where an
// unknown one comes before none, then priority, then name. It depends on nothing else.
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
	if f.Room, f.Known = u.Fits[AccountRegion{a.Number, w.Region, w.Profile.Name}]; !f.Known {
		f.Room, f.Known = u.Fits[AccountRegion{Number: a.Number, Region: w.Region}]
	}
	f.Room = max(0, f.Room-u.countUnknown(a.Number, w.Region))
	if left := a.Cap - u.Live[a.Name]; a.Cap > 0 && (!f.Known || left < f.Room) {
		f.Room, f.Known = max(0, left), true
	}
	if w.Brake != nil {
		f.Brake = w.Brake(a)
	}
	switch {
	case len(a.Regions) > 0 && !slices.Contains(a.Regions, w.Region):
		f.Why = "not for " + w.Region
	case a.BaseDomain != "" && w.BaseDomain != "" && w.BaseDomain != a.BaseDomain, a.BaseDomain != "" && !w.Profile.BaseDomains.Has(a.BaseDomain):
		f.Why = "only for " + a.BaseDomain
	case a.Maintenance:
		f.Why = "in maintenance"
	case w.Unproven[a.Number].Why != "":
		f.Why, f.Next = w.Unproven[a.Number].Why, w.Unproven[a.Number].Next
	case u.Kept[a.Name]:
		f.Why = "reserved for one cluster"
	case w.Exclusive && u.Live[a.Name] > 0:
		f.Why = "not empty: " + clusterCount(u.Live[a.Name])
	case a.Cap > 0 && u.Live[a.Name] >= a.Cap:
		f.Why = fmt.Sprintf("%d of %d clusters", u.Live[a.Name], a.Cap)
	}
	return f
}

func (f AccountFit) class() int {
	switch {
	case f.Why != "":
		return 4
	case f.Brake != nil:
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

// brakeText says that a new cluster would wait there.
func (f AccountFit) brakeText() string {
	if f.Brake == nil {
		return ""
	}
	return "new clusters wait there"
}

// accountWish is what the cluster needs of its account in a region. declared: the catalogue has accounts of the platform.
func (j judging) accountWish(region string) (w AccountWish, declared bool) {
	version := orDefault(j.r.Version, j.profile.Versions.Default)
	name := j.r.Account
	if name == profiles.ExclusiveAccount {
		name = ""
	}
	w = AccountWish{Name: name, Exclusive: j.isExclusive(), Team: j.own.Team, Profile: j.profile, Region: region, BaseDomain: j.r.BaseDomain, Unproven: j.terms.Unproven, Brake: func(a profiles.Account) *lifecycle.Brake {
		return j.terms.BrakeFor(a, j.profile.Platform, region, j.profile.Name, j.own.Team, version)
	}}
	return w, kinds.NeedsAccount(j.profile.Platform) || slices.ContainsFunc(j.terms.Catalogue.Accounts, func(a profiles.Account) bool { return a.Platform == j.profile.Platform })
}

// isExclusive reports whether the cluster is to have its account for itself.
func (j judging) isExclusive() bool {
	return j.r.Account == profiles.ExclusiveAccount || j.profile.Account == profiles.ExclusiveAccount
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
	w, declared := j.accountWish(j.region)
	if _, offered := j.profile.Region(w.Region); !offered || !declared && w.Name == "" && !w.Exclusive {
		return j
	}
	ranked := RankAccounts(j.terms.Catalogue.Accounts, w, j.usage.Accounts)
	check := Check{Name: "account", Result: Fail, Asked: w.Name, Next: "Ask again later, or ask a platform admin."}
	var others []string
	for i, f := range ranked {
		if text := cmp.Or(f.Why, f.brakeText(), f.roomText()); i > 0 || f.Why != "" {
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
		if w.Exclusive {
			check.Message = fmt.Sprintf("The catalogue has no account of %s that team %s may use, so a cluster cannot have one to itself.", price.PlatformText(w.Profile.Platform), w.Team)
		}
	case ranked[0].Why == "":
		j.account = ranked[0].Account
		check.Result, check.Next, check.Message = Pass, "", "A new cluster is made in the account "+j.account.Name
		if text := ranked[0].roomText(); text != "" && !w.Exclusive {
			check.Message += " (" + text + ")"
		}
		if w.Exclusive {
			check.Message += ", which no other cluster uses while it lives"
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
		if i := slices.IndexFunc(ranked, func(f AccountFit) bool { return f.Next != "" }); i >= 0 {
			check.Next = ranked[i].Next
		}
	}
	j.accountCheck = &check
	return j
}

func clusterCount(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
