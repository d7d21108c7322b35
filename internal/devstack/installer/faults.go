package installer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/ocpctl/ocpctl/internal/devstack/file"
)

// Faults are what the stand-ins are told to do wrong, by command: "manifests", "ignition-configs", "create", "destroy",
// "wait-for", "gather", "ccoctl-create", "ccoctl-delete", "oc", and of the oc that asks a cluster "oc-get", "oc-patch", "oc-scale",
// "oc-apply" and "oc-wait". A key "<command>/<cluster name>" strikes that cluster alone
// and comes before the command's own.
//
//	{"create":         {"failAt": "bootstrap", "exit": 5, "message": "no etcd quorum", "times": 1},
//	 "create/pr7-shop": {"afterWrites": 12, "pause": true},
//	 "destroy":        {"leave": ["elastic-ip"], "times": 1}}
//
// With TraceVariable set, every command appends to that file, so that a test can count the writes of a clean run and see
// when one is reached. A line is "<cluster> <command> <writes so far> <what>", where what is "start", "end <exit code>",
// "<service>:<Action>" for a write that succeeded, "pause [step]" and "resume", or "hang [step]".
type Faults map[string]Fault

// Fault is one thing to go wrong.
type Fault struct {
	Cluster string `json:"cluster,omitempty"` // only for clusters of this name; empty: any

	// FailAt is the step where it strikes: one of Steps for "create", "start" (also when empty) for the other commands. "oc-scale"
	// has two more, at which the command itself ends well: "launch", where the cloud refuses the machine, and "ready", where its
	// node never gets ready; "oc-wait" has "established" and "available", where a kind or a deployment never becomes so.
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
		"quota", "infrastructure", "iam", "image", "image-tags", "network", "balancers", "bucket", "bucket-tags", "zone", "zone-tags", "public-record",
		"private-records", "machines", "api", "bootstrap", "bootstrap-destroy", "initialize", "stable", "complete",
	}
}

// WriteFaults replaces the file's faults; nil ends them all.
func WriteFaults(path string, faults Faults) error {
	return locked(path, func(Faults) (Faults, bool) { return faults, true })
}

// SetFault puts one fault into the file, or takes it out when it is nil, and leaves the others as they are.
func SetFault(path, key string, fault *Fault) error {
	return locked(path, func(faults Faults) (Faults, bool) {
		if fault == nil {
			delete(faults, key)
		} else {
			faults[key] = *fault
		}
		return faults, true
	})
}

// TakeFault returns the fault that strikes a command at a step, and counts the strike.
func TakeFault(path, command, cluster, step string) (fault Fault, strikes bool, err error) {
	return take(path, command, cluster, func(f Fault) bool {
		atStart := f.FailAt == "" && step == "start" && len(f.Leak) == 0 && len(f.Leave) == 0
		return f.AfterWrites == 0 && (f.FailAt == step || atStart)
	})
}

// TakeFaultAfter is TakeFault for a command that has made so many writes to the cloud.
func TakeFaultAfter(path, command, cluster string, writes int) (fault Fault, strikes bool, err error) {
	return take(path, command, cluster, func(f Fault) bool { return f.AfterWrites == writes })
}

// take finds the first key of the command with a fault for this cluster that strikes here. A pause is not counted: it
// lasts until somebody takes it from the file.
func take(path, command, cluster string, here func(Fault) bool) (fault Fault, strikes bool, err error) {
	if absent(path) {
		return Fault{}, false, nil
	}
	err = locked(path, func(faults Faults) (Faults, bool) {
		key, ok := faults.key(command, cluster)
		if !ok || !here(faults[key]) {
			return faults, false
		}
		fault, strikes = faults[key], true
		counted := fault.Times > 0 && !fault.Pause
		faults.count(key, counted)
		return faults, counted
	})
	return fault, strikes, err
}

// absent spares the lock where nobody wrote faults, which is almost always.
func absent(path string) bool {
	if path == "" {
		return true
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// key of the fault that concerns a command on a cluster. ccoctl's clusters are called <cluster name>-<random>, so the name
// before the dash does for them too.
func (f Faults) key(command, cluster string) (string, bool) {
	keys := []string{command + "/" + cluster, command}
	if i := strings.LastIndex(cluster, "-"); i > 0 && strings.HasPrefix(command, "ccoctl-") {
		keys = slices.Insert(keys, 1, command+"/"+cluster[:i])
	}
	for _, key := range keys {
		if fault, ok := f[key]; ok && (fault.Cluster == "" || fault.Cluster == cluster) {
			return key, true
		}
	}
	return "", false
}

func (f Faults) count(key string, counted bool) {
	if !counted {
		return
	}
	fault := f[key]
	if fault.Times--; fault.Times == 0 {
		delete(f, key)
		return
	}
	f[key] = fault
}

// Stands reports whether a fault that struck a command is still in the file as it was.
func Stands(path, command, cluster string, fault Fault) (stands bool, err error) {
	if absent(path) {
		return false, nil
	}
	err = locked(path, func(faults Faults) (Faults, bool) {
		key, ok := faults.key(command, cluster)
		stands = ok && reflect.DeepEqual(faults[key], fault)
		return faults, false
	})
	return stands, err
}

// TakeLeaks returns the classes of Leaks that a command is told to leave behind, and counts the strike where the fault
// does nothing else.
func TakeLeaks(path, command, cluster string) ([]string, error) {
	if absent(path) {
		return nil, nil
	}
	var leaks []string
	err := locked(path, func(faults Faults) (Faults, bool) {
		key, ok := faults.key(command, cluster)
		fault := faults[key]
		if !ok || len(fault.Leak) == 0 {
			return faults, false
		}
		leaks = fault.Leak
		counted := fault.Times > 0 && fault.FailAt == "" && fault.AfterWrites == 0
		faults.count(key, counted)
		return faults, counted
	})
	return leaks, err
}

// TakeLeaving returns the fault that makes destroy pass over kinds, and counts the strike.
func TakeLeaving(path, command, cluster string) (Fault, error) {
	fault, _, err := take(path, command, cluster, func(f Fault) bool { return len(f.Leave) > 0 })
	return fault, err
}

// OnlySpeaks says that a fault has lines for the log and nothing else: the command goes on after them.
func (f Fault) OnlySpeaks() bool {
	return len(f.Say) > 0 && f.Exit == 0 && f.Message == "" && !f.Hang && !f.Kill && !f.Pause
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
