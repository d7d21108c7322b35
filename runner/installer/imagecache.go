package installer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ImageCache is a directory with images of machines that attempts share: the installer downloads and unpacks one of some GiB for each
// cluster on IBM Cloud.
//
// The installer itself must not work in a directory that several share: it removes its lock file while others wait for it, and can then
// rename another's unfinished download into place, which later installs would take without a checksum (openshift/installer
// pkg/tfvars/internal/cache). So each attempt has a cache of its own that begins with links to the shared images, and a new image is
// shared after an install with it has succeeded, in one step.
type ImageCache struct {
	Shared string // empty: nothing is shared
	Home   string // of the tool
}

// abandonedAfter is when a copy that was begun and not finished is deleted: its runner is gone.
const abandonedAfter = 24 * time.Hour

// ownDir is where the installer looks for images, and stores them. It names each after its URL.
func (c ImageCache) ownDir() string {
	return filepath.Join(c.Home, "cache", "openshift-installer", "image_cache")
}

// Take lets the installer find the shared images. An image that is deleted meanwhile is downloaded.
func (c ImageCache) Take() error {
	if c.Shared == "" {
		return nil
	}
	images, err := listImages(c.Shared)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.ownDir(), 0o700); err != nil {
		return fmt.Errorf("make the directory of images: %w", err)
	}
	for _, name := range images {
		if err := os.Symlink(filepath.Join(c.Shared, name), filepath.Join(c.ownDir(), name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link an image: %w", err)
		}
	}
	return nil
}

// Share makes the images that the installer downloaded available to others. by is the attempt's id.
func (c ImageCache) Share(by string) error {
	if c.Shared == "" {
		return nil
	}
	c.removeAbandoned()
	found, err := listImages(c.ownDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // this installer needs none
	}
	for _, name := range found {
		if _, there := os.Stat(filepath.Join(c.Shared, name)); there != nil {
			err = errors.Join(err, c.shareImage(name, by))
		}
	}
	return err
}

// shareImage copies an image under a name that nobody takes, and renames it when it is whole.
func (c ImageCache) shareImage(name, by string) (err error) {
	from, err := os.Open(filepath.Join(c.ownDir(), name))
	if err != nil {
		return fmt.Errorf("share an image: %w", err)
	}
	defer from.Close()
	copied := filepath.Join(c.Shared, "."+name+"."+by)
	to, err := os.OpenFile(copied, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return fmt.Errorf("share an image: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err == nil {
		err = os.Rename(copied, filepath.Join(c.Shared, name))
	}
	if err != nil {
		_ = os.Remove(copied)
		return fmt.Errorf("share an image: %w", err)
	}
	return nil
}

func (c ImageCache) removeAbandoned() {
	entries, _ := os.ReadDir(c.Shared) // the next one removes what this one cannot
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), ".") && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(c.Shared, e.Name()))
		}
	}
}

// listImages lists the whole images of a directory: no copy, lock or download that is under way, and no link.
func listImages(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		under := strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".lock") || strings.Contains(name, ".tmp")
		if e.Type().IsRegular() && !under {
			names = append(names, name)
		}
	}
	return names, nil
}
