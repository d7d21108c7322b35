package contract

import "time"

// ageMargin is how far the clocks of a cloud and of the server may be apart. Clouds tell whole seconds.
const ageMargin = time.Minute

// IsOlder reports that a resource was made before its cluster was accepted: it is not the cluster's, whatever its tags or its name say. A
// zero time is not known, and reports nothing.
func IsOlder(made, accepted time.Time) bool {
	return !made.IsZero() && !accepted.IsZero() && made.Add(ageMargin).Before(accepted)
}
