package credentials

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// A cluster's credentials leave the bucket through this file alone. Every reading is in the audit trail before it happens,
// and so is every refusal.

// Kubeconfig hands out a cluster's kubeconfig to its team, an admin, or whom it is shared with to use.
func (d *Service) Kubeconfig(ctx context.Context, p policy.Principal, ref string, deed app.Deed) ([]byte, error) {
	row, err := d.opened(ctx, p, ref, policy.ActKubeconfig, deed)
	if err != nil {
		return nil, err
	}
	if err := app.CheckReachable(row); err != nil {
		return nil, err
	}
	return d.handOut(ctx, row, artifacts.Kubeconfig, d.core.Origin(deed, p))
}

// handOut reads one of a cluster's credentials, artifacts.Kubeconfig or artifacts.Kubeadmin, after the reading was written
// down. Whatever reference the row holds, only an object of this very cluster is read.
func (d *Service) handOut(ctx context.Context, row store.Row, name string, by store.Deed) ([]byte, error) {
	action, ref := "kubeconfig.read", row.Outputs.KubeconfigRef
	if name == artifacts.Kubeadmin {
		action, ref = "kubeadmin.read", row.Outputs.KubeadminRef
	}
	if err := d.store.Audit(ctx, by, action, row.ID, map[string]string{"why": "it was downloaded"}); err != nil {
		return nil, fmt.Errorf("record the read: %w", err)
	}
	if !artifacts.IsCredentialRef(ref, row.ID, name) {
		return nil, fmt.Errorf("read the %s of %s: its reference %q belongs to another cluster", name, row.ID, ref)
	}
	raw, err := d.artifacts.Read(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read the %s of %s: %w", name, row.ID, err)
	}
	if name == artifacts.Kubeconfig {
		if err := plainKubeconfig(raw, row.Outputs.APIURL); err != nil {
			d.log.Error("kubeconfig withheld", "cluster", row.ID, "err", err)
			return nil, app.Fail(app.Conflict, "The stored kubeconfig of %s is not one that openshift-install writes (%v) and is withheld: it could run programs on your machine "+
				"or send your requests elsewhere. Ask a platform admin to check the cluster's create attempt.", row.Name, err)
		}
	}
	return raw, nil
}

// opened is allowed for an act that leads to a cluster's credentials: a refusal is written down under the cluster it is
// of. A cluster that does not exist has no trail.
func (d *Service) opened(ctx context.Context, p policy.Principal, ref string, act policy.Act, deed app.Deed) (store.Row, error) {
	row, refusal := d.core.Allowed(ctx, p, ref, act)
	if kind := app.KindOf(refusal); refusal == nil || kind != app.Denied && kind != app.NotFound {
		return row, refusal
	}
	action := "kubeconfig.refused"
	switch act {
	case policy.ActBreakGlass:
		action = "kubeadmin.refused"
	case policy.ActLogBundle:
		action = "log_bundle.refused"
	}
	rows, err := d.clustersMeant(ctx, ref)
	if err != nil {
		return store.Row{}, fmt.Errorf("look for what was refused: %w", err)
	}
	for _, each := range rows {
		if err := d.store.AuditRefusal(ctx, d.core.Origin(deed, p), action, each.ID, "not allowed to access the cluster"); err != nil {
			return store.Row{}, fmt.Errorf("record the refusal: %w", err)
		}
	}
	return store.Row{}, refusal
}

// clustersMeant lists the clusters that a reference could mean, whoever asks.
func (d *Service) clustersMeant(ctx context.Context, ref string) ([]store.Row, error) {
	if strings.HasPrefix(ref, app.ClusterIDPrefix) {
		row, err := d.store.Cluster(ctx, ref)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		return []store.Row{row}, err
	}
	rows, _, err := d.store.List(ctx, store.Filter{Named: ref, Live: true})
	if err == nil && len(rows) == 0 { // the name is then that of the newest that is gone
		rows, _, err = d.store.List(ctx, store.Filter{Named: ref, Limit: 1})
	}
	return rows, err
}
