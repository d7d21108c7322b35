// Command pin prepares the real openshift-install for make build-installer: it writes the version and the release image into the built
// program, or with -archive the programs of Cluster API into the archive that is built into it.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	archive := flag.String("archive", "", "write the programs into this archive")
	flag.Parse()
	if flag.NArg() != 1 && *archive == "" {
		fmt.Fprintln(os.Stderr, "usage: pin PROGRAM, or pin -archive FILE PROGRAM...")
		os.Exit(2)
	}
	do := func() error { return pin(flag.Arg(0)) }
	if *archive != "" {
		do = func() error { return pack(*archive, flag.Args()...) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
		os.Exit(1)
	}
}
