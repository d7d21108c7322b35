package chaos

import "github.com/ocpctl/ocpctl/internal/devstack/installer"

// tell sets a fault of the stand-in programs; nil ends it.
func (t *Run) tell(key string, fault *installer.Fault) error {
	return installer.SetFault(t.Faults(), key, fault)
}
