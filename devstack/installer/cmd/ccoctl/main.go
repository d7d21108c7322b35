// Command ccoctl is ocpctl's stand-in for the real one; see package ccoctl. It contacts only this machine.
package main

import (
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/ccoctl"
	"github.com/ocpctl/ocpctl/devstack/installer/real"
)

func main() {
	if code, ran := real.Main(os.Args, 0, os.Stdout, os.Stderr); ran {
		os.Exit(code)
	}
	os.Exit(ccoctl.Main(os.Args, os.Stdout, os.Stderr))
}
