package profiles

// installConfig is the part of the installer's install-config that a profile determines (pkg/types/installconfig.go). Fields are in the order of
// the file. Exactly one platform is set.
type installConfig struct {
	APIVersion      string        `yaml:"apiVersion"`
	BaseDomain      string        `yaml:"baseDomain"`
	Metadata        metadata      `yaml:"metadata"`
	CredentialsMode string        `yaml:"credentialsMode"`
	ControlPlane    machinePool   `yaml:"controlPlane"`
	Compute         []machinePool `yaml:"compute"`
	Networking      networking    `yaml:"networking"`
	Platform        struct {
		AWS      *awsPlatform `yaml:"aws,omitempty"`
		IBMCloud *ibmPlatform `yaml:"ibmcloud,omitempty"`
	} `yaml:"platform"`
	Publish string `yaml:"publish"`
}

type metadata struct {
	Name string `yaml:"name"`
}

type machinePool struct {
	Name     string       `yaml:"name"`
	Replicas int          `yaml:"replicas"`
	Platform poolPlatform `yaml:"platform"`
}

// poolPlatform has the one cloud's machines, by its name.
type poolPlatform map[string]*poolMachines

// poolMachines repeats the zones in every pool: with one pool without zones, the installer uses every zone of the region.
type poolMachines struct {
	Type  string   `yaml:"type"`
	Zones []string `yaml:"zones,flow"`
}

type zonesOf struct {
	Zones []string `yaml:"zones,flow"`
}

func (p machinePool) zones(cloud string) []string {
	if machines := p.Platform[cloud]; machines != nil {
		return machines.Zones
	}
	return nil
}

// place returns the region and the default zones.
func (c installConfig) place() (region string, zones []string) {
	switch {
	case c.Platform.AWS != nil:
		return c.Platform.AWS.Region, c.Platform.AWS.Default.Zones
	case c.Platform.IBMCloud != nil:
		return c.Platform.IBMCloud.Region, c.Platform.IBMCloud.Default.Zones
	}
	return "", nil
}

type networking struct {
	NetworkType    string           `yaml:"networkType"`
	MachineNetwork []machineNetwork `yaml:"machineNetwork"`
	ClusterNetwork []clusterNetwork `yaml:"clusterNetwork"`
	ServiceNetwork []string         `yaml:"serviceNetwork"`
}

type machineNetwork struct {
	CIDR string `yaml:"cidr"`
}

type clusterNetwork struct {
	CIDR       string `yaml:"cidr"`
	HostPrefix int    `yaml:"hostPrefix"`
}
