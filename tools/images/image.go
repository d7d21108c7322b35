package main

import (
	"fmt"
	"path"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is who the program runs as where the platform does not choose a user of its own, as OpenShift does. It is numeric, so that
// Kubernetes can see that it is not root.
const user = "65532:65532"

const source = "https://github.com/ocpctl/ocpctl"

// recipe says what an image is made of.
type recipe struct {
	base     v1.Image // nil: nothing
	arch     string
	version  string
	revision string
	created  time.Time
	entry    string            // path of the program in the image
	files    map[string]string // path in the image → file or folder on this machine
	dirs     []string          // empty directories, writable for every user
}

// setProgram makes a file the image's program.
func (r *recipe) setProgram(file string) {
	r.entry = path.Join("/usr/bin", filepath.Base(file))
	r.files[r.entry] = file
}

// build returns the image: the base, the files of the system and the program's files, each as a layer, so that a new version of the
// program shares the others.
func (r *recipe) build() (v1.Image, error) {
	img := r.base
	if img == nil {
		img = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	}
	system, err := r.systemLayer(r.base == nil)
	if err != nil {
		return nil, err
	}
	program, err := r.programLayer()
	if err != nil {
		return nil, err
	}
	for _, layer := range []struct {
		layer v1.Layer
		by    string
	}{{system, "ocpctl: users, certificates, directories"}, {program, "ocpctl: " + r.entry}} {
		img, err = mutate.Append(img, mutate.Addendum{
			Layer: layer.layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: r.created}, CreatedBy: layer.by},
		})
		if err != nil {
			return nil, fmt.Errorf("add a layer: %w", err)
		}
	}
	return r.configure(img)
}

// configure sets what a container runtime reads: user, program, platform and where the image came from.
func (r *recipe) configure(img v1.Image) (v1.Image, error) {
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.Created, file.OS, file.Architecture, file.Author = v1.Time{Time: r.created}, "linux", r.arch, "ocpctl"
	c := &file.Config
	c.User, c.WorkingDir, c.Entrypoint, c.Cmd = user, "/", []string{r.entry}, nil
	if r.base == nil {
		c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	labels := map[string]string{
		"org.opencontainers.image.title": path.Base(r.entry), "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.revision": r.revision, "org.opencontainers.image.source": source,
		"org.opencontainers.image.licenses": "Apache-2.0", // of the program; a base has its own
		"org.opencontainers.image.created":  r.created.UTC().Format(time.RFC3339),
	}
	c.Labels = labels // a base's labels describe the base
	if img, err = mutate.ConfigFile(img, file); err != nil {
		return nil, fmt.Errorf("write the image's configuration: %w", err)
	}
	return mutate.Annotations(img, labels).(v1.Image), nil
}
