// Package catalogue keeps what requests are judged by: the catalogue with its rules compiled, as it was built in or as it lies
// in a folder now.
//
// A folder is read whole or not at all: what is in force changes from one sound state to the next, and stays where the
// files are broken. It must never give out half a catalogue, and nothing of it ever reaches a cluster that was accepted:
// what a cluster needs was frozen with it.
package catalogue

import (
	"io/fs"
	"os"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
)

// Catalogue is one state of the catalogue and its rules. It is never changed; the zero value allows nothing to nobody.
type Catalogue struct {
	profiles.Catalogue
	Rules *rules.Set
}

// Terms is what policy judges by at the given moment.
func (b Catalogue) Terms(now time.Time) policy.Terms {
	return policy.Terms{Catalogue: b.Catalogue, Rules: b.Rules, Now: now}
}

// Embedded is the catalogue the program was built with.
func Embedded() (Catalogue, error) { return Load(profiles.EmbeddedFiles()) }

// Load reads a catalogue's folder and compiles its rules. What is wrong with them comes back as profiles.Problems, all at
// once.
func Load(files fs.FS) (Catalogue, error) {
	b, _, err := load(files)
	return b, err
}

// LoadDir is Load of a folder by its path; empty: Embedded.
func LoadDir(dir string) (Catalogue, error) { return Load(files(dir)) }

func files(dir string) fs.FS {
	if dir == "" {
		return profiles.EmbeddedFiles()
	}
	return os.DirFS(dir)
}

// load is Load, with the hash of what was read even where it holds problems; empty: it could not be read.
func load(files fs.FS) (Catalogue, string, error) {
	c, problems, err := profiles.Read(files)
	if err != nil {
		return Catalogue{}, "", err
	}
	set, wrong := rules.Compile(c.Policies)
	if problems = append(problems, wrong...); len(problems) > 0 {
		return Catalogue{}, c.Hash, problems.Sorted()
	}
	return Catalogue{Catalogue: c, Rules: set}, c.Hash, nil
}
