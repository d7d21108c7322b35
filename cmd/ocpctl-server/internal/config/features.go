package config

import "fmt"

// Features switch on parts of ocpctl that are being built. Each is off by default and disappears once its part is always on; see
// docs/configuration.md for owners and plans.
type Features struct {
	IBMCloud bool `yaml:"ibm_cloud"` // clusters on IBM Cloud; not in this version
}

// checkFeatures refuses features that this version does not have, rather than accept a switch that does nothing.
func (c Config) checkFeatures() (bad []error) {
	for _, f := range []struct {
		field   string
		on      bool
		instead string
	}{
		{"features.ibm_cloud", c.Features.IBMCloud, "it cannot install on IBM Cloud, and the profiles for it are disabled"},
	} {
		if f.on {
			bad = append(bad, fmt.Errorf("%s is true; this version does not have that: %s. Give false, or omit it", f.field, f.instead))
		}
	}
	return bad
}
