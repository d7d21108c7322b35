package profiles

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

const (
	mostNodeSets  = 5
	mostHosted    = 20 // nodes of all sets together
	mostNodeCores = 64
	usualRoot     = "32Gi"
	usualEtcd     = "8Gi"
)

var (
	setName      = form{regexp.MustCompile(`^[a-z][-a-z0-9]{0,13}[a-z0-9]$`), "lowercase letters, digits and dashes, from 2 to 15, starting with a letter"}
	storageClass = form{regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`), "the name of a storage class of the hub"}
	gibibytes    = form{regexp.MustCompile(`^[1-9][0-9]{0,3}Gi$`), "bytes such as 8Gi"}
)

// hypershiftFields describes what a profile says of its hosted clusters.
func hypershiftFields(r *reader, p *Profile) field {
	o, on := &p.Hosted, ""
	o.Etcd = usualEtcd
	amount := func(name string, into *string, of form) field { return text(name, into, of.text, of.MatchString) }
	of := func(set *kinds.NodeSet) []field {
		return []field{
			amount("name", &set.Name, setName), whole("replicas", &set.Replicas, 1, mostHosted), whole("cores", &set.Cores, 2, mostNodeCores), amount("memory", &set.Memory, gibibytes),
			optional(amount("rootVolume", &set.RootVolume, gibibytes)), optional(amount("storageClass", &set.StorageClass, storageClass)),
		}
	}
	sets := r.items("nodes", "a mapping with "+r.names(of(&kinds.NodeSet{})), func(n *yaml.Node, path string) bool {
		set := kinds.NodeSet{RootVolume: usualRoot}
		r.object(n, path, of(&set)...)
		same := func(other kinds.NodeSet) bool { return other.Name == set.Name }
		if r.good(path+".name") && slices.ContainsFunc(o.Nodes, same) {
			r.failAt(path+".name", set.Name+" again", "each name once")
		}
		o.Nodes = append(o.Nodes, set)
		p.Workers.Replicas = o.CountNodes()
		return true
	})
	read := sets.read
	sets.read = func(n *yaml.Node, path string) bool {
		known := read(n, path)
		if len(o.Nodes) > mostNodeSets || o.CountNodes() > mostHosted {
			r.failOn(n, path, fmt.Sprintf("%d sets with %d nodes", len(o.Nodes), o.CountNodes()), fmt.Sprintf("at most %d sets with %d nodes together", mostNodeSets, mostHosted))
		}
		return known
	}
	return r.inner(kinds.HyperShift, sets, optional(amount("etcd", &o.Etcd, gibibytes)), optional(choice("platform", &on, "KubeVirt")))
}

// hypershiftRegion is hubRegion, with what an hour costs while only the control plane runs.
func hypershiftRegion(r *reader, region *Region) []field {
	return append(hubRegion(r, region), optional(asleepCents(region)))
}

// shareOfHosted says which share of a hub a hosted cluster has.
func shareOfHosted(o kinds.HostedOrder) string {
	text := "a control plane on a shared cluster, and nodes: "
	for i, set := range o.Nodes {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d × %d CPU and %s of memory", set.Replicas, set.Cores, set.Memory)
	}
	return text
}
