package trial

import (
	"sync"

	"github.com/ocpctl/ocpctl/internal/house/installer"
)

// faultFile is what the stand-in programs are told to do wrong. The trial alone writes it.
type faultFile struct {
	path string

	mu     sync.Mutex
	faults installer.Faults
}

func (f *faultFile) set(key string, fault installer.Fault) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[key] = fault
	return installer.WriteFaults(f.path, f.faults)
}

func (f *faultFile) drop(keys ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		delete(f.faults, key)
	}
	return installer.WriteFaults(f.path, f.faults)
}

func (f *faultFile) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.faults)
	_ = installer.WriteFaults(f.path, nil) // the house goes down anyway
}
