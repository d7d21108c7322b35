package installer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/ocpctl/ocpctl/internal/house/file"
)

// Faults are what the stand-ins are told to do wrong, by command: "manifests", "ignition-configs", "create", "destroy",
// "wait-for", "gather", "ccoctl-create", "ccoctl-delete", "oc". A key "<command>/<cluster name>" strikes that cluster alone
// and comes before the command's own.
//
//	{"create":         {"failAt": "bootstrap", "exit": 5, "message": "no etcd quorum", "times": 1},
//	 "create/pr7-shop": {"afterWrites": 12, "pause": true},
//	 "destroy":        {"leave": ["elastic-ip"], "times": 1}}
type Faults map[string]Fault

// Fault is one thing to go wrong.
type Fault struct {
	Cluster string `json:"cluster,omitempty"` // only for clusters of this name; empty: any

	// FailAt is the step where it strikes: one of Steps for "create", "start" (also when empty) for the other commands.
	FailAt  string   `json:"failAt,omitempty"`
	Exit    int      `json:"exit,omitempty"`    // exit code; for create the step's own when zero
	Message string   `json:"message,omitempty"` // what the error line says; the step's own when empty
	Hang    bool     `json:"hang,omitempty"`    // stay at the step until a signal comes
	Kill    bool     `json:"kill,omitempty"`    // die at the step as by SIGKILL
	Leave   []string `json:"leave,omitempty"`   // destroy: kinds ("address", "vpc", "bucket" …) to pass over, and still exit 0
	Times   int      `json:"times,omitempty"`   // strike that often, then be gone from the file; zero: always

	AfterWrites int      `json:"afterWrites,omitempty"` // strike right after the command's n-th write to the cloud, in place of FailAt
	Pause       bool     `json:"pause,omitempty"`       // stay there until this fault is gone from the file, then go on as if nothing had been
	Deaf        int      `json:"deaf,omitempty"`        // while it hangs or pauses, ignore that many signals
	Say         []string `json:"say,omitempty"`         // lines for the log (level error, or "level=… msg=…" in full), again and again while it hangs or pauses
	Leak        []string `json:"leak,omitempty"`        // create: leave these behind in a way that destroy cannot find; see Leaks
}

// Steps are the places in `create cluster` where a fault can strike, in order. Those with a hyphen lie between two calls
// that belong together, where a kill leaks what destroy cannot find.
func Steps() []string {
	return []string{
		"quota", "infrastructure", "iam", "network", "balancers", "bucket", "bucket-tags", "zone", "zone-tags", "public-record",
		"private-records", "machines", "api", "bootstrap", "bootstrap-destroy", "initialize", "stable", "complete",
	}
}

// WriteFaults replaces the file's faults; nil ends them all.
func WriteFaults(path string, faults Faults) error {
	return locked(path, func(Faults) (Faults, bool) { return faults, true })
}

// TakeFault returns the fault that strikes a command at a step, and counts the strike.
func TakeFault(path, command, cluster, step string) (fault Fault, strikes bool, err error) {
	if path == "" {
		return Fault{}, false, nil
	}
	err = locked(path, func(faults Faults) (Faults, bool) {
		f, ok := faults[command]
		at := f.FailAt
		if at == "" {
			at = "start"
		}
		if !ok || at != step || f.Cluster != "" && f.Cluster != cluster {
			return faults, false
		}
		fault, strikes = f, true
		switch {
		case f.Times == 1:
			delete(faults, command)
		case f.Times > 1:
			f.Times--
			faults[command] = f
		}
		return faults, f.Times > 0
	})
	return fault, strikes, err
}

// locked reads the faults, lets change alter them and stores them when it says so, with no other process between.
func locked(path string, change func(Faults) (Faults, bool)) error {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the faults: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the faults: %w", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the faults: %w", err)
	}
	faults := Faults{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &faults); err != nil {
			return fmt.Errorf("read the faults in %s: %w", path, err)
		}
	}
	faults, changed := change(faults)
	if !changed {
		return nil
	}
	if raw, err = json.MarshalIndent(faults, "", "  "); err != nil {
		return fmt.Errorf("write the faults: %w", err)
	}
	return file.Replace(path, raw)
}
