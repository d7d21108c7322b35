package createform

import (
	"fmt"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// Fact is something that the profile fixes.
type Fact struct{ Name, Value string }

// RequiredTags are the tags that ocpctl sets on everything in the cloud.
var RequiredTags = []string{"ManagedBy", "ClusterId", "ClusterName", "Owner", "Team", "CostCenter", "Environment", "TTLExpiry", "RequestId", "InstallationId"}

// Locked lists what a profile fixes.
func Locked(p profiles.Profile) []Fact {
	size := Fact{"Size", p.Share()}
	if size.Value == "" {
		size = Fact{"Machines", sayMachines(p.ControlPlane.Replicas, p.ControlPlane.InstanceType, p.ControlPlane.Schedulable, messages.WorkerMachines{Replicas: p.Workers.Replicas, Type: p.Workers.InstanceType, Least: p.Workers.Least, Most: p.Workers.Most})}
	}
	return []Fact{
		{"Platform", price.PlatformText(p.Platform)},
		size,
		{"Lifetime", fmt.Sprintf("%s by default, at most %s; %s after its pull request closes", duration.Format(p.DefaultTTL), duration.Format(p.MaxTTL), duration.Format(p.Grace))},
		{"When full", sayWhenFull(p.WhenFull == profiles.WhenFullWait)},
		{"Prices", "list prices of " + p.PricesAsOf},
	}
}

// sayMachines says which machines a profile's clusters have.
func sayMachines(replicas int, kind string, runWorkloads bool, w messages.WorkerMachines) string {
	text := fmt.Sprintf("%d × %s", replicas, kind)
	if runWorkloads {
		text += ", which also run workloads"
	}
	if w.Replicas == 0 && w.Most == 0 {
		return text + "; no workers"
	}
	text += fmt.Sprintf("; %d × %s workers", w.Replicas, w.Type)
	if w.Least < w.Most {
		text += fmt.Sprintf(", scalable from %d to %d", w.Least, w.Most)
	}
	return text
}

// sayWhenFull says what happens to a request when a quota is full.
func sayWhenFull(waits bool) string {
	if waits {
		return "requests wait in the queue"
	}
	return "requests are refused"
}
