package inside

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// init runs before the initialisation of the Kubernetes packages, which a container would otherwise wait for: packages are
// initialised in the order of their paths as far as imports allow.
func init() {
	if os.Args[0] != Name {
		return
	}
	runtime.LockOSThread() // capabilities and user ids below are those of one thread, which becomes the program
	if err := run(); err != nil {
		_, _ = os.NewFile(StatusFD, "status").WriteString(err.Error())
	}
	os.Exit(128) // the exit code with which container runtimes report a container that could not start
}

func run() error {
	var s Spec
	input := os.NewFile(SpecFD, "spec")
	if err := json.NewDecoder(input).Decode(&s); err != nil {
		return fmt.Errorf("read the container's specification: %w", err)
	}
	_ = input.Close()
	unix.CloseOnExec(StatusFD)
	unix.Umask(0) // the modes below are meant as written
	if err := s.enterRoot(); err != nil {
		return err
	}
	unix.Umask(0o022)
	if err := unix.Sethostname([]byte(s.Hostname)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := os.Chdir(s.Dir); err != nil {
		return fmt.Errorf("enter the working directory: %w", err)
	}
	if err := s.dropPrivileges(); err != nil {
		return err
	}
	program, err := s.lookUp()
	if err != nil {
		return err
	}
	return fmt.Errorf("exec %s: %w", program, unix.Exec(program, s.Args, s.Env))
}

// lookUp finds the program as execvp does, with the container's PATH.
func (s *Spec) lookUp() (string, error) {
	name := s.Args[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, e := range s.Env {
		list, ok := strings.CutPrefix(e, "PATH=")
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); ok && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("exec: %q: executable file not found in $PATH: %w", name, fs.ErrNotExist)
}

// dropPrivileges gives up what the specification does not grant, in the order in which each step is still allowed.
func (s *Spec) dropPrivileges() error {
	keep := uint64(0)
	for _, c := range s.Capabilities {
		keep |= 1 << c
	}
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0) // refused alone for a capability that the kernel does not know
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if !s.UserMapped {
		if err := s.becomeUser(); err != nil {
			return err
		}
	}
	if s.UID != 0 {
		keep = 0 // as exec does for everybody but root
	}
	if err := setCapabilities(keep); err != nil {
		return fmt.Errorf("set capabilities: %w", err)
	}
	if s.NoNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("forbid new privileges: %w", err)
		}
	}
	return nil
}

// becomeUser changes the ids of this thread alone.
func (s *Spec) becomeUser() error {
	groups := make([]uint32, len(s.Groups), len(s.Groups)+1)
	for i, g := range s.Groups {
		groups[i] = uint32(g)
	}
	var first unsafe.Pointer
	if len(groups) > 0 {
		first = unsafe.Pointer(&groups[0])
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(first), 0); e != 0 {
		return fmt.Errorf("set groups %v: %w", s.Groups, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(s.GID), uintptr(s.GID), uintptr(s.GID)); e != 0 {
		return fmt.Errorf("become group %d: %w", s.GID, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(s.UID), uintptr(s.UID), uintptr(s.UID)); e != 0 {
		return fmt.Errorf("become user %d: %w", s.UID, e)
	}
	return nil
}

func setCapabilities(keep uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	low, high := uint32(keep), uint32(keep>>32)
	data := [2]unix.CapUserData{{Effective: low, Permitted: low}, {Effective: high, Permitted: high}}
	return unix.Capset(&header, &data[0])
}
