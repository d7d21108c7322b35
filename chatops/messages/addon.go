package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Unrefreshable tells somebody why a cluster's add-ons cannot be refreshed: it has none, or it is not ready.
func Unrefreshable(c lifecycle.Card) string {
	if len(c.Addons) == 0 {
		return c.Name + " was created without add-ons, and the add-ons of a cluster cannot be changed. Add them to the repository's file, and create a new cluster."
	}
	return fmt.Sprintf("%s is %s (%s). Add-ons can be refreshed only while the cluster is READY.", c.Name, c.Status, c.Phase)
}

// UnreadyForRefresh tells somebody that a cluster ceased to be ready before the refresh was stored.
func UnreadyForRefresh(name string) string {
	return name + " is no longer ready, so its add-ons cannot be refreshed."
}

// MissingAddon says that an add-on is not in place, and why, as its condition has it.
func MissingAddon(name, reason, message string) string {
	return fmt.Sprintf("Its add-on %s is missing (%s): %s", name, reason, message)
}

// RefreshingAddons answers refresh on a pull request.
func RefreshingAddons(actor string, c lifecycle.Card, job string) string {
	return fmt.Sprintf("@%s, the add-ons of `%s` are being applied again: %s (job `%s`). Its comment shows the result.",
		actor, c.Name, strings.Join(c.Addons, ", "), job)
}
