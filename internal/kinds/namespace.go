package kinds

// NamespaceOrder is what a profile says of its namespaces, as it is frozen with a cluster. Quantities are Kubernetes'. It has no secret.
type NamespaceOrder struct {
	Quota    Quota  `yaml:"quota"`
	Limits   Limits `yaml:"limits"`
	Isolated bool   `yaml:"isolated"` // nothing of other namespaces reaches its pods, but the hub's ingress
	Pull     bool   `yaml:"pull"`     // its pods pull images with the installation's pull secret
}

// Quota is what everything in a namespace may use together.
type Quota struct {
	CPU     string `yaml:"cpu"`
	Memory  string `yaml:"memory"`
	Storage string `yaml:"storage"`
	Pods    int    `yaml:"pods"`

	LoadBalancers int `yaml:"loadBalancers,omitempty"` // the hub's owner pays for them
}

// Limits are what a container gets that names none.
type Limits struct {
	CPU    string `yaml:"cpu"`
	Memory string `yaml:"memory"`
}
