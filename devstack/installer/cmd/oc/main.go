// Command oc is ocpctl's stand-in for the real one; see package oc. It contacts no registry and no cluster.
package main

import (
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/oc"
)

func main() { os.Exit(oc.Main(os.Args, os.Stdout, os.Stderr)) }
