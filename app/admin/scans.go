package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/scans"
)

// StartScans opens a scan of an account, or of all that are configured (an empty account), and returns them. One that is open already is
// returned as it is.
func (s *Service) StartScans(ctx context.Context, p policy.Principal, account string, origin app.Origin) ([]scans.Scan, error) {
	if err := app.MayForEverybody(p, policy.ActScan, "have cloud accounts looked through"); err != nil {
		return nil, err
	}
	origin, err := app.CheckReason(origin, false)
	if err != nil {
		return nil, err
	}
	var wanted []scans.Wanted
	if s.accounts != nil {
		if wanted, err = s.accounts(ctx); err != nil {
			return nil, err
		}
	}
	if len(wanted) == 0 {
		return nil, app.Fail(app.Conflict, "No account is configured to be looked through. Add account or scan.accounts to the server's configuration.")
	}
	var names []string
	var opened []scans.Scan
	for _, w := range wanted {
		names = append(names, w.Account)
		if account != "" && w.Account != account {
			continue
		}
		scan, _, err := s.store.Scans.Open(ctx, w, s.core.StoreOrigin(origin, p))
		if err != nil {
			return nil, err
		}
		opened = append(opened, scan)
	}
	if len(opened) == 0 {
		return nil, &app.Error{Kind: app.Invalid, Message: "No account was looked through.", Fields: []app.Field{app.ProblemOf("account", messages.Problem{Detail: fmt.Sprintf("account %q is not configured", account), Accept: names})}}
	}
	return opened, nil
}

// maySeeScans: a scan concerns every team.
func maySeeScans(p policy.Principal) error {
	if err := app.MayForEverybody(p, policy.ActFindings, "see the scans of cloud accounts"); err != nil {
		return err
	}
	if p.TeamsFor(policy.ActFindings) != nil {
		return app.Fail(app.Denied, "A scan covers the resources of all teams, and you may see only some. Ask a platform admin or an auditor of every team.")
	}
	return nil
}

// Scans returns the newest scans of one account, or of all (an empty account).
func (s *Service) Scans(ctx context.Context, p policy.Principal, account string, limit int) ([]scans.Scan, error) {
	if err := maySeeScans(p); err != nil {
		return nil, err
	}
	return s.store.Scans.Scans(ctx, account, limit)
}

// Scan returns one scan and what it looked at.
func (s *Service) Scan(ctx context.Context, p policy.Principal, id string) (scans.Scan, []scans.Part, error) {
	if err := maySeeScans(p); err != nil {
		return scans.Scan{}, nil, err
	}
	scan, err := s.store.Scans.Scan(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return scans.Scan{}, nil, app.Fail(app.NotFound, fmt.Sprintf("There is no scan %s. See ocpctl admin scans.", id))
	}
	if err != nil {
		return scans.Scan{}, nil, fmt.Errorf("get a scan: %w", err)
	}
	parts, err := s.store.Scans.Parts(ctx, id)
	return scan, parts, err
}
