package scan

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/status"
)

// measureRoom measures the account's limits for each plan and reports them. What was listed is reported by then, so a server that does not take the
// measurements does not make the scan fail; one of another release may not know them.
func (s *scan) measureRoom(ctx context.Context) error {
	measured := map[string][]contract.Quota{} // by region and plan: profiles may need the same
	for _, p := range s.spec.Plans {
		plan := cloud.ReadPlan(s.spec.Platform, s.platform.DefaultType(), p.InstallConfig, p.Zones, p.Spot)
		key := fmt.Sprint(p.Region, plan)
		quotas, known := measured[key]
		if !known {
			var err error
			if quotas, err = s.measure(ctx, p.Region, plan); err != nil {
				s.cfg.Log.Warn("limits not measured", "profile", p.Profile, "region", p.Region, "err", err.Error())
			}
			measured[key] = quotas
			s.noteUnread(p.Region, quotas)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(quotas) == 0 {
			continue
		}
		err := s.sendReport(ctx, contract.ScanReport{Room: &contract.ScanRoom{Profile: p.Profile, Region: p.Region, Quotas: quotas}})
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, status.ErrFenced), errors.Is(err, status.ErrLeaseOver):
			return err
		default:
			s.cfg.Log.Warn("limits not reported", "profile", p.Profile, "region", p.Region, "err", err.Error())
			return nil
		}
	}
	return nil
}

// measure returns the limits that a plan touches in a region; none if this runner cannot measure the platform.
func (s *scan) measure(ctx context.Context, region string, plan cloud.Plan) ([]contract.Quota, error) {
	open, can := s.cfg.Meters[s.spec.Platform]
	if !can {
		return nil, nil
	}
	meter, err := open(ctx, region, s.keys)
	if err != nil {
		return nil, err
	}
	quotas, err := meter.Quotas(ctx, cloud.Target{Region: region, Account: s.spec.Account, Installation: s.spec.Installation}, plan)
	for i, q := range quotas {
		quotas[i].Unknown = s.cfg.Redact.Text(q.Unknown)
	}
	return quotas, err
}
