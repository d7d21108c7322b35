package profiles

import "regexp"

// ibmPlatform is the installer's platform.ibmcloud (pkg/types/ibmcloud/platform.go), which has no tags of any kind.
type ibmPlatform struct {
	Region string `yaml:"region"`
	// The runner inserts it: the group is made for one attempt. Without it the installer makes one of its own.
	ResourceGroupName string  `yaml:"resourceGroupName,omitempty"`
	Default           zonesOf `yaml:"defaultMachinePlatform"`
}

// resourceGroupForm is stricter than IBM Cloud, which also takes spaces.
var resourceGroupForm = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_]{0,39}$`)

// ibmFields are what ocpctl renders of platform.ibmcloud, and the resource group that the runner inserts.
func ibmFields(r *reader, on platform, c *installConfig) field {
	ibm := &ibmPlatform{}
	c.Platform.IBMCloud = ibm
	return r.inner("ibmcloud",
		text("region", &ibm.Region, on.region.text, on.region.MatchString),
		optional(text("resourceGroupName", &ibm.ResourceGroupName, "letters, digits, dashes and underscores, at most 40", resourceGroupForm.MatchString)),
		r.inner("defaultMachinePlatform", zones(r, on.zone, &ibm.Default.Zones)))
}
