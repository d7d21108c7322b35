package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/lifecycle/orphans"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/scans"
)

// homeRegions are where an account is asked about what has no region, by platform, if neither the account nor a profile says otherwise.
var homeRegions = map[string]string{names.AWS: "us-east-1", names.IBMCloud: "us-south"}

// scanAccounts returns the accounts that are looked through, with the base domains of the catalogue in force: those of the configuration and of the
// catalogue, and those that it no longer has as long as clusters are there. One with a role is looked through once its first proof has begun.
func scanAccounts(c config.Config, of catalogue.Catalogue, used []store.UsedAccount, proofs []scans.Proof) (list []scans.Wanted) {
	for _, a := range of.Accounts {
		one := store.UsedAccount{Name: a.Name, Platform: a.Platform, Number: a.Number, CredentialsRef: a.CredentialsRef, ServiceAccounts: a.ServiceAccounts}
		if a.Role != "" {
			i := slices.IndexFunc(proofs, func(p scans.Proof) bool {
				return p.Platform == a.Platform && p.Account == a.Number && p.ExternalID != ""
			})
			if i < 0 {
				continue
			}
			one.CloudRole = &contract.CloudRole{ARN: a.Role, ExternalID: proofs[i].ExternalID}
		}
		used = append(used, one)
	}
	wanted := c.ScanAccounts()
	identities, roles := map[string]map[string]string{}, map[string]*contract.CloudRole{}
	for _, u := range slices.Backward(used) { // the catalogue's first, then the newest
		known := slices.ContainsFunc(wanted, func(a config.ScanAccount) bool { return a.Platform == u.Platform && a.Account == u.Number })
		if u.Number == "" || known || len(u.ServiceAccounts) > 0 && u.ServiceAccounts[contract.KindScan] == "" {
			continue
		}
		identities[u.Number], roles[u.Number] = u.ServiceAccounts, u.CloudRole
		ref := u.CredentialsRef
		if ref == "" && len(u.ServiceAccounts) == 0 {
			ref = c.Cloud(u.Platform).CredentialsRef
		}
		wanted = append(wanted, config.ScanAccount{Platform: u.Platform, Account: u.Number, CredentialsRef: ref})
	}
	for _, a := range wanted {
		region, domains := defaultPlaces(of, a.Platform)
		list = append(list, scans.Wanted{Platform: a.Platform, Account: a.Account, Spec: scans.Spec{
			Installation: c.Installation, HomeRegion: cmp.Or(a.Region, region, homeRegions[a.Platform]), Regions: a.Regions, BaseDomains: domains,
			CloudCredentialsRef: a.CredentialsRef, CallsPerSecond: c.Scan.CallsPerSecond, ServiceAccounts: identities[a.Account], CloudRole: roles[a.Account],
		}})
	}
	return list
}

// defaultPlaces returns the default region of a platform's first profile, and the base domains of all of them.
func defaultPlaces(of catalogue.Catalogue, platform string) (region string, domains []string) {
	domains = []string{}
	for _, p := range of.All() {
		if !p.Enabled || p.Platform != platform {
			continue
		}
		region = cmp.Or(region, p.DefaultRegion)
		domains = append(domains, p.BaseDomains.Allow...)
	}
	slices.Sort(domains)
	return region, slices.Compact(domains)
}

// listScanAccounts returns the accounts that are looked through now.
func (in inner) listScanAccounts(ctx context.Context) ([]scans.Wanted, error) {
	used, err := in.store.UsedAccounts(ctx)
	if err != nil {
		return nil, err
	}
	proofs, err := in.store.Scans.Proofs(ctx)
	return scanAccounts(in.cfg, in.catalogue.Current(), used, proofs), err
}

// scanAccounts returns what the controller looks through, and what it proves.
func (in inner) scanAccounts(prove func() []scans.WantedProof) controller.Accounts {
	out := controller.Accounts{Wanted: in.listScanAccounts, Prove: prove, Every: in.cfg.Scan.Every, Prices: in.resourcePrices}
	for _, e := range in.cfg.Scan.Exempt {
		out.Exempt = append(out.Exempt, orphans.Rule{Account: e.Account, Identity: e.Identity, Name: e.Name, TagKey: e.TagKey, Why: e.Why})
	}
	return out
}

// resourcePrice returns what one resource of a platform costs an hour, in US cents, by the catalogue in force.
func (in inner) resourcePrice(platform, kind, region, detail string) (cents float64, known bool) {
	if prices := in.resourcePrices(platform); prices != nil {
		return prices.Resource(kind, region, detail, false)
	}
	return 0, false
}

// resourcePrices returns what a platform's resources cost by the catalogue in force; nil: it has no list of them.
func (in inner) resourcePrices(platform string) orphans.Prices {
	if list, known := in.catalogue.Current().PriceList(platform); known {
		return list
	}
	return nil
}
