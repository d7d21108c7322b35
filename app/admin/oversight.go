package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/auditchain"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/reports"
)

// Audit returns a page of the audit trail: all of it for roles in every team, else what concerns the clusters of the principal's
// teams.
func (s *Service) Audit(ctx context.Context, p policy.Principal, f store.AuditFilter) ([]auditchain.Line, string, error) {
	if err := app.MayForEverybody(p, policy.ActAudit, "read the audit trail"); err != nil {
		return nil, "", err
	}
	if f.Cluster != "" { // a wrong name is an error, not an empty answer
		row, err := s.core.Cluster(ctx, p, f.Cluster)
		if err != nil {
			return nil, "", err
		}
		f.Cluster = row.ID
	}
	f.Teams = p.TeamsFor(policy.ActAudit)
	page, next, err := s.store.AuditPage(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("read the audit trail: %w", err)
	}
	return page, next, nil
}

// ClusterNames returns the names of the clusters in lines of the audit trail that somebody was given, by id.
func (s *Service) ClusterNames(ctx context.Context, lines []auditchain.Line) (map[string]string, error) {
	var ids []string
	for _, l := range lines {
		if l.Cluster != "" {
			ids = append(ids, l.Cluster)
		}
	}
	return s.store.ClusterNames(ctx, ids)
}

// VerifyAudit verifies the whole hash chain. The chain covers all teams, so this needs a role in every team.
func (s *Service) VerifyAudit(ctx context.Context, p policy.Principal) (auditchain.Proof, error) {
	if err := app.MayForEverybody(p, policy.ActAudit, "verify the audit trail"); err != nil {
		return auditchain.Proof{}, err
	}
	if p.TeamsFor(policy.ActAudit) != nil {
		return auditchain.Proof{}, app.Fail(app.Denied, "The audit trail covers all teams, and you may see only some. Ask an auditor of every team.")
	}
	proof, err := s.store.VerifyAudit(ctx)
	if err != nil {
		return auditchain.Proof{}, fmt.Errorf("verify the audit trail: %w", err)
	}
	return proof, nil
}

// Deliveries returns a page of the deliveries from GitHub and Slack.
func (s *Service) Deliveries(ctx context.Context, p policy.Principal, f inbox.DeliveryFilter) ([]inbox.DeliveryInfo, string, error) {
	if err := app.MayForEverybody(p, policy.ActDeliveries, messages.ToSeeDeliveries); err != nil {
		return nil, "", err
	}
	page, next, err := s.store.Inbox.Deliveries(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", err)
	}
	return page, next, nil
}

// Delivery returns one delivery with its body; the read is recorded in the audit trail.
func (s *Service) Delivery(ctx context.Context, p policy.Principal, id string, origin app.Origin) (inbox.DeliveryInfo, []byte, error) {
	if err := app.MayForEverybody(p, policy.ActDeliveries, messages.ToSeeDeliveries); err != nil {
		return inbox.DeliveryInfo{}, nil, err
	}
	row, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return inbox.DeliveryInfo{}, nil, noDelivery(id)
	}
	info, body, err := s.store.Inbox.DeliveryBody(ctx, row)
	if errors.Is(err, db.ErrNotFound) {
		return inbox.DeliveryInfo{}, nil, noDelivery(id)
	}
	if err != nil {
		return inbox.DeliveryInfo{}, nil, fmt.Errorf("read delivery: %w", err)
	}
	if err := s.store.Audit(ctx, s.core.StoreOrigin(origin, p), "delivery.read", "", map[string]string{"why": "the body was read", "delivery": info.Source + " " + info.ID}); err != nil {
		return inbox.DeliveryInfo{}, nil, fmt.Errorf("record the read: %w", err)
	}
	return info, body, nil
}

func noDelivery(id string) error {
	return app.Fail(app.NotFound, fmt.Sprintf("The delivery %s does not exist or was deleted. The list of deliveries shows those that are kept.", id))
}

// Replay processes a delivery again at once, whatever its state: only for platform admins, with a reason.
func (s *Service) Replay(ctx context.Context, p policy.Principal, id string, origin app.Origin) (inbox.DeliveryInfo, error) {
	if err := app.MayForEverybody(p, policy.ActReplay, "replay a delivery"); err != nil {
		return inbox.DeliveryInfo{}, err
	}
	origin, err := app.CheckReason(origin, true)
	if err != nil {
		return inbox.DeliveryInfo{}, err
	}
	row, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return inbox.DeliveryInfo{}, noDelivery(id)
	}
	info, err := s.store.Inbox.Replay(ctx, row, s.core.StoreOrigin(origin, p))
	switch {
	case errors.Is(err, db.ErrNotFound):
		return inbox.DeliveryInfo{}, noDelivery(id)
	case err != nil:
		return inbox.DeliveryInfo{}, fmt.Errorf("replay: %w", err)
	}
	return info, nil
}

// CountFindings returns how many findings are open of those that the principal may see; none if they may see none.
func (s *Service) CountFindings(ctx context.Context, p policy.Principal) (int, error) {
	if !p.MayAnywhere(policy.ActFindings) {
		return 0, nil
	}
	return s.store.Reports.CountFindings(ctx, p.TeamsFor(policy.ActFindings))
}

// Findings returns findings about the clusters of the principal's teams; with a role in every team, also those about
// no cluster.
func (s *Service) Findings(ctx context.Context, p policy.Principal, f reports.FindingFilter) ([]reports.FindingRow, error) {
	if err := app.MayForEverybody(p, policy.ActFindings, "see findings"); err != nil {
		return nil, err
	}
	f.Teams = p.TeamsFor(policy.ActFindings)
	found, err := s.store.Reports.Findings(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return found, nil
}
