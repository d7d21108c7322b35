// Command pin prepares the real openshift-install for make build-installer: it writes the version and the release image into the built
// program, or with -archive the programs of Cluster API into the archive that is built into it.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/real"
)

func main() {
	archive := flag.String("archive", "", "write the programs into this archive")
	flag.Parse()
	if flag.NArg() != 1 && *archive == "" {
		fmt.Fprintln(os.Stderr, "usage: pin PROGRAM, or pin -archive FILE PROGRAM...")
		os.Exit(2)
	}
	pin := func() error { return real.Pin(flag.Arg(0)) }
	if *archive != "" {
		pin = func() error { return real.Archive(*archive, flag.Args()...) }
	}
	if err := pin(); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
		os.Exit(1)
	}
}
