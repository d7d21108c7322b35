package clusters

import (
	"github.com/ocpctl/ocpctl/lifecycle"
)

// StatusAndPhase is a cluster's status and phase, as "STATUS/phase".
func StatusAndPhase(c lifecycle.Cluster) string { return string(c.Status) + "/" + string(c.Phase) }
