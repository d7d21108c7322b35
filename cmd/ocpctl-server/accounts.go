package main

import (
	"cmp"
	"slices"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/internal/orphans"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/sweeps"
)

// homeRegion is where an account is asked about what has no region, if neither it nor a profile says otherwise.
const homeRegion = "us-east-1"

// accounts returns the accounts that are looked through, with the base domains of the catalogue in force.
func accounts(c config.Config, of catalogue.Catalogue) (list []sweeps.Wanted) {
	region, domains := "", []string{}
	for _, p := range of.All() {
		if !p.Enabled || p.Platform != "aws" {
			continue
		}
		region = cmp.Or(region, p.DefaultRegion)
		domains = append(domains, p.BaseDomains.Allow...)
	}
	slices.Sort(domains)
	domains = slices.Compact(domains)
	for _, a := range c.SweepAccounts() {
		list = append(list, sweeps.Wanted{Platform: a.Platform, Account: a.Account, Spec: sweeps.Spec{
			Installation: c.Installation, HomeRegion: cmp.Or(a.Region, region, homeRegion), Regions: a.Regions, BaseDomains: domains,
			CloudCredentialsRef: a.CredentialsRef, CallsPerSecond: c.Sweep.CallsPerSecond,
		}})
	}
	return list
}

// sweepAccounts returns what the controller looks through.
func (in inner) sweepAccounts() controller.Accounts {
	out := controller.Accounts{Wanted: func() []sweeps.Wanted { return accounts(in.cfg, in.catalogue.Current()) }, Every: in.cfg.Sweep.Every, Prices: in.resourcePrices}
	for _, e := range in.cfg.Sweep.Exempt {
		out.Exempt = append(out.Exempt, orphans.Rule{Account: e.Account, Identity: e.Identity, Name: e.Name, TagKey: e.TagKey, Why: e.Why})
	}
	return out
}

// resourcePrices returns what a platform's resources cost by the catalogue in force; nil: it has no list of them.
func (in inner) resourcePrices(platform string) orphans.Prices {
	if list, known := in.catalogue.Current().PriceList(platform); known {
		return list
	}
	return nil
}
