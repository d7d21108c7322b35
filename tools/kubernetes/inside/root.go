package inside

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// shown are the directories of the node that a container sees when its root file system is the node's own.
var shown = []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc"}

// devices are those that every container has.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// enterRoot makes the container's root file system that of this process.
func (s *Spec) enterRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	root, err := s.overlay()
	if err != nil {
		return fmt.Errorf("mount the root file system over %s: %w", s.Rootfs, err)
	}
	if filepath.Clean(s.Rootfs) == "/" {
		if err := hideNode(root); err != nil {
			return fmt.Errorf("hide the node's directories: %w", err)
		}
	}
	if err := mountSystem(root); err != nil {
		return err
	}
	if err := s.protectProc(root); err != nil {
		return err
	}
	for _, m := range s.Mounts {
		if err := m.bind(root); err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.Source, m.Target, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, s.Dir), 0o755); err != nil && !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("make the working directory: %w", err)
	}
	if s.ReadOnly {
		if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("make the root file system read-only: %w", err)
		}
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root lies over the new one until it is unmounted
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the node's file systems: %w", err)
	}
	return os.Chdir("/")
}

// overlay mounts a writable layer in memory over the image, and returns where. It ends with the container.
func (s *Spec) overlay() (string, error) {
	if err := unix.Mount("tmpfs", s.Scratch, "tmpfs", 0, "mode=755"); err != nil {
		return "", err
	}
	upper, work, root := filepath.Join(s.Scratch, "upper"), filepath.Join(s.Scratch, "work"), filepath.Join(s.Scratch, "root")
	for _, dir := range []string{upper, work, root} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
	}
	options := "lowerdir=" + s.Rootfs + ",upperdir=" + upper + ",workdir=" + work
	if s.UserMapped {
		options += ",userxattr" // others need privileges outside the user namespace
	}
	return root, unix.Mount("overlay", root, "overlay", 0, options)
}

func hideNode(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(shown, e.Name()) {
			continue
		}
		mode := "mode=755"
		if e.Name() == "tmp" {
			mode = "mode=1777"
		}
		if err := unix.Mount("tmpfs", filepath.Join(root, e.Name()), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, mode); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	return nil
}

// mountSystem mounts /proc and /dev.
func mountSystem(root string) error {
	proc, dev := filepath.Join(root, "proc"), filepath.Join(root, "dev")
	for _, dir := range []string{proc, dev} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for _, name := range devices {
		if err := (Mount{Source: "/dev/" + name, Target: "/dev/" + name}).bind(root); err != nil {
			return fmt.Errorf("mount /dev/%s: %w", name, err)
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	shm := filepath.Join(dev, "shm")
	if err := os.Mkdir(shm, 0o777); err != nil {
		return err
	}
	return unix.Mount("tmpfs", shm, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=1777")
}

// protectProc covers the files of /proc with which a container could change or read the node.
func (s *Spec) protectProc(root string) error {
	for _, path := range s.ReadOnlyIn {
		path = filepath.Join(root, path)
		if err := (Mount{Source: path, Target: path, ReadOnly: true}).bind("/"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make %s read-only: %w", path, err)
		}
	}
	for _, path := range s.Masked {
		path = filepath.Join(root, path)
		info, err := os.Stat(path)
		if err != nil {
			continue // this kernel does not have it
		}
		if info.IsDir() {
			err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY, "")
		} else {
			err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	return nil
}

// bind mounts the node's file or directory into the container's root file system.
func (m Mount) bind(root string) error {
	info, err := os.Stat(m.Source)
	if err != nil {
		return err
	}
	target := filepath.Join(root, m.Target)
	if err := makeTarget(target, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(m.Source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if !m.ReadOnly {
		return nil
	}
	var now unix.Statfs_t
	if err := unix.Statfs(target, &now); err != nil {
		return err
	}
	locked := uintptr(now.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC) // a user namespace may not take these away
	return unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|locked, "")
}

func makeTarget(target string, dir bool) error {
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	if dir {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
