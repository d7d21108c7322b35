package kinds

// HostedOrder is what a profile says of its hosted clusters, as it is frozen with a cluster. Quantities are Kubernetes'. It has no secret.
type HostedOrder struct {
	Nodes []NodeSet `yaml:"nodes"`
	Etcd  string    `yaml:"etcd"` // size of etcd's volume
}

// NodeSet is a set of equal nodes, which are virtual machines on the hub.
type NodeSet struct {
	Name         string `yaml:"name"`
	Replicas     int    `yaml:"replicas"`
	Cores        int    `yaml:"cores"`
	Memory       string `yaml:"memory"`
	RootVolume   string `yaml:"rootVolume"`
	StorageClass string `yaml:"storageClass,omitempty"` // of the root volume; empty: the hub's usual one
}

// CountNodes returns how many nodes all sets have.
func (o HostedOrder) CountNodes() (n int) {
	for _, set := range o.Nodes {
		n += set.Replicas
	}
	return n
}
