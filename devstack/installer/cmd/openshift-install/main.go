// Command openshift-install is ocpctl's stand-in for the real installer; see package installer. It installs nothing.
package main

import (
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/script"
)

func main() { os.Exit(script.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
