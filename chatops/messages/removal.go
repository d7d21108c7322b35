package messages

import "fmt"

// What an act on orphans is, after "may not" and "needs the role … to".
const (
	ToRemoveOrphans = "approve the removal of orphans"
	ToExemptOrphans = "exempt orphans"
)

// NoOrphanChosen tells an admin that a request names no orphan, or too many.
func NoOrphanChosen(most int) string { return fmt.Sprintf("Name between 1 and %d orphans.", most) }

// OrphanUnremovable tells an admin why no teardown can remove an orphan. Nothing was approved.
func OrphanUnremovable(id, why string) string {
	return fmt.Sprintf("Nothing was approved, because no teardown can remove the orphan %s: %s.", id, why)
}

// OrphanUndecidable tells an admin why nobody can decide about an orphan as it is now.
func OrphanUndecidable(why string) string {
	return fmt.Sprintf("Nothing was changed: %s. See ocpctl admin orphans for how they are now.", why)
}

// RemovalsApproved tells an admin what follows from an approval.
func RemovalsApproved(n int) string {
	if n == 1 {
		return "The removal is approved. The teardown of its cluster begins within a minute, unless the plan says that it waits."
	}
	return fmt.Sprintf("%d removals are approved. The teardowns of their clusters begin within a minute, unless a plan says that it waits.", n)
}

// OrphansExempted tells an admin that orphans stay.
const OrphansExempted = "It stays, and is reported no more."
