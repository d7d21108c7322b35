package createform

import (
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/profiles"
)

// Fact is something that the profile fixes.
type Fact struct{ Name, Value string }

// RequiredTags are the tags that ocpctl sets on everything in the cloud.
var RequiredTags = []string{"ManagedBy", "ClusterId", "ClusterName", "Owner", "Team", "CostCenter", "Environment", "TTLExpiry", "RequestId", "InstallationId"}

// Locked lists what a profile fixes.
func Locked(p profiles.Profile) []Fact {
	return []Fact{
		{"Platform", p.Platform},
		{"Machines", messages.Machines(p.ControlPlane.Replicas, p.ControlPlane.InstanceType, p.ControlPlane.Schedulable, messages.WorkerMachines{Replicas: p.Workers.Replicas, Type: p.Workers.InstanceType, Least: p.Workers.Least, Most: p.Workers.Most})},
		{"Lifetime", messages.Lifetimes(p.DefaultTTL, p.MaxTTL, p.Grace)},
		{"When full", messages.WhenFull(p.WhenFull == profiles.WhenFullWait)},
		{"Prices", messages.PricesAsOf(p.PricesAsOf)},
	}
}
