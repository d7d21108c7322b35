package config

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
