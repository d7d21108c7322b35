package cri

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// numbers are the capabilities that a pod can add or drop by name here, and those that a container has without being asked.
var numbers = map[string]int{"CHOWN": unix.CAP_CHOWN, "DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "FSETID": unix.CAP_FSETID, "FOWNER": unix.CAP_FOWNER, "MKNOD": unix.CAP_MKNOD,
	"NET_RAW": unix.CAP_NET_RAW, "SETGID": unix.CAP_SETGID, "SETUID": unix.CAP_SETUID, "SETFCAP": unix.CAP_SETFCAP, "SETPCAP": unix.CAP_SETPCAP,
	"NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE, "SYS_CHROOT": unix.CAP_SYS_CHROOT, "KILL": unix.CAP_KILL, "AUDIT_WRITE": unix.CAP_AUDIT_WRITE}

// capabilities are those that root keeps: containerd's default set, less what the pod drops. A pod can add no other.
func capabilities(security *criapi.LinuxContainerSecurityContext) (keep []int) {
	named := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(s string) bool {
			s = strings.TrimPrefix(strings.ToUpper(s), "CAP_")
			return s == "ALL" || s == name
		})
	}
	for name, number := range numbers {
		if !named(security.GetCapabilities().GetDropCapabilities(), name) || named(security.GetCapabilities().GetAddCapabilities(), name) {
			keep = append(keep, number)
		}
	}
	slices.Sort(keep)
	return keep
}

func everyCapability() (all []uintptr) {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		all = append(all, c)
	}
	return all
}

// awaitExit returns when the child has exited, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return
		}
	}
}
