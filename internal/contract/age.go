package contract

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// ageMargin is how far the clocks of a cloud and of the server may be apart. Clouds tell whole seconds.
const ageMargin = time.Minute

// AcceptedAt returns when a cluster was accepted: what was recorded, else what its id tells, because the store makes the id, a ULID, while it
// accepts the cluster. An adopted cluster has only the id. Zero: neither tells it.
func AcceptedAt(recorded time.Time, clusterID string) time.Time {
	rest, ok := strings.CutPrefix(clusterID, "clu_")
	id, err := ulid.ParseStrict(rest)
	if !recorded.IsZero() || !ok || err != nil {
		return recorded
	}
	return id.Timestamp().UTC()
}

// IsOlder reports that a resource was made before its cluster was accepted: it is not the cluster's, whatever its tags or its name say. A
// zero time is not known, and reports nothing.
func IsOlder(made, accepted time.Time) bool {
	return !made.IsZero() && !accepted.IsZero() && made.Add(ageMargin).Before(accepted)
}
