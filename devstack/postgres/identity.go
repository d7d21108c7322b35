package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// identity is the user as which the server runs. PostgreSQL refuses to run as root.
type identity struct {
	namespace bool   // as a user of a user namespace who is root outside, so files belong to root
	inside    uint32 // which user that is; the machine knows them
	uid, gid  uint32 // as another user of the machine; 0: as the current user
}

// account chooses the user: the current one; if that is root, one in a user namespace, and if those are forbidden, postgres or
// nobody. An existing data directory of another user decides for that user.
func account(ctx context.Context, bin string, h home) (identity, error) {
	if os.Geteuid() != 0 {
		return identity{}, nil
	}
	owned, isOwned := ownedBy(h)
	uid, gid, isKnown := lookUpUser()
	if namespaces && !isOwned {
		who := identity{namespace: true, inside: uid}
		try := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version")
		try.SysProcAttr = who.attributes()
		if try.Run() == nil {
			return who, nil
		}
	}
	if isOwned {
		return owned, nil
	}
	if isKnown {
		return identity{uid: uid, gid: gid}, nil
	}
	return identity{}, errors.New("PostgreSQL refuses to run as root, user namespaces are forbidden here, and there is " +
		"neither a user postgres nor nobody: run as another user, or set DATABASE_URL")
}

// lookUpUser returns postgres or nobody: initdb refuses a user that the machine does not know.
func lookUpUser() (uid, gid uint32, ok bool) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return uint32(uid), uint32(gid), true
		}
	}
	return 1000, 1000, false
}

// own gives the directory to the user as which the server runs.
func (who identity) own(h home) error {
	if who.uid == 0 {
		return nil
	}
	err := filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(who.uid), int(who.gid))
	})
	if err != nil {
		return fmt.Errorf("give %s to the user the database runs as: %w", h.dir, err)
	}
	return checkEntry(h.dir)
}

// checkEntry reports a folder above the directory that other users cannot enter.
func checkEntry(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("PostgreSQL refuses to run as root, and user namespaces are forbidden here, so it runs as another user, who cannot enter %s: "+
				"work in a folder elsewhere, e.g. below /srv, or run as another user than root", at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// ownedBy returns the owner of an initialised data directory, if that is not root.
func ownedBy(h home) (identity, bool) {
	info, err := os.Stat(filepath.Join(h.data, "PG_VERSION"))
	if err != nil {
		return identity{}, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return identity{}, false
	}
	return identity{uid: stat.Uid, gid: stat.Gid}, true
}
