package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// freezeAddons returns the granted add-ons as the granting catalogue has them, with the cluster's own values: a later catalogue does not change an
// existing cluster.
func freezeAddons(b catalogue.Catalogue, granted []string, name, baseDomain, region string) ([]clusters.Addon, error) {
	domain := names.Scope{Name: name, BaseDomain: baseDomain}.Domain()
	var out []clusters.Addon
	for _, addon := range granted {
		a, known := b.Addon(addon)
		if !known {
			return nil, fmt.Errorf("add-on %s was granted and is not in the catalogue", addon)
		}
		one := clusters.Addon{Name: a.Name, Manifests: a.ManifestsFor(name, domain, region)}
		for _, w := range a.Waits {
			one.Waits = append(one.Waits, clusters.AddonWait(w))
		}
		out = append(out, one)
	}
	return out, nil
}

// Refresh applies a ready cluster's add-ons again, as they were frozen with it. However often it is called while one refresh
// runs, one more follows; the same cause again is the same request.
func (s *Service) Refresh(ctx context.Context, p policy.Principal, ref string, origin Origin) (row clusters.Row, job string, err error) {
	row, origin, err = s.Authorize(ctx, p, ref, policy.ActRefresh, origin)
	if err != nil {
		return clusters.Row{}, "", err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return clusters.Row{}, "", err
	}
	if obstacleTo(policy.VerbRefresh, row) != "" {
		return clusters.Row{}, "", Fail(Conflict, sayUnrefreshable(row.Card))
	}
	job, err = s.store.WantRefresh(ctx, row.ID, origin.causeOf(p), s.StoreOrigin(origin, p))
	row, err = s.clusterAfter(ctx, row, err, row.Name+" is no longer ready, so its add-ons cannot be refreshed.")
	return row, job, err
}

// missingAddons returns a sentence for each add-on that is not in place, with the reason.
func missingAddons(row clusters.Row, conditions []clusters.Condition) (out []string) {
	for _, q := range conditions {
		if name, ok := strings.CutPrefix(q.Type, clusters.AddonCondition); ok && q.Status != "True" && slices.Contains(row.Addons, name) {
			out = append(out, fmt.Sprintf("Its add-on %s is missing (%s): %s", name, q.Reason, q.Message))
		}
	}
	return out
}

// sayUnrefreshable tells somebody why a cluster's add-ons cannot be refreshed: it has none, or it is not ready.
func sayUnrefreshable(c lifecycle.Card) string {
	if len(c.Addons) == 0 {
		return c.Name + " was created without add-ons, and the add-ons of a cluster cannot be changed. Add them to the repository's file, and create a new cluster."
	}
	return fmt.Sprintf("%s is %s (%s). Add-ons can be refreshed only while the cluster is READY.", c.Name, c.Status, c.Phase)
}
