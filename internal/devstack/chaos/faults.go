package chaos

import "github.com/ocpctl/ocpctl/internal/devstack/installer"

// tell makes the stand-in programs do something wrong; nil ends that.
func (t *Run) tell(key string, fault *installer.Fault) error {
	return installer.SetFault(t.Faults(), key, fault)
}
