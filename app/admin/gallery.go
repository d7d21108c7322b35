package admin

import (
	"context"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/statistics"
)

// shownCreates is how many of the newest creates a profile is shown with.
const shownCreates = 20

// ProfileRecord is a profile with how creates of it went lately.
type ProfileRecord struct {
	profiles.Profile
	Creates   []statistics.Create   // the newest first, at most 20, of all teams; those of others have no name
	Ready     int                   // how many of them made a cluster ready
	Took      statistics.Spread     // these, in seconds
	Incidents []statistics.Incident // of today (UTC)
}

// Gallery returns the profiles that the principal could ask for, with how creates of them went lately.
func (s *Service) Gallery(ctx context.Context, p policy.Principal) ([]ProfileRecord, error) {
	list, _, err := s.Profiles(p)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.Name
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	creates, err := s.store.Statistics.Creates(ctx, names, shownCreates)
	if err != nil {
		return nil, err
	}
	incidents, err := s.store.Statistics.Incidents(ctx, now.UTC().Truncate(24*time.Hour))
	if err != nil {
		return nil, err
	}
	out := make([]ProfileRecord, len(list))
	for i, one := range list {
		out[i].Profile = one
		for _, c := range creates {
			if c.Profile != one.Name {
				continue
			}
			if !p.May(policy.ActSee, c.Team) {
				c.Cluster, c.Name, c.Team = "", "", ""
			}
			out[i].Creates = append(out[i].Creates, c)
		}
		for _, incident := range incidents {
			if incident.Profile == one.Name {
				out[i].Incidents = append(out[i].Incidents, incident)
			}
		}
		out[i].Ready, out[i].Took = statistics.ReadyIn(out[i].Creates)
	}
	return out, nil
}
