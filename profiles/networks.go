package profiles

import (
	"fmt"
	"math/bits"
	"net/netip"
)

// network is one CIDR and its field.
type network struct{ path, cidr string }

// reserved are the networks that OVN-Kubernetes (join, transit and masquerade networks) and container hosts use.
var reserved = []string{"100.64.0.0/16", "100.88.0.0/16", "169.254.0.0/17", "172.17.0.0/16"}

// apart refuses networks that overlap each other or a reserved one. It skips values that are not networks.
func apart(r *reader, all []network) {
	taken := reserved
	for _, one := range all {
		if !r.good(one.path) {
			continue
		}
		for _, other := range taken {
			if netip.MustParsePrefix(one.cidr).Overlaps(netip.MustParsePrefix(other)) {
				r.failAt(one.path, one.cidr, "a network that does not overlap "+other)
				break
			}
		}
		taken = append(taken[:len(taken):len(taken)], one.cidr)
	}
}

// checkHostPrefix checks that a network has a subnet of the host prefix's size for every node.
func checkHostPrefix(r *reader, path, cidr string, hostPrefix, nodes int) {
	has := netip.MustParsePrefix(cidr).Bits()
	if hostPrefix <= has {
		r.failAt(path, fmt.Sprintf("%d", hostPrefix), fmt.Sprintf("more than the cluster network's %d", has))
		return
	}
	if need := bits.Len(uint(max(nodes, 1) - 1)); hostPrefix-has < need {
		r.failAt(path, fmt.Sprintf("%d, which leaves %d subnets of %s for %d nodes", hostPrefix, 1<<(hostPrefix-has), cidr, nodes),
			fmt.Sprintf("%d or more, or a larger cluster network", has+need))
	}
}
