package messages

// HomeUnlinked is what Home shows to somebody without a role: how to get one, and what it gives.
const HomeUnlinked = NoRoleOnSlack + "\n\nThen you see your clusters and your team's here, create, extend and destroy them, fetch a kubeconfig, " +
	"and approve what waits for you."

// whose names whom a limit applies to.
func whose(scope, key string) string {
	switch scope {
	case "person":
		return "you"
	case "team":
		return "team " + key
	}
	return "everybody"
}

// LiveOf names the limit on clusters at once; scope and key say to whom it applies.
func LiveOf(scope, key string) string { return "Clusters at once, " + whose(scope, key) }

// CreatingOf names the limit on clusters that are being created.
func CreatingOf(scope, key string) string { return "Clusters being created, " + whose(scope, key) }

// NodeHoursOf names the limit on node hours.
func NodeHoursOf(scope, key string) string { return "Node hours this month, " + whose(scope, key) }

// BudgetOf names a team's budget.
func BudgetOf(team string) string { return "Budget this month, team " + team }

// MyClusters is the title of the window with somebody's clusters.
const MyClusters = "My clusters"

// UnknownShortcut answers a shortcut that ocpctl does not know: of an older release, or of a newer one.
const UnknownShortcut = "ocpctl does not know this shortcut, so nothing was done. `/ocp help` lists the commands."
