package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// NoOrphan says that there is no orphan of that id, or that the asker may not see it.
func NoOrphan(id string) string {
	return fmt.Sprintf("There is no orphan %s. See ocpctl admin orphans.", id)
}

// OrphanNext says what to do about an orphan; whose: a person or team to ask is known.
func OrphanNext(class lifecycle.OrphanClass, state lifecycle.OrphanState, whose bool) string {
	switch state {
	case lifecycle.OrphanSeen:
		return "Nothing yet: it is not confirmed. It is reported if the next scan still sees it."
	case lifecycle.OrphanExempt:
		return "Nothing: it is exempt."
	case lifecycle.OrphanApproved, lifecycle.OrphanRemoving:
		return "Wait for the teardown that removes it."
	case lifecycle.OrphanGone:
		return "Nothing: it is gone."
	}
	switch class {
	case lifecycle.ClassReleased:
		return "Look at the resources, then approve their removal: the cluster was called destroyed, and its teardown is done again."
	case lifecycle.ClassUnrecorded:
		return "Ask the owner whether it is in use. The cluster's own teardown would not find it."
	case lifecycle.ClassUnknown:
		return "If the database was restored from a backup, run the recovery. Otherwise find out who used this installation's tags. An approved removal gives the cluster a row and tears it down."
	case lifecycle.ClassOwned:
		if !whose {
			return "Find out whose it is, from its mark and its tags. ocpctl never removes it."
		}
		return "Ask the owner. ocpctl never removes it."
	case lifecycle.ClassForeign:
		return "Nothing: another installation looks after it. ocpctl never removes it."
	}
	return "Find out whose it is, then remove it by hand or exempt it. ocpctl never removes it."
}
