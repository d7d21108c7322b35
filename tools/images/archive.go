package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// openBase returns the image to build on; nil for none. A registry's image must be named by its digest, so that a build can be repeated.
func openBase(base, arch string) (v1.Image, error) {
	if base == "" {
		return nil, nil
	}
	if _, err := os.Stat(base); err == nil {
		return readArchive(base)
	}
	ref, err := name.NewDigest(base)
	if err != nil {
		return nil, fmt.Errorf("-base is %q; give an OCI archive on this machine, or an image by digest (registry/name@sha256:…)", base)
	}
	img, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
	if err != nil {
		return nil, fmt.Errorf("pull the base: %w", err)
	}
	return img, nil
}

// writeArchive writes an OCI archive: a tar of an image layout with one image. It returns the image's digest.
func writeArchive(img v1.Image, out string) (v1.Hash, error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return v1.Hash{}, err
	}
	defer os.RemoveAll(dir)
	digest, err := img.Digest()
	if err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = path.AppendImage(img)
	}
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write the image: %w", err)
	}
	file, err := os.Create(out + ".part")
	if err != nil {
		return v1.Hash{}, err
	}
	defer file.Close()
	w := tar.NewWriter(file)
	if err := w.AddFS(plain{os.DirFS(dir)}); err != nil {
		return v1.Hash{}, fmt.Errorf("write %s: %w", out, err)
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		return v1.Hash{}, fmt.Errorf("write %s: %w", out, err)
	}
	return digest, os.Rename(out+".part", out)
}

// readArchive returns the only image of an OCI archive.
func readArchive(archive string) (v1.Image, error) {
	dir, err := os.MkdirTemp("", "image-") // the image's layers are read from it until the program ends
	if err != nil {
		return nil, err
	}
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := untar(file, dir); err != nil {
		return nil, fmt.Errorf("read %s: %w", archive, err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("%s is not an OCI archive: %w", archive, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s has %d images; give an archive with one", archive, len(manifest.Manifests))
	}
	return index.Image(manifest.Manifests[0].Digest)
}

// unpack writes the image's root file system to a directory.
func unpack(img v1.Image, to string) error {
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", to)
	}
	content := mutate.Extract(img)
	defer content.Close()
	return untar(content, to)
}

// untar unpacks below a directory and never outside it.
func untar(from io.Reader, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := extract(root, h, r); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func extract(root *os.Root, h *tar.Header, content io.Reader) error {
	name := filepath.Clean(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		mode := fs.FileMode(h.Mode).Perm()
		if h.Mode&0o1000 != 0 {
			mode |= fs.ModeSticky
		}
		return root.Chmod(name, mode)
	case tar.TypeReg:
		file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		return root.Chmod(name, fs.FileMode(h.Mode).Perm())
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		return root.Link(filepath.Clean(h.Linkname), name)
	}
	return fmt.Errorf("type %q is not supported", h.Typeflag)
}
