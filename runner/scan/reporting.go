package scan

import (
	"context"
	"errors"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// reportPart sends a part, or a heartbeat if there is none.
func (s *scan) reportPart(ctx context.Context, part *contract.ScanPart) error {
	return s.sendReport(ctx, contract.ScanReport{Part: part})
}

// sendReport numbers and sends a report, and waits for its acknowledgement: nothing is listed faster than the server
// takes it. A report that can never be delivered ends the work.
func (s *scan) sendReport(ctx context.Context, report contract.ScanReport) error {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.seq++
	report.Seq = s.seq
	_, err := s.api.Send(ctx, "report", report, s.api.LeaseOver)
	if err == nil {
		s.reported = time.Now()
		return nil
	}
	if errors.Is(err, status.ErrFenced) || errors.Is(err, status.ErrLeaseOver) {
		s.api.Stop(err)
	}
	return err
}

// sendHeartbeats renews the lease while a part has nothing to report, until the context ends.
func (s *scan) sendHeartbeats(ctx context.Context) {
	tick := time.NewTicker(s.spec.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.reporting.TryLock() {
			continue // a report is on its way
		}
		quiet := time.Since(s.reported) >= s.spec.Heartbeat/2
		s.reporting.Unlock()
		if quiet && s.reportPart(ctx, nil) != nil && s.api.LeaseOver() {
			s.api.Stop(status.ErrLeaseOver)
		}
	}
}
