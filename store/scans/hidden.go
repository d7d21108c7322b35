package scans

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// hidden has, by id, the region of each resource that a scan did not look for, because it listed no part of the region where the resource was
// seen before: the region was disabled in the account, or is no longer among the settings.
type hidden map[string]string

// listHidden returns what a scan could not have seen. One that did not succeed says nothing about that.
func listHidden(ctx context.Context, c *db.Tx, of Scan) (hidden, error) {
	if of.Outcome == nil || *of.Outcome != lifecycle.Succeeded {
		return nil, nil
	}
	list, err := db.All[struct{ ID, Region string }](ctx, c, `
		WITH looked AS (SELECT DISTINCT split_part(name, '/', 1) AS region FROM scan_parts WHERE scan_id = $3)
		SELECT s.id, split_part(s.parts[1], '/', 1) AS region FROM seen s WHERE s.platform = $1 AND s.account = $2 AND s.gone_at IS NULL AND s.last_scan <> $3
			AND NOT EXISTS (SELECT FROM unnest(s.parts) AS p (name) JOIN looked l ON l.region = split_part(p.name, '/', 1))`, of.Platform, of.Account, of.ID)
	if err != nil {
		return nil, fmt.Errorf("look for what the scan did not look for: %w", err)
	}
	out := make(hidden, len(list))
	for _, r := range list {
		out[r.ID] = r.Region
	}
	return out, nil
}

// addTo adds to the reason of an orphan that nobody knows whether what is in these regions is still there.
func (h hidden) addTo(why string, resources []string) string {
	var regions []string
	for _, id := range resources {
		if region, out := h[id]; out && !slices.Contains(regions, region) {
			regions = append(regions, region)
		}
	}
	if len(regions) == 0 {
		return why
	}
	slices.Sort(regions)
	return why + "; " + strings.Join(regions, ", ") + " is no longer looked through, so nobody knows whether it is still there"
}
