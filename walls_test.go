// Package ocpctl_test holds the walls of the house: which room may import which, and why.
package ocpctl_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/ocpctl/ocpctl/"

// room says what a folder (and what lies below it, unless a longer path is listed) may import of ours.
type room struct {
	path string
	may  []string // a trailing "/..." means: and below
	why  string
}

var rooms = []room{
	{"price", nil, "what a cluster costs is said in one place, which everybody may ask and which asks nobody"},
	{"lifecycle", []string{"price"}, "the heart is pure: it decides from values alone"},
	{"profiles", []string{"internal/tagkey"}, "a catalogue knows nobody who reads it"},
	{"migrations", nil, "SQL alone"},
	{"policy", []string{"lifecycle", "price", "profiles", "internal/tagkey"}, "a verdict is computed from values, never from a database"},
	{"policy/rules", []string{"policy", "profiles"}, "rules look at the values they are given; a verdict asks them without knowing what they are written in"},
	{"policy/book", []string{"policy", "policy/rules", "profiles"}, "what is in force is read from files alone, and knows nobody who is judged by it"},
	{"chatops", []string{"lifecycle", "price", "policy"}, "the language is pure: words come from values"},
	{"chatops/github", []string{"chatops", "lifecycle", "policy", "internal/secret"}, "a wire carries words and knows no store"},
	{"chatops/slack", []string{"internal/secret"}, "a wire carries words and knows no store"},
	{"store", []string{"lifecycle", "price", "migrations", "store/auditchain"}, "the only room with SQL; it keeps verdicts as they come and calls nobody"},
	{"store/auditchain", nil, "whoever holds a copy of the trail verifies it without a database; it shares nothing with the SQL that made it"},
	{"store/artifacts", nil, "S3 alone: it knows no database"},
	{"store/intake", []string{"lifecycle", "store", "store/artifacts", "runner/contract", "runner/names"}, "what runners say becomes rows in one place, for the API and for the spool"},
	{"app", []string{"policy", "price", "policy/book", "profiles", "chatops", "store", "store/artifacts", "lifecycle", "internal/secret"}, "the desk never meets the controller: the half that faces the internet needs no cloud or cluster credentials"},
	{"app/hooks", []string{"app", "policy", "profiles", "chatops/...", "store", "store/artifacts", "lifecycle", "internal/limit", "internal/secret", "internal/source"}, "a door leads to the desk"},
	{"app/auth", []string{"app", "app/auth/awsproof", "policy", "profiles", "internal/limit", "internal/secret"}, "who asks is no matter of what exists: seats come from identities and claims, and what must be remembered is handed in"},
	{"app/auth/awsproof", nil, "the CLI signs with it and must not bring the server along"},
	{"app/web", []string{"app", "price", "app/auth", "policy", "profiles", "chatops", "store", "lifecycle", "docs", "internal/download"}, "pages show what the desk gives, and the runbooks"},
	{"app/api/client", nil, "a program that only talks to a server stays small"},
	{"app/api", []string{"app", "price", "app/auth", "app/auth/awsproof", "policy", "profiles", "chatops/...", "store", "store/artifacts", "store/intake", "lifecycle", "runner/contract", "runner/names", "internal/download", "internal/limit", "internal/source", "internal/tagkey", "internal/token"}, "the only door runners know"},
	{"controller", []string{"store", "store/artifacts", "store/intake", "lifecycle", "chatops/...", "runner/contract", "runner/dispatch", "internal/token"}, "the engine room never meets the desk: they meet in the store"},
	{"runner", []string{"runner/...", "store/artifacts", "internal/secret", "internal/tagkey"}, "a pod with cloud credentials has no database"},
	{"runner/cloud/aws/count", []string{"runner/cloud", "runner/contract"}, "a count that shares a line with what deletes is blind where that is blind"},
	{"runner/contract", nil, "plain structs, for both sides"},
	{"runner/names", []string{"internal/tagkey"}, "server and runner check names by the same rules, so it can belong to neither"},
	{"runner/dispatch", nil, "it starts runners and knows nothing of clusters"},
	{"internal/secret", nil, "imported by everybody"},
	{"internal/tagkey", nil, "whoever refuses a tag and whoever deletes by it read the same list"},
	{"internal/source", nil, "imported by both listeners"},
	{"internal/buildinfo", nil, "imported by every program"},
	{"internal/limit", nil, "imported by both listeners"},
	{"internal/download", nil, "API and pages send files the same way"},
	{"internal/token", nil, "imported by both sides"},
	{"deploy", nil, "what an installation is made from; tests alone, which hold it against the code"},
	{"docs", nil, "pages for people, carried inside the program; they know nobody"},
	{"cmd", []string{"..."}, "programs wire everything by hand"},
	{"cmd/ocpctl", []string{"app/api/client", "app/auth/awsproof", "price", "store/auditchain", "internal/buildinfo"}, "it knows the API, and how its amounts are counted: it stays small, starts at once, and what it shows is what the server said"},
	{"internal/house", []string{"..."}, "the whole house stands on everything"},
	{"test", []string{"..."}, "tests of the whole"},
}

