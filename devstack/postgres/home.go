package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// home is a server's directory.
type home struct {
	dir, data, log string
}

// major returns the version that wrote the data directory; empty if it is new.
func (h home) major() string {
	raw, err := os.ReadFile(filepath.Join(h.data, "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// initialise runs initdb unless that was done before.
func (h home) initialise(ctx context.Context, bin string, who identity) error {
	if h.major() != "" {
		return nil
	}
	if err := who.own(h); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"),
		"-D", h.data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
	cmd.Dir, cmd.Env = h.data, environment()
	cmd.SysProcAttr = who.attributes()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initialise PostgreSQL in %s: %w: %s", h.data, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// stillInUse reports that the log complains about the shared memory of a server that has not ended completely.
func (h home) stillInUse() bool { return strings.Contains(h.tail(), "shared memory block") }

// tail returns the end of the server's log.
func (h home) tail() string {
	raw, err := os.ReadFile(h.log)
	if err != nil {
		return "(not readable)"
	}
	if len(raw) > 1000 {
		raw = raw[len(raw)-1000:]
	}
	return strings.TrimSpace(string(raw))
}

// environment removes PGPORT and similar variables of the user's shell.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}
