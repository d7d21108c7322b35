// Package inside is what a container's process does between fork and exec: it builds the container's root file system in its own
// mount namespace, gives up privileges and becomes the container's program.
package inside

import "syscall"

// Name is the zeroth argument of a process that shall become a container.
const Name = "ocpctl-container-init"

// Files that such a process inherits.
const (
	SpecFD   = 3 // it reads the Spec from here, as JSON
	StatusFD = 4 // it writes here why it could not become the container's program; nothing when it could
)

// Spec is a container.
type Spec struct {
	Args, Env    []string
	Dir          string // working directory; created if missing
	Hostname     string
	Rootfs       string   // the image's root file system, which is never written to
	Scratch      string   // an empty directory on which this process mounts what only it sees
	ReadOnly     bool     // the root file system refuses writes
	ReadOnlyIn   []string // paths of /proc that cannot be written to
	Masked       []string // paths of /proc that cannot be read
	Mounts       []Mount
	UID, GID     int
	Groups       []int
	Capabilities []int // the numbers of those it keeps, for root alone
	NoNewPrivs   bool
	UserMapped   bool // its user namespace has made it UID and GID already, because the node is not root
}

// Mount is a file or directory of the node that the container sees.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Namespaces are those of a container. The network is the node's.
const Namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