// outside says which room alone may import a dependency.
var outside = []struct {
	dependency string
	only       []string
	why        string
}{
	{"github.com/jackc/pgx", []string{"store", "internal/house", "test", "app/hooks", "cmd"}, "SQL stands in the store alone; cmd hands the pool to River's client, benchmarks compare with a bare INSERT"},
	{"github.com/aws/aws-sdk-go-v2/service/ec2", []string{"runner/cloud/aws", "runner/cloud/aws/count", "internal/house"}, "it takes a minute to compile"},
	{"cel.dev/cel-go", []string{"policy/rules"}, "what rules are written in is nobody else's matter"},
	{"k8s.io/client-go", []string{"runner/dispatch"}, "it is slow to compile"},
}

// doors are rooms that one file alone may enter.
var doors = []struct{ room, file, why string }{
	{"runner/cloud/aws/count", "runner/cloud/aws/client.go", "it is there to be asked for a whole pass; a deletion looks for itself"},
}

func TestTheWallsStand(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "tools" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || filepath.Dir(path) == "." {
			return nil
		}
		checkFile(t, path)
		return nil
	})
	require.NoError(t, err)
}

func checkFile(t *testing.T, path string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	folder := filepath.ToSlash(filepath.Dir(path))
	in, known := roomOf(folder)
	if !known {
		t.Errorf("%s stands in no room; add its folder to the walls with a reason", path)
		return
	}
	isTest := strings.HasSuffix(path, "_test.go")
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if ours, ok := strings.CutPrefix(name, module); ok {
			if !isTest && ours != folder && !below(ours, in.path, in) && !permitted(ours, in.may) {
				t.Errorf("%s imports %s; %s may not, because %s", path, ours, in.path, in.why)
			}
			for _, d := range doors {
				if ours == d.room && filepath.ToSlash(path) != d.file && !isTest {
					t.Errorf("%s imports %s; only %s may, because %s", path, ours, d.file, d.why)
				}
			}
			if !isTest && strings.HasPrefix(ours, "internal/house") && in.path == "cmd" && !strings.HasPrefix(folder, "cmd/ocpctl-demo") {
				t.Errorf("%s imports %s; only the demo program may, because a stand-in is no part of the product", path, ours)
			}
			continue
		}
		for _, o := range outside {
			if strings.HasPrefix(name, o.dependency) && !isTest && !slices.ContainsFunc(o.only, func(r string) bool { return within(folder, r) }) {
				t.Errorf("%s imports %s, which only %v may, because %s", path, name, o.only, o.why)
			}
		}
	}
}

// roomOf finds the room with the longest path that holds the folder.
func roomOf(folder string) (room, bool) {
	var best room
	found := false
	for _, r := range rooms {
		if within(folder, r.path) && (!found || len(r.path) > len(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// below: a room may import its own subfolders that are no room of their own.
func below(ours, roomPath string, in room) bool {
	other, known := roomOf(ours)
	return known && other.path == in.path && within(ours, roomPath)
}

func permitted(ours string, may []string) bool {
	for _, m := range may {
		if m == "..." || m == ours {
			return true
		}
		if base, ok := strings.CutSuffix(m, "/..."); ok && within(ours, base) {
			return true
		}
	}
	return false
}

func within(folder, roomPath string) bool {
	return folder == roomPath || strings.HasPrefix(folder, roomPath+"/")
}
