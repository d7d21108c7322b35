package trial

import "github.com/ocpctl/ocpctl/internal/devstack/installer"

// tell makes the stand-in programs do something wrong; nil ends that.
func (t *Trial) tell(key string, fault *installer.Fault) error {
	return installer.SetFault(t.Faults(), key, fault)
}
