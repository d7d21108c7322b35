package scan

import (
	"context"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// measureRoom measures the account's limits for each plan and reports them. What was listed is reported by then, so only a report that cannot be
// delivered ends the scan.
func (s *scan) measureRoom(ctx context.Context) error {
	open, known := s.cfg.Meters[s.spec.Platform]
	meters := map[string]Meter{}
	for _, p := range s.spec.Plans {
		meter, opened := meters[p.Region]
		if !opened && known {
			var err error
			if meter, err = open(ctx, p.Region, s.keys); err != nil {
				s.cfg.Log.Warn("limits not measured", "region", p.Region, "err", err.Error())
			}
			meters[p.Region] = meter
		}
		if meter == nil {
			continue
		}
		plan := cloud.ReadPlan(s.spec.Platform, s.platform.DefaultType(), p.InstallConfig, p.Zones)
		quotas, err := meter.Quotas(ctx, cloud.Target{Region: p.Region, Account: s.spec.Account, Installation: s.spec.Installation}, plan)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.cfg.Log.Warn("limits not measured", "profile", p.Profile, "region", p.Region, "err", err.Error())
			continue
		}
		for i, q := range quotas {
			quotas[i].Unknown = s.cfg.Redact.Text(q.Unknown)
		}
		if err := s.sendReport(ctx, contract.ScanReport{Room: &contract.ScanRoom{Profile: p.Profile, Region: p.Region, Quotas: quotas}}); err != nil {
			return err
		}
	}
	return nil
}
