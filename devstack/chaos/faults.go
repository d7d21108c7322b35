package chaos

import "github.com/ocpctl/ocpctl/devstack/installer"

// setFault sets a fault of the stand-in programs; nil ends it.
func (t *Run) setFault(key string, fault *installer.Fault) error {
	return installer.SetFault(t.Faults(), key, fault)
}
