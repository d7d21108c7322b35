package messages

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

// MyClusters is the title of the window with somebody's clusters.
const MyClusters = "My clusters"
