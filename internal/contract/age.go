package contract

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// ageMargin is how far the clocks of a cloud and of the server may be apart. Clouds tell whole seconds.
const ageMargin = time.Minute

// AcceptedIn returns when the cluster with this id was accepted, for one of which no row tells; zero: no ocpctl gave this id. The store makes
// the id, a ULID, while it accepts the cluster.
func AcceptedIn(clusterID string) time.Time {
	rest, ok := strings.CutPrefix(clusterID, "clu_")
	id, err := ulid.ParseStrict(rest)
	if !ok || err != nil {
		return time.Time{}
	}
	return id.Timestamp().UTC()
}

// IsOlder reports that a resource was made before its cluster was accepted: it is not the cluster's, whatever its tags or its name say. A
// zero time is not known, and reports nothing.
func IsOlder(made, accepted time.Time) bool {
	return !made.IsZero() && !accepted.IsZero() && made.Add(ageMargin).Before(accepted)
}
