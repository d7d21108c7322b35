package credentials

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// A cluster's credentials leave the bucket only through this file. Every read is in the audit trail before it happens, and so is
// every refusal.

// handOut reads the kubeconfig of an access, after the read was recorded, and returns it only if it is exactly what was to be made.
func (s *Service) handOut(ctx context.Context, row clusters.Row, a access.Row, by clusters.Origin) (secret.Text, error) {
	raw, err := s.recordRead(ctx, row, reading{"kubeconfig.read", a.Ref, artifacts.AccessFile(a.ID), aboutAccess(a, by)}, by)
	if err != nil {
		return secret.Text{}, err
	}
	plain, err := accessKubeconfig(raw, row, a)
	if err != nil {
		s.log.ErrorContext(ctx, "kubeconfig withheld", "cluster", row.ID, "access", a.ID, "err", err)
		return secret.Text{}, app.Fail(app.Conflict, fmt.Sprintf("The stored kubeconfig of %s is not the one that was to be made for you (%v) and is withheld. Ask a platform admin to check "+
			"the cluster's newest ACCESS job and its runner.", row.Name, err))
	}
	return secret.New(string(plain)), nil
}

// password matches what a runner makes as the password of an account of the console.
var password = regexp.MustCompile(`^[A-Za-z0-9_-]{32,72}$`)

// handOutPassword is handOut for an account of the console; empty: it has none. A password that no runner of ours makes is withheld.
func (s *Service) handOutPassword(ctx context.Context, row clusters.Row, a access.Row, by clusters.Origin) (secret.Text, error) {
	if a.OpenID {
		return secret.Text{}, nil
	}
	raw, err := s.recordRead(ctx, row, reading{"console_password.read", a.Ref, artifacts.ConsoleFile(a.ID), aboutAccess(a, by)}, by)
	if err != nil {
		return secret.Text{}, err
	}
	if !password.Match(raw) {
		return secret.Text{}, app.Fail(app.Conflict, fmt.Sprintf("The stored password of your console account in %[1]s is not one that a runner makes, and is withheld. "+
			"Get another account: ocpctl open %[1]s --renew.", row.Name))
	}
	return secret.New(string(raw)), nil
}

// aboutAccess is what the audit trail keeps of the read of an access.
func aboutAccess(a access.Row, by clusters.Origin) map[string]any {
	return map[string]any{
		"why": messages.BecauseDownloaded, "verdict": by.Verdict, "access": a.ID, "role": a.Role, "account": a.Account, "expiresAt": a.ExpiresAt,
	}
}

// handOutInstallers reads one of the credentials that the installer made, artifacts.Kubeconfig or artifacts.Kubeadmin.
func (s *Service) handOutInstallers(ctx context.Context, row clusters.Row, name string, by clusters.Origin) (secret.Text, error) {
	action, ref := "admin_kubeconfig.read", row.Outputs.KubeconfigRef
	if name == artifacts.Kubeadmin {
		action, ref = "kubeadmin.read", row.Outputs.KubeadminRef
	}
	raw, err := s.recordRead(ctx, row, reading{action, ref, name, map[string]any{"why": messages.BecauseDownloaded, "verdict": by.Verdict}}, by)
	if err != nil || name == artifacts.Kubeadmin {
		return secret.New(strings.TrimSpace(string(raw))), err
	}
	if err := plainKubeconfig(raw, row.Outputs.APIURL); err != nil {
		s.log.ErrorContext(ctx, "kubeconfig withheld", "cluster", row.ID, "err", err)
		return secret.Text{}, app.Fail(app.Conflict, fmt.Sprintf("The stored kubeconfig of %s is not one that openshift-install writes (%v) and is withheld: it could run programs on your machine "+
			"or send your requests elsewhere. Ask a platform admin to check the cluster's create attempt.", row.Name, err))
	}
	return secret.New(string(raw)), nil
}

// reading is one read of a credential.
type reading struct {
	action, ref, name string
	about             map[string]any // for the audit trail
}

// recordRead records a read and does it. Whatever reference the row holds, only an object of this cluster with this name is read.
func (s *Service) recordRead(ctx context.Context, row clusters.Row, r reading, by clusters.Origin) ([]byte, error) {
	if err := s.store.Audit(ctx, by, r.action, row.ID, r.about); err != nil {
		return nil, fmt.Errorf("record the read: %w", err)
	}
	if !artifacts.IsCredentialRef(r.ref, row.ID, r.name) {
		return nil, fmt.Errorf("read the %s of %s: its reference %q belongs to another cluster", r.name, row.ID, r.ref)
	}
	raw, err := s.artifacts.Read(ctx, r.ref)
	if err != nil {
		return nil, fmt.Errorf("read the %s of %s: %w", r.name, row.ID, err)
	}
	return raw, nil
}
