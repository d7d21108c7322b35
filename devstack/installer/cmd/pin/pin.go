package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// pin writes version and release image into a program openshift-install, as `oc adm release extract` does: without them it would name a
// release that is not pinned by digest. A pinned program stays as it is.
func pin(path string) (err error) {
	defer must.Catch(&err)
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))
	defer file.Close()
	raw := must.Get(os.ReadFile(path))
	for marker, value := range map[string]string{
		"\x00_RELEASE_IMAGE_LOCATION_\x00XXX": release.Image(installer.RealVersion), "\x00_RELEASE_VERSION_LOCATION_\x00XXX": installer.RealVersion,
		"\x00_RELEASE_ARCHITECTURE_LOCATION_\x00XXX": "linux/amd64",
	} {
		at := bytes.Index(raw, []byte(marker))
		switch {
		case at >= 0:
			must.Get(file.WriteAt(append([]byte(value), 0), int64(at)))
		case !bytes.Contains(raw, append([]byte(value), 0)):
			return fmt.Errorf("%s has no place for %s", path, value)
		}
	}
	return nil
}
