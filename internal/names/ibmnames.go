package names

import (
	"slices"
	"strings"
)

// ofService begins the name of a load balancer that Kubernetes makes for a service on IBM Cloud: kube-<infraID>-<uid of the service>.
const ofService = "kube-"

// HasInfraID reports whether a resource on IBM Cloud has a name that was made from the infraID: the infraID itself, or with more after a
// dash. A longer infraID that begins with this one is another.
func HasInfraID(name, infraID string) bool {
	name = strings.TrimPrefix(name, ofService)
	return name == infraID || strings.HasPrefix(name, infraID+"-")
}

// InfraIDIn returns the infraID of this cluster from which a name on IBM Cloud was made; empty: it was made from none.
func (s Scope) InfraIDIn(name string) string {
	prefix := s.InfraIDPrefix()
	name = strings.TrimPrefix(name, ofService)
	if random, ok := strings.CutPrefix(name, prefix); ok && len(random) >= 5 {
		if infraID := prefix + random[:5]; s.IsInfraID(infraID) && HasInfraID(name, infraID) {
			return infraID
		}
	}
	return ""
}

// MostAttempts is more than the attempts of a cluster that no database knows.
const MostAttempts = 100

// FromNames returns what names of resources on IBM Cloud tell of this cluster: the infraIDs that they were made from, and the name of its
// resource group if it has one infraID and one group: with more, nobody knows which belong together. attempts is how many it may have had.
func (s Scope) FromNames(named []string, attempts int) (infraIDs []string, group string) {
	s.Attempt = attempts
	var groups []string
	for _, name := range named {
		if infraID := s.InfraIDIn(name); infraID != "" && !slices.Contains(infraIDs, infraID) {
			infraIDs = append(infraIDs, infraID)
		}
		if s.IsCCOName(name) && !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	slices.Sort(infraIDs)
	if len(infraIDs) == 1 && len(groups) == 1 {
		group = groups[0]
	}
	return infraIDs, group
}
