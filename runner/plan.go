package runner

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// The installer's defaults for values that an install-config omits (openshift.md §1).
const (
	defaultType     = "m6i.xlarge"
	defaultReplicas = 3
)

// pool is one machine pool of an install-config.
type pool struct {
	Platform struct {
		AWS machines `yaml:"aws"`
	} `yaml:"platform"`
	Replicas *int `yaml:"replicas"`
}

type machines struct {
	Type  string   `yaml:"type"`
	Zones []string `yaml:"zones"`
}

// readPlan reads from an install-config which machines it requests and where. The bootstrap machine has the control plane's type. A
// pool without machines needs no type, but the installer still makes a subnet in its zones.
func readPlan(config string, zones []string) cloud.Plan {
	var parsed struct {
		ControlPlane pool   `yaml:"controlPlane"`
		Compute      []pool `yaml:"compute"`
		Platform     struct {
			AWS struct {
				Default machines `yaml:"defaultMachinePlatform"`
			} `yaml:"aws"`
		} `yaml:"platform"`
	}
	if yaml.Unmarshal([]byte(config), &parsed) != nil {
		return cloud.Plan{Zones: zones} // rendering will report what is wrong with it
	}
	pools := append([]pool{parsed.ControlPlane}, parsed.Compute...)
	plan := cloud.Plan{}
	for i, each := range pools {
		if each.Replicas == nil {
			each.Replicas = new(defaultReplicas)
		}
		here := each.Platform.AWS.Zones
		if len(here) == 0 {
			here = parsed.Platform.AWS.Default.Zones
		}
		plan.Zones = append(plan.Zones, here...)
		name := cmp.Or(each.Platform.AWS.Type, parsed.Platform.AWS.Default.Type, defaultType)
		if *each.Replicas > 0 {
			plan.Machines = add(plan.Machines, cloud.Machines{Type: name, Lasting: *each.Replicas})
		}
		if i == 0 {
			plan.Machines = add(plan.Machines, cloud.Machines{Type: name, Transient: 1})
		}
	}
	if len(plan.Zones) == 0 {
		plan.Zones = append(plan.Zones, zones...)
	}
	slices.Sort(plan.Zones)
	plan.Zones = slices.Compact(plan.Zones)
	return plan
}

// add adds machines, combining those of one type.
func add(all []cloud.Machines, more cloud.Machines) []cloud.Machines {
	for i := range all {
		if all[i].Type == more.Type {
			all[i].Lasting += more.Lasting
			all[i].Transient += more.Transient
			return all
		}
	}
	return append(all, more)
}

// typesOf lists the instance types of a plan.
func typesOf(plan cloud.Plan) []string {
	var types []string
	for _, each := range plan.Machines {
		types = append(types, each.Type)
	}
	return types
}
