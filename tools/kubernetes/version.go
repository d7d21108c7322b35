package main

import (
	_ "unsafe" // go:linkname

	"k8s.io/component-base/version"
)

// Version is that of the Kubernetes modules in go.mod.
const Version = "v1.34.4"

// The linker sets these in Kubernetes' own builds. This program is also built by go tool, which cannot pass flags to the linker, and
// clients such as Helm refuse a server that says v0.0.0.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

func setVersion() error {
	gitVersion, gitMajor, gitMinor = Version, "1", "34"
	return version.SetDynamicVersion(Version)
}
