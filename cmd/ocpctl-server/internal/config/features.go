package config

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Features switch on parts of ocpctl that are being built. Each is off by default and disappears once its part is always on; see
// docs/configuration.md for owners and plans.
type Features struct {
	IBMCloud bool `yaml:"ibm_cloud"` // the profiles of IBM Cloud can be used
}

// PlatformsOff returns the platforms that this installation does not offer, and why, in words for people.
func (f Features) PlatformsOff() map[string]string {
	off := map[string]string{}
	if !f.IBMCloud {
		off["ibmcloud"] = "IBM Cloud is off in this installation; it is turned on with features.ibm_cloud in the server's configuration"
	}
	return off
}

// checkFeatures refuses a name of the installation that a tag on IBM Cloud would not keep: another installation's could become the same.
func (c Config) checkFeatures() []error {
	if !c.Features.IBMCloud || tagkey.IBM(tagkey.Installation, c.Installation) == strings.ToLower(tagkey.Installation)+":"+c.Installation {
		return nil
	}
	return []error{fmt.Errorf("installation is %q; with features.ibm_cloud give lowercase letters, digits and _ - . alone, because a tag on IBM Cloud keeps nothing else", c.Installation)}
}
