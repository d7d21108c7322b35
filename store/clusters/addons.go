package clusters

import (
	"encoding/json"
	"fmt"

	"github.com/ocpctl/ocpctl/store/db"
)

var insertAddon = db.NewInsert("keep the add-ons", "cluster text, position integer, name text, manifests text, waits jsonb", `
	INSERT INTO cluster_addons (cluster_id, position, name, manifests, waits) SELECT cluster, position, name, manifests, waits FROM given`)

// QueueAddon stores an add-on of a cluster as it is now. Positions, in which they are brought, begin at 1.
func QueueAddon(b *db.Batch, cluster string, position int, a Addon) error {
	waits, err := json.Marshal(append([]AddonWait{}, a.Waits...))
	if err != nil {
		return fmt.Errorf("encode what add-on %s waits for: %w", a.Name, err)
	}
	b.Insert(insertAddon, cluster, position, a.Name, a.Manifests, waits)
	return nil
}
