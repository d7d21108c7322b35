// Package pipelines runs the GitHub actions in workflows from end to end: workflows of the stand-in GitHub, whose jobs nektos/act executes,
// ask a whole development stack for clusters and use them. ocpctl is downloaded from a mirror, as a release is. It has tests alone, behind
// the build tag act: make test-actions runs them.
package pipelines
