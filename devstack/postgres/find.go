package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// oldest is the first major version that supports the SQL that we use.
const oldest = 14

// find returns the directory with postgres and initdb: $PG_BIN, the real location of PATH's postgres, or the newest in the usual
// places. An existing data directory needs the major version that wrote it.
func find(major string) (string, error) {
	var seen []string
	for _, dir := range candidates() {
		if !complete(dir) {
			continue
		}
		version := majorOf(dir)
		if n, err := strconv.Atoi(version); err != nil || n < oldest {
			continue
		}
		if major == "" || major == version {
			return dir, nil
		}
		seen = append(seen, version)
	}
	if major != "" && len(seen) > 0 {
		return "", fmt.Errorf("the data directory was written by PostgreSQL %s, and this machine has %s: "+
			"install PostgreSQL %s, or start over with an empty directory", major, strings.Join(seen, ", "), major)
	}
	return "", errNoPostgres
}

var errNoPostgres = errors.New("no PostgreSQL found: " + advice())

// findOrFetch is find, and brings a PostgreSQL if the machine has none and PG_BIN names none.
func findOrFetch(ctx context.Context, major string) (string, error) {
	dir, err := find(major)
	if !errors.Is(err, errNoPostgres) || os.Getenv("PG_BIN") != "" {
		return dir, err
	}
	f, err := newFetcher()
	if err != nil {
		return "", err
	}
	return f.fetch(ctx)
}

func advice() string {
	how := "install the server's package (Debian, Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server)"
	if runtime.GOOS == "darwin" {
		how = "brew install postgresql@17"
	}
	return fmt.Sprintf("%s, or set PG_BIN to the directory that holds postgres and initdb (version %d or newer; "+
		"no running server is needed)", how, oldest)
}

func candidates() []string {
	var dirs []string
	if set := os.Getenv("PG_BIN"); set != "" {
		return []string{set}
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	var usual []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		found, _ := filepath.Glob(pattern) // the only possible error is a bad pattern
		usual = append(usual, found...)
	}
	slices.SortStableFunc(usual, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
	dirs = append(dirs, usual...)
	if f, err := newFetcher(); err == nil { // fetched before
		dirs = append(dirs, f.bin())
	}
	return dirs
}

func complete(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// Version returns what the PostgreSQL that Start uses for a new directory says of its version.
func Version(ctx context.Context) (_ string, err error) {
	defer must.Catch(&err)
	bin := must.Get(findOrFetch(ctx, ""))
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version").Output()
	must.Wrap(err, "ask PostgreSQL for its version")
	return strings.TrimSpace(string(out)), nil
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

func majorOf(dir string) string {
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return ""
	}
	if m := versionPattern.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	return ""
}

var digits = regexp.MustCompile(`\d+`)

// number returns the version from a path like /usr/lib/postgresql/15/bin.
func number(path string) int {
	n, _ := strconv.Atoi(digits.FindString(path)) // no digits: 0, the oldest
	return n
}
