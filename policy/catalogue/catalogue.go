// Package catalogue holds what requests are judged by: the catalogue with its compiled rules, embedded or read from a folder.
//
// A folder is loaded completely or not at all: if its files are broken, the last valid state stays in force. A change never affects
// an accepted cluster: what the cluster needs was frozen at acceptance.
package catalogue

import (
	"io/fs"
	"os"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
)

// Catalogue is one state of the catalogue and its rules. It is immutable; the zero value allows nothing.
type Catalogue struct {
	profiles.Catalogue
	Rules *rules.Set
}

// Terms returns what policy judges by at the given time.
func (b Catalogue) Terms(now time.Time) policy.Terms {
	return policy.Terms{Catalogue: b.Catalogue, Rules: b.Rules, Now: now}
}

// Embedded returns the catalogue that is built into the program.
func Embedded() (Catalogue, error) { return Load(profiles.EmbeddedFiles()) }

// Load reads a catalogue's folder and compiles its rules. All problems come back at once, as profiles.Problems.
func Load(files fs.FS, gitHub ...string) (Catalogue, error) {
	b, _, err := loadWithHash(files, gitHub)
	return b, err
}

// Read reads the catalogue of an installation once; see Open for one that follows its folder.
func Read(c Config) (Catalogue, error) {
	b, err := Load(openFolder(c.Dir), c.GitHubIssuers...)
	return b.withoutPlatforms(c.Off).withRoleIssuers(c.RoleIssuers), err
}

// withoutPlatforms is the catalogue of an installation that does not offer some platforms.
func (b Catalogue) withoutPlatforms(platforms map[string]string) Catalogue {
	b.Catalogue = b.Catalogue.Without(platforms)
	return b
}

// withRoleIssuers is the catalogue of an installation whose issuers may give roles.
func (b Catalogue) withRoleIssuers(issuers []string) Catalogue {
	b.Identities = profiles.BindRoleClaim(b.Identities, issuers)
	return b
}

func openFolder(dir string) fs.FS {
	if dir == "" {
		return profiles.EmbeddedFiles()
	}
	return os.DirFS(dir)
}

// loadWithHash is Load, and returns the hash of the files even if they have problems; empty: they could not be read.
func loadWithHash(files fs.FS, gitHub []string) (Catalogue, string, error) {
	c, problems, err := profiles.Read(files, gitHub...)
	if err != nil {
		return Catalogue{}, "", err
	}
	set, wrong := rules.Compile(c.Policies)
	if problems = append(problems, wrong...); len(problems) > 0 {
		return Catalogue{}, c.Hash, problems.Sorted()
	}
	return Catalogue{Catalogue: c, Rules: set}, c.Hash, nil
}
