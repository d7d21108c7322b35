package credentials

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// A cluster's credentials leave the bucket only through this file. Every read is in the audit trail before it happens, and so is
// every refusal.

// Kubeconfig returns a cluster's kubeconfig to its team, an admin, or whom it is shared with for use.
func (s *Service) Kubeconfig(ctx context.Context, p policy.Principal, ref string, origin app.Origin) ([]byte, error) {
	row, origin, err := s.core.Authorize(ctx, p, ref, policy.ActKubeconfig, origin)
	if err != nil {
		return nil, err
	}
	if err := app.CheckReachable(row); err != nil {
		return nil, err
	}
	return s.handOut(ctx, row, artifacts.Kubeconfig, s.core.StoreOrigin(origin, p))
}

// handOut reads one of a cluster's credentials, artifacts.Kubeconfig or artifacts.Kubeadmin, after the read was recorded.
// Whatever reference the row holds, only an object of this cluster is read.
func (s *Service) handOut(ctx context.Context, row store.Row, name string, by store.Origin) ([]byte, error) {
	action, ref := "kubeconfig.read", row.Outputs.KubeconfigRef
	if name == artifacts.Kubeadmin {
		action, ref = "kubeadmin.read", row.Outputs.KubeadminRef
	}
	if err := s.store.Audit(ctx, by, action, row.ID, map[string]any{"why": messages.BecauseDownloaded, "verdict": by.Verdict}); err != nil {
		return nil, fmt.Errorf("record the read: %w", err)
	}
	if !artifacts.IsCredentialRef(ref, row.ID, name) {
		return nil, fmt.Errorf("read the %s of %s: its reference %q belongs to another cluster", name, row.ID, ref)
	}
	raw, err := s.artifacts.Read(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read the %s of %s: %w", name, row.ID, err)
	}
	if name == artifacts.Kubeconfig {
		if err := plainKubeconfig(raw, row.Outputs.APIURL); err != nil {
			s.log.ErrorContext(ctx, "kubeconfig withheld", "cluster", row.ID, "err", err)
			return nil, app.Fail(app.Conflict, messages.KubeconfigWithheld(row.Name, err))
		}
	}
	return raw, nil
}
