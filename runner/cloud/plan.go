package cloud

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// defaultReplicas is the installer's default for a pool that names no number.
const defaultReplicas = 3

// pool is one machine pool of an install-config.
type pool struct {
	Platform map[string]machines `yaml:"platform"`
	Replicas *int                `yaml:"replicas"`
}

type machines struct {
	Type  string   `yaml:"type"`
	Zones []string `yaml:"zones"`
}

// ReadPlan reads from an install-config which machines it requests on a platform and where. The bootstrap machine has the control plane's
// type. A pool without machines needs no type, but the installer still makes a subnet in its zones. spot: the workers are spot machines.
func ReadPlan(platform, defaultType, config string, zones []string, spot bool) Plan {
	var parsed struct {
		ControlPlane pool   `yaml:"controlPlane"`
		Compute      []pool `yaml:"compute"`
		Platform     map[string]struct {
			Default machines `yaml:"defaultMachinePlatform"`
		} `yaml:"platform"`
	}
	if yaml.Unmarshal([]byte(config), &parsed) != nil {
		return Plan{Zones: zones} // rendering will report what is wrong with it
	}
	usual := parsed.Platform[platform].Default
	pools := append([]pool{parsed.ControlPlane}, parsed.Compute...)
	plan := Plan{}
	for i, each := range pools {
		if each.Replicas == nil {
			each.Replicas = new(defaultReplicas)
		}
		here := each.Platform[platform]
		if len(here.Zones) == 0 {
			here.Zones = usual.Zones
		}
		plan.Zones = append(plan.Zones, here.Zones...)
		name := cmp.Or(here.Type, usual.Type, defaultType)
		if *each.Replicas > 0 {
			plan.Machines = addMachines(plan.Machines, Machines{Type: name, Lasting: *each.Replicas, Spot: spot && i > 0})
		}
		if i == 0 {
			plan.Machines = addMachines(plan.Machines, Machines{Type: name, Transient: 1})
		}
	}
	if len(plan.Zones) == 0 {
		plan.Zones = append(plan.Zones, zones...)
	}
	slices.Sort(plan.Zones)
	plan.Zones = slices.Compact(plan.Zones)
	return plan
}

// addMachines adds machines, combining those of one type that are paid alike.
func addMachines(all []Machines, more Machines) []Machines {
	for i := range all {
		if all[i].Type == more.Type && all[i].Spot == more.Spot {
			all[i].Lasting += more.Lasting
			all[i].Transient += more.Transient
			return all
		}
	}
	return append(all, more)
}

// Types lists the instance types, each once.
func (p Plan) Types() []string {
	var types []string
	for _, each := range p.Machines {
		if !slices.Contains(types, each.Type) {
			types = append(types, each.Type)
		}
	}
	return types
}
