package messages

import "fmt"

// What an act on orphans is, after "may not" and "needs the role … to".
const (
	ToRemoveOrphans = "approve the removal of orphans"
)

// OrphanUndecidable tells an admin why nobody can decide about an orphan as it is now.
func OrphanUndecidable(why string) string {
	return fmt.Sprintf("Nothing was changed: %s. See ocpctl admin orphans for how they are now.", why)
}
