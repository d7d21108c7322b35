package clusters

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/store/db"
)

// Address is what no two live clusters share.
type Address struct{ Platform, BaseDomain, Name string }

// Taken returns which of the addresses live clusters have.
func Taken[T any](ctx context.Context, c *db.Tx, of map[Address]T) ([]Address, error) {
	var platforms, domains, names []string
	for _, a := range slices.Collect(maps.Keys(of)) {
		platforms, domains, names = append(platforms, a.Platform), append(domains, a.BaseDomain), append(names, a.Name)
	}
	taken, err := db.All[Address](ctx, c, `
		SELECT platform, base_domain, name FROM clusters JOIN unnest($1::text[], $2::text[], $3::text[]) AS asked (platform, base_domain, name)
			USING (platform, base_domain, name) WHERE destroyed_at IS NULL`, platforms, domains, names)
	if err != nil {
		return nil, fmt.Errorf("look for clusters with the same names: %w", err)
	}
	return taken, nil
}
