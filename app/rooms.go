package app

import (
	"context"
	"slices"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/usage"
)

// RoomState is how many more clusters of a profile fit into a region of an account.
type RoomState struct {
	usage.Room
	Name string // of the account in the catalogue; empty: the installation's own
}

// VisibleRooms returns what was measured in the last day of the accounts and profiles that the principal may use.
func (s *Service) VisibleRooms(ctx context.Context, who policy.Principal) ([]RoomState, error) {
	if err := MayForEverybody(who, policy.ActProfiles, "see the room in the cloud accounts"); err != nil {
		return nil, err
	}
	return s.listRooms(ctx, who.HasAnywhere(policy.PlatformAdmin, policy.Auditor), who.SeesAccount)
}

// listRooms returns what was measured of the accounts that are seen; admin: of profiles for admins alone, too.
func (s *Service) listRooms(ctx context.Context, admin bool, sees func(profiles.Account) bool) ([]RoomState, error) {
	_, rooms, _, err := s.store.Room(ctx)
	if err != nil {
		return nil, err
	}
	inForce := s.catalogue()
	var out []RoomState
	for _, r := range rooms {
		p, _ := inForce.Get(r.Profile)
		if !s.Offers(r.Profile, r.Region) || p.AdminOnly && !admin {
			continue
		}
		own := s.installs.Clouds[r.Platform].Account
		at := slices.IndexFunc(inForce.Accounts, func(a profiles.Account) bool { return a.Number == r.Account && a.Platform == r.Platform })
		switch {
		case at < 0 && (own == "" || own == r.Account): // without a configured account, the scanned one is it
			out = append(out, RoomState{Room: r})
		case at >= 0 && sees(inForce.Accounts[at]):
			out = append(out, RoomState{r, inForce.Accounts[at].Name})
		}
	}
	return out, nil
}

// Offers reports that the catalogue has an enabled profile of that name with that region.
func (s *Service) Offers(profile, region string) bool {
	p, known := s.catalogue().Get(profile)
	_, offered := p.Region(region)
	return known && offered && p.Enabled
}

// ScanPlans returns the clusters for which a scan measures an account's limits: one of each enabled profile in each of its regions.
func (s *Service) ScanPlans(platform string, regions []string) (plans []contract.ScanPlan) {
	inForce := s.catalogue()
	for _, p := range inForce.All() {
		if p.Platform != platform || !p.Enabled {
			continue
		}
		for _, region := range p.Regions {
			if len(regions) > 0 && !slices.Contains(regions, region.Name) {
				continue
			}
			config, err := s.configs.Render(inForce.Hash, p, profiles.InstallInput{
				Name: "room", BaseDomain: p.BaseDomains.Default, Region: region.Name, Version: p.Versions.Default, Zones: region.Zones,
			})
			if err != nil {
				s.log.Warn("the room for a profile is not measured", "profile", p.Name, "region", region.Name, "err", err)
				continue
			}
			plans = append(plans, contract.ScanPlan{Profile: p.Name, Region: region.Name, Zones: region.Zones, InstallConfig: string(config), Spot: p.Spot != ""})
		}
	}
	return plans
}
