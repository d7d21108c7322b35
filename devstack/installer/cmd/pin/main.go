// Command pin writes the version and the release image into the real openshift-install that make build-installer built.
package main

import (
	"fmt"
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer/real"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pin PROGRAM")
		os.Exit(2)
	}
	if err := real.Pin(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
		os.Exit(1)
	}
}
