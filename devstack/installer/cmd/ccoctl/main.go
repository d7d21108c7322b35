// Command ccoctl is ocpctl's stand-in for the real one; see package ccoctl. It contacts only this machine.
package main

import (
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/ccoctl"
)

func main() { os.Exit(ccoctl.Main(os.Args, os.Stdout, os.Stderr)) }
