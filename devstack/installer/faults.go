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

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Faults are the faults of the stand-ins, by command: "manifests", "ignition-configs", "create", "destroy", "wait-for", "gather",
// "ccoctl-create", "ccoctl-delete", "oc", and for oc's cluster commands "oc-get", "oc-patch", "oc-scale", "oc-apply" and "oc-wait". A
// key "<command>/<cluster name>" affects only that cluster and takes precedence over the command's own.
//
//	{"create":         {"failAt": "bootstrap", "exit": 5, "message": "no etcd quorum", "times": 1},
//	 "create/pr7-shop": {"afterWrites": 12, "pause": true},
//	 "destroy":        {"leave": ["elastic-ip"], "times": 1}}
//
// With TraceVariable set, every command appends to that file, so that a test can count the writes of a clean run and see when one is
// reached. A line is "<cluster> <command> <writes so far> <what>", where what is "start", "end <exit code>", "<service>:<Action>" for
// a write that succeeded, "pause [step]" and "resume", or "hang [step]".
type Faults map[string]Fault

// Fault is one fault.
type Fault struct {
	Cluster string `json:"cluster,omitempty"` // only for clusters with this name; empty: any

	// FailAt is the step of the fault: one of StepsOn for "create", "start" (also when empty) for the other commands. "oc-scale" has two
	// more, at which the command itself succeeds: "launch", where the cloud refuses the machine, and "ready", where its node never
	// becomes ready; "oc-wait" has "established" and "available", which a kind or deployment then never becomes.
	FailAt  string   `json:"failAt,omitempty"`
	Exit    int      `json:"exit,omitempty"`    // exit code; for create, zero means the step's own
	Message string   `json:"message,omitempty"` // text of the error line; empty: the step's own
	Hang    bool     `json:"hang,omitempty"`    // hang at the step until a signal comes
	Kill    bool     `json:"kill,omitempty"`    // die at the step as if by SIGKILL
	Leave   []string `json:"leave,omitempty"`   // destroy: kinds ("address", "vpc", "bucket" …) to skip, and still exit with 0
	Times   int      `json:"times,omitempty"`   // happen that often, then be removed from the file; zero: always

	AfterWrites int      `json:"afterWrites,omitempty"` // happen right after the command's n-th write to the cloud, instead of FailAt
	Pause       bool     `json:"pause,omitempty"`       // pause there until this fault is removed from the file, then go on normally
	Deaf        int      `json:"deaf,omitempty"`        // while it hangs or pauses, ignore that many signals
	Say         []string `json:"say,omitempty"`         // lines for the log (level error, or "level=… msg=…" in full), repeated while it hangs or pauses
	Leak        []string `json:"leak,omitempty"`        // create: leave these behind in a way that destroy cannot find; see Leaks
}

// Steps are the points in `create cluster` at which a fault can happen, in order. Those with a hyphen are between two calls that
// belong together; a kill there leaks what destroy cannot find.
func Steps() []string {
	return []string{
		"quota", "infrastructure", "iam", "image", "image-tags", "network", "balancers", "bucket", "bucket-tags", "zone", "zone-tags", "public-record",
		"private-records", "machines", "api", "bootstrap", "bootstrap-destroy", "initialize", "stable", "complete",
	}
}

// StepsOn are the points of a platform: "aws" or "ibmcloud". Those that both have are named alike.
func StepsOn(platform string) []string {
	if platform != "ibmcloud" {
		return Steps()
	}
	return []string{
		"quota", "infrastructure", "storage", "bucket", "upload", "authorization", "network", "image", "subnets", "balancers", "public-record", "private-records",
		"machines", "bootstrap-address", "api", "bootstrap", "bootstrap-destroy", "initialize", "stable", "complete",
	}
}

// WriteFaults replaces the file's faults; nil ends them all.
func WriteFaults(path string, faults Faults) error {
	return locked(path, func(Faults) (Faults, bool) { return faults, true })
}

// SetFault sets one fault in the file, or removes it if it is nil, and leaves the others unchanged.
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

// TakeFault returns the fault for a command at a step, and counts its use.
func TakeFault(path, command, cluster, step string) (fault Fault, strikes bool, err error) {
	return take(path, command, cluster, func(f Fault) bool {
		atStart := f.FailAt == "" && step == "start" && len(f.Leak) == 0 && len(f.Leave) == 0
		return f.AfterWrites == 0 && (f.FailAt == step || atStart)
	})
}

// TakeFaultAfter is TakeFault for a command that has made that many writes to the cloud.
func TakeFaultAfter(path, command, cluster string, writes int) (fault Fault, strikes bool, err error) {
	return take(path, command, cluster, func(f Fault) bool { return f.AfterWrites == writes })
}

// FindFault returns the fault for a command on a cluster, wherever it strikes, and leaves it as it is; without one it is empty.
func FindFault(path, command, cluster string) (fault Fault, err error) {
	if absent(path) {
		return fault, nil
	}
	err = locked(path, func(faults Faults) (Faults, bool) {
		if key, ok := faults.key(command, cluster); ok {
			fault = faults[key]
		}
		return faults, false
	})
	return fault, err
}

// take finds the first of the command's keys with a fault for this cluster that applies here. A pause is not counted: it lasts until
// it is removed from the file.
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

// absent avoids the lock if there are no faults, the usual case.
func absent(path string) bool {
	if path == "" {
		return true
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// key finds the fault for a command on a cluster. ccoctl's clusters are named <cluster name>-<random>, so the name before the dash
// matches them too.
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

// Stands reports whether a command's fault is still unchanged in the file.
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

// TakeLeaks returns the classes of Leaks that a command must leave behind, and counts the use if the fault does nothing else.
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

// TakeLeaving returns the fault that makes destroy skip kinds, and counts its use.
func TakeLeaving(path, command, cluster string) (Fault, error) {
	fault, _, err := take(path, command, cluster, func(f Fault) bool { return len(f.Leave) > 0 })
	return fault, err
}

// OnlySpeaks reports that a fault only has lines for the log: the command goes on after them.
func (f Fault) OnlySpeaks() bool {
	return len(f.Say) > 0 && f.Exit == 0 && f.Message == "" && !f.Hang && !f.Kill && !f.Pause
}

// locked reads the faults, lets change modify them and stores them if it says so, under a lock across processes.
func locked(path string, change func(Faults) (Faults, bool)) (err error) {
	defer must.Catch(&err)
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	must.Wrap(err, "lock the faults")
	defer lock.Close()
	must.Wrap(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), "lock the faults")
	raw, err := os.ReadFile(path)
	must.FailIf(err != nil && !errors.Is(err, fs.ErrNotExist), "read the faults: %w", err)
	faults := Faults{}
	if len(raw) > 0 {
		must.Wrap(json.Unmarshal(raw, &faults), "read the faults in %s", path)
	}
	faults, changed := change(faults)
	if !changed {
		return nil
	}
	if raw, err = json.MarshalIndent(faults, "", "  "); err != nil {
		return fmt.Errorf("write the faults: %w", err)
	}
	before, missing := os.Stat(path)
	if err := file.Replace(path, raw); err != nil || missing != nil {
		return err
	}
	return os.Chmod(path, before.Mode().Perm()) // several users may share the file, and all have the lock
}
