// Package node is a node of the control plane: a real kubelet, in a process and a mount and process namespace of its own, over the
// container runtime of package cri. What pods go through is thus what a kubelet makes them go through; what containers cannot do is
// described there. The kubelet's container manager is a stub: there are no cgroups, so no CPU limits and no eviction because the
// node lacks memory; the size limits of emptyDir volumes are enforced.
//
// A node ends with its process, and all its containers with it, because it is the first process of its process namespace. A node
// whose process is stopped (SIGSTOP) is one that the control plane cannot reach, while its containers go on.
package node

import (
	"time"

	"github.com/ocpctl/ocpctl/tools/kubernetes/cri"
)

// Name is the zeroth argument of a process that shall become a node. It reads its Config, as JSON, from its standard input and ends
// when that ends.
const Name = "ocpctl-kubernetes-node"

// Config is a node.
type Config struct {
	Name       string
	IP         string // of the loopback interface; that of its pods too
	Port       int    // of the kubelet
	Dir        string
	Kubeconfig string // the node's own
	ClientCA   string // signs the API server's certificate, with which it asks for logs
	CertFile   string
	KeyFile    string
	CPUs       int
	Memory     int64         // bytes that it says it has
	Storage    int64         // bytes for emptyDir volumes that it says it has
	Heartbeat  time.Duration // how often it renews its lease
	Images     cri.Images
	APIHost    string // address and port that replace those of the service kubernetes in containers
	APIPort    string
	Rootless   bool // it has a user namespace with one user, to whom alone the kubelet can give volumes
}
