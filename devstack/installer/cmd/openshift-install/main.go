// Command openshift-install is ocpctl's stand-in for the real installer; see package installer. It installs nothing.
package main

import (
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/real"
	"github.com/ocpctl/ocpctl/devstack/installer/script"
)

func main() {
	if code, ran := real.Main(os.Args, script.Interrupted, os.Stdout, os.Stderr); ran {
		os.Exit(code)
	}
	os.Exit(script.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
