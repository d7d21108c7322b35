package profiles

// installConfig is the part of the installer's install-config that a profile determines (pkg/types/installconfig.go, pkg/types/aws). Fields are in the
// order of the file.
type installConfig struct {
	APIVersion      string        `yaml:"apiVersion"`
	BaseDomain      string        `yaml:"baseDomain"`
	Metadata        metadata      `yaml:"metadata"`
	CredentialsMode string        `yaml:"credentialsMode"`
	ControlPlane    machinePool   `yaml:"controlPlane"`
	Compute         []machinePool `yaml:"compute"`
	Networking      networking    `yaml:"networking"`
	Platform        struct {
		AWS awsPlatform `yaml:"aws"`
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

type poolPlatform struct {
	AWS awsPool `yaml:"aws"`
}

// awsPool repeats the zones in every pool: with one pool without zones, the installer uses every zone of the region.
type awsPool struct {
	Type  string   `yaml:"type"`
	Zones []string `yaml:"zones,flow"`
}

type awsPlatform struct {
	Region  string `yaml:"region"`
	Default struct {
		Zones []string `yaml:"zones,flow"`
	} `yaml:"defaultMachinePlatform"`
	UserTags          map[string]string `yaml:"userTags,omitempty"`
	PropagateUserTags bool              `yaml:"propagateUserTags"` // volumes, load balancers and buckets that are created later get them too
	LBType            string            `yaml:"lbType,omitempty"`  // for the ingress; without it the installer makes a Classic one
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
