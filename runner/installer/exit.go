package installer

import "fmt"

// Reasons an install failed for, one word each, as a Result carries them.
const (
	InstallFailed        = "InstallFailed"
	InvalidInstallConfig = "InvalidInstallConfig"
	DeadlineExceeded     = "DeadlineExceeded"
)

// Failure is what an exit code means to people.
type Failure struct {
	Reason    string
	Words     string // with the next step
	Retryable bool
}

// exitWords say what the installer's exit codes mean and what may exist then (openshift.md §3).
var exitWords = map[int]string{
	1: "openshift-install gave up before or while creating the infrastructure (exit code 1). Its last lines say why",
	4: "the infrastructure could not be created (exit code 4). Capacity and quota of the region are the usual cause",
	5: "the bootstrap did not complete (exit code 5): the control plane never came up",
	6: "the cluster's operators did not come up in time (exit code 6)",
	7: "the cluster's operators did not settle in time (exit code 7)",
	8: "openshift-install was interrupted (exit code 8)",
}

// Explain says why a create that did not exit with 0 failed.
func Explain(e Exit) Failure {
	if e.TimedOut {
		return Failure{DeadlineExceeded, "the install did not finish within its deadline and was stopped; what it made is removed before it is tried again", true}
	}
	if e.Code == 3 {
		return Failure{InvalidInstallConfig, "openshift-install refused the install-config (exit code 3); nothing was created. The profile has to be corrected, so it is not tried again", false}
	}
	words, known := exitWords[e.Code]
	if !known {
		words = fmt.Sprintf("openshift-install ended unexpectedly (exit code %d)", e.Code)
	}
	return Failure{InstallFailed, words + "; what it made is removed before it is tried again", true}
}
