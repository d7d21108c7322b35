// Package buildinfo says which build of ocpctl a program is. The Go toolchain sets it: the version is the git tag, or a
// pseudo-version between tags, and "(devel)" if the build had no repository. https://go.dev/doc/go1.24#go-command
package buildinfo

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Info is what the toolchain recorded in a program.
type Info struct {
	Version string // e.g. v1.2.3; "(devel)": unknown
	Commit  string // full hash; empty: unknown
	Time    string // of the commit, RFC 3339; empty: unknown
	Changed bool   // the working tree had uncommitted changes
}

// Read returns the build of the running program.
func Read() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: "(devel)"}
	}
	return fromBuild(info)
}

func fromBuild(info *debug.BuildInfo) Info {
	b := Info{Version: info.Main.Version}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.time":
			b.Time = setting.Value
		case "vcs.modified":
			b.Changed = setting.Value == "true"
		}
	}
	return b
}

// Line returns what a program prints for --version.
func (b Info) Line(program string) string {
	line := program + " " + b.Version
	if b.Commit != "" {
		line += " (commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Time != "" {
			line += ", " + b.Time
		}
		if b.Changed {
			line += ", with local changes"
		}
		line += ")"
	}
	return fmt.Sprintf("%s %s %s/%s", line, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
