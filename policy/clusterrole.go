package policy

import (
	"fmt"
	"slices"
)

// ClusterRole is what somebody may do inside a cluster. The names are those of Kubernetes' cluster roles; admin is cluster-admin.
type ClusterRole string

// The cluster roles.
const (
	ClusterView  ClusterRole = "view"  // read, except secrets
	ClusterEdit  ClusterRole = "edit"  // read, and change what is in the namespaces that are not the system's; there also read secrets
	ClusterAdmin ClusterRole = "admin" // everything
)

// ClusterRoles lists the roles, the least powerful first.
var ClusterRoles = []ClusterRole{ClusterView, ClusterEdit, ClusterAdmin}

// Known reports whether it is one of ClusterRoles.
func (r ClusterRole) Known() bool { return slices.Contains(ClusterRoles, r) }

// Within reports whether the role allows no more than another one. An unknown role is within none.
func (r ClusterRole) Within(most ClusterRole) bool {
	return r.Known() && slices.Index(ClusterRoles, r) <= slices.Index(ClusterRoles, most)
}

// beyondShare says why a share to use the cluster is not enough for an act, and what to do; empty: it is enough.
func beyondShare(act Act, t Target) (message, next string) {
	ask := fmt.Sprintf("Ask someone of team %s to share it with you as admin.", t.Team)
	switch {
	case act == ActLogBundle && t.Role != ClusterAdmin:
		return fmt.Sprintf("%s is shared with you as %s. Its log bundle holds secrets that open the whole cluster, so it takes admin.", t.Name, t.Role), ask
	case act == ActKubeconfig && t.Asked != "" && !t.Asked.Within(t.Role):
		return fmt.Sprintf("%s is shared with you as %s, and you asked for %s.", t.Name, t.Role, t.Asked),
			fmt.Sprintf("Ask for %s, or ask someone of team %s to share it with you as %s.", t.Role, t.Team, t.Asked)
	}
	return "", ""
}
