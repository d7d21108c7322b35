package node

import (
	"context"
	"syscall"
	"time"

	machine "github.com/google/cadvisor/info/v1"
	usage "github.com/google/cadvisor/info/v2"
	"k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// hardware tells the kubelet about the node instead of cAdvisor, which would measure cgroups.
type hardware struct{ cfg Config }

func (hardware) Start() error { return nil }

// ContainerInfoV2 knows the root cgroup, without figures.
func (h hardware) ContainerInfoV2(name string, _ usage.RequestOptions) (map[string]usage.ContainerInfo, error) {
	if name != "/" {
		return nil, nil
	}
	return map[string]usage.ContainerInfo{"/": {Spec: usage.ContainerSpec{CreationTime: time.Now()}, Stats: []*usage.ContainerStats{{Timestamp: time.Now()}}}}, nil
}

func (hardware) GetRequestedContainersInfo(string, usage.RequestOptions) (map[string]*machine.ContainerInfo, error) {
	return nil, nil
}

func (h hardware) MachineInfo() (*machine.MachineInfo, error) {
	return &machine.MachineInfo{NumCores: h.cfg.CPUs, MemoryCapacity: uint64(h.cfg.Memory), MachineID: h.cfg.Name, SystemUUID: h.cfg.Name, BootID: bootID}, nil
}

func (hardware) VersionInfo() (*machine.VersionInfo, error) {
	var name syscall.Utsname
	if err := syscall.Uname(&name); err != nil {
		return nil, err
	}
	release := make([]byte, 0, len(name.Release))
	for _, c := range name.Release {
		if c == 0 {
			break
		}
		release = append(release, byte(c))
	}
	return &machine.VersionInfo{KernelVersion: string(release), ContainerOsVersion: "processes of this machine"}, nil
}

func (h hardware) ImagesFsInfo(context.Context) (usage.FsInfo, error) {
	return h.GetDirFsInfo(h.cfg.Dir)
}
func (h hardware) RootFsInfo() (usage.FsInfo, error) { return h.GetDirFsInfo(h.cfg.Dir) }
func (h hardware) ContainerFsInfo(context.Context) (usage.FsInfo, error) {
	return h.GetDirFsInfo(h.cfg.Dir)
}

func (hardware) GetDirFsInfo(dir string) (usage.FsInfo, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return usage.FsInfo{}, err
	}
	size := uint64(fs.Bsize)
	return usage.FsInfo{Timestamp: time.Now(), Device: dir, Mountpoint: dir, Capacity: fs.Blocks * size, Available: fs.Bavail * size, Usage: (fs.Blocks - fs.Bfree) * size,
		Inodes: &fs.Files, InodesFree: &fs.Ffree}, nil
}

// manager is the kubelet's stub for a machine without cgroups, with the storage that the node says it has.
type manager struct {
	cm.ContainerManager
	storage int64
}

func (m manager) GetCapacity(bool) v1.ResourceList {
	return v1.ResourceList{v1.ResourceEphemeralStorage: *resource.NewQuantity(m.storage, resource.BinarySI)}
}
