// Package ocpctl_test holds the rules of who may import whom, and why.
package ocpctl_test

import (
	"go/ast"
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

// levels is the order of the top-level folders: a folder imports only folders of lower levels, so no import points up, and folders of one level
// never meet. Package internal is the ground that imports nothing of ours.
var levels = map[string]int{
	"internal": 0, "migrations": 0, "deploy": 0, "docs": 0,
	"lifecycle": 1, "profiles": 1, "runner": 1, // a runner, a pod with cloud credentials, knows no database
	"policy":  2,
	"chatops": 3, "store": 3, // texts are made from values; the store keeps verdicts as they come
	"app": 4, "controller": 4, // the half that faces the internet needs no cloud credentials: they meet in the store
	"devstack": 5, // stand-ins are no part of the product
	"cmd":      6, // programs connect everything
}

// area narrows what a folder (and what lies below it, unless a longer path is listed) may import of ours, where the levels allow more.
type area struct {
	path string
	may  []string // a trailing "/..." means: and below
	why  string
}

var areas = []area{
	{"internal/blockkit", nil, "what the product sends and what the stand-in of Slack accepts are checked by the same rules"},
	{"internal/replymail", nil, "the stand-in of GitHub and the tests of the reader make the same mails"},
	{"internal/tracing/export", nil, "programs alone send spans, so that nothing else compiles the SDK"},
	{"store/auditchain", nil, "a copy of the audit trail can be verified without a database; it shares nothing with the SQL that made it"},
	{"app/auth/awsproof", nil, "the CLI signs with it and must not bring the server along"},
	{"app/api/v1", nil, "the server and the programs that call it share what they exchange, and nothing else"},
	{"app/api/client", []string{"app/api/v1"}, "a program that only talks to a server stays small"},
	{"app/socketmode", []string{"internal/secret", "internal/tracing"}, "it carries requests from a socket to what it is given, and interprets none"},
	{"app/web/plot", nil, "a chart is drawn from values alone"},
	{"runner/csr", nil, "which certificates a node may have is decided by plain comparison, without a cluster"},
	{"lifecycle", []string{"internal/duration", "internal/kinds", "internal/price", "internal/workhours"}, "it is pure: it decides from values alone"},
	{"lifecycle/orphans", []string{"internal/contract", "internal/names", "internal/tagkey", "lifecycle"}, "whose a resource is follows from what it shows, and from no database"},
	{"lifecycle/breaker", []string{"lifecycle"}, "which creates wait follows from how others went, by values alone"},
	{"lifecycle/pool", nil, "what a pool needs is decided from values alone"},
	{"policy", []string{"policy/...", "internal/closest", "lifecycle", "internal/duration", "internal/kinds", "internal/price", "profiles", "internal/tagkey"}, "a verdict is computed from values, never from a database"},
	{"policy/rules", []string{"internal/closest", "policy", "profiles"}, "rules look at the values they are given; a verdict asks them without knowing what they are written in"},
	{"chatops", []string{"chatops/...", "internal/closest", "lifecycle", "lifecycle/pool", "policy", "internal/commands", "internal/duration", "internal/kinds", "internal/price", "internal/secret"}, "texts for people are made from values"},
	{"chatops/slack", []string{"internal/duration", "internal/secret"}, "a client of Slack carries texts"},
	{"store", []string{"store/...", "internal/...", "lifecycle", "lifecycle/breaker", "migrations"}, "the only area with SQL; it keeps verdicts as they come and calls nobody"},
	{"store/cleanup", []string{"store/...", "internal/contract", "internal/names", "internal/tagkey", "lifecycle"}, "what is removed of an orphan is planned from values, and shown before it is done"},
	{"runner/scan", []string{"runner/cloud", "runner/platform", "runner/status", "internal/contract", "internal/secret", "internal/tracing"}, "it reads a cloud that it is given, and knows no cluster and no installer"},
	{"runner/cloud/aws/kinds", nil, "it is the table that the count and the inventory list by, and shares nothing with what deletes"},
	{"runner/cloud/aws/inventory", []string{"runner/cloud", "runner/cloud/aws/kinds", "runner/cloud/pace", "runner/cloud/parts", "internal/contract", "internal/tagkey"}, "it looks for what the code that deletes has missed, so it shares no query with it"},
	{"runner/cloud/aws/count", []string{"runner/cloud", "runner/cloud/aws/kinds", "internal/contract"}, "a count that shares a line with what deletes is blind where that is blind"},
	{"runner/cloud/ibmcloud/answer", nil, "it reads what IBM Cloud answers, and asks nothing itself"},
	{"runner/cloud/ibmcloud/kinds", []string{"runner/cloud/ibmcloud/access", "runner/cloud/ibmcloud/answer"}, "it is the table that the count and the inventory list by, and shares nothing with what deletes"},
	{"runner/cloud/ibmcloud/inventory", []string{"runner/cloud", "runner/cloud/pace", "runner/cloud/parts", "runner/cloud/ibmcloud/access", "runner/cloud/ibmcloud/answer", "runner/cloud/ibmcloud/kinds", "internal/contract", "internal/tagkey"}, "it looks for what the code that deletes has missed, so it shares no query with it"},
	{"runner/cloud/ibmcloud/count", []string{"runner/cloud", "runner/cloud/ibmcloud/access", "runner/cloud/ibmcloud/answer", "runner/cloud/ibmcloud/kinds", "internal/contract"}, "a count that shares a line with what deletes is blind where that is blind"},
	{"runner/cloud/kubernetes/api", []string{"internal/secret"}, "it asks a hub, and knows no cluster"},
	{"runner/cloud/kubernetes/kinds", []string{"internal/names"}, "it is the table that the count and the inventory list by, and asks nothing"},
	{"runner/cloud/kubernetes/inventory", []string{"runner/cloud", "runner/cloud/kubernetes/api", "runner/cloud/kubernetes/kinds", "internal/contract", "internal/tagkey"}, "it looks for what the code that deletes has missed, so it shares no query with it"},
	{"runner/cloud/kubernetes/count", []string{"runner/cloud", "runner/cloud/kubernetes/api", "runner/cloud/kubernetes/kinds", "internal/contract"}, "a count that shares a line with what deletes is blind where that is blind"},
	{"app/auth", []string{"app", "app/auth/awsproof", "internal/...", "policy", "profiles"}, "who asks does not depend on what exists: roles come from identities and claims, and what must be remembered is handed in"},
	{"cmd/ocpctl-server/internal/config", []string{"app/hooks", "chatops/...", "internal/...", "lifecycle", "lifecycle/breaker", "policy", "profiles", "store/outbox"}, "settings are read and checked in one place, which starts nothing"},
	{"cmd/ocpctl", []string{"app/api/client", "app/api/v1", "app/auth/awsproof", "internal/...", "store/auditchain"}, "it knows the API: it stays small, starts at once, and shows what the server said"},
}

// outside says which area alone may import a dependency.
var outside = []struct {
	dependency string
	only       []string
	why        string
}{
	{"github.com/jackc/pgx", []string{"store", "internal/queue", "devstack", "test", "app/hooks", "cmd"}, "SQL stands in the store alone; internal/queue and cmd hand the pool to River's client, benchmarks compare with a bare INSERT"},
	{"github.com/aws/aws-sdk-go-v2/service/ec2", []string{"runner/cloud/aws", "runner/cloud/aws/count", "devstack"}, "it takes a minute to compile"},
	{"github.com/IBM/", []string{"runner/cloud/ibmcloud"}, "only the runner calls IBM Cloud: the SDKs take half a minute to compile"},
	{"cel.dev/cel-go", []string{"policy/rules"}, "what rules are written in is nobody else's matter"},
	{"k8s.io/", []string{"internal/dispatch/kubernetes", "devstack/hub"}, "it is slow to compile, and the server's other parts know no Kubernetes"},
	{"k8s.io/client-go/kubernetes", nil, "the typed clientset takes minutes to compile; a dispatcher makes ten different calls"},
	{"go.opentelemetry.io/otel/sdk", []string{"internal/tracing/export"}, "programs alone send spans"},
	{"go.opentelemetry.io/otel/exporters", []string{"internal/tracing/export"}, "it brings gRPC along"},
	{"go.opentelemetry.io/otel", []string{"internal/tracing"}, "the rest of the product knows causes and spans of ours"},
}

// guarded are areas that a few files or folders alone may enter.
var guarded = []struct {
	area string
	only []string
	why  string
}{
	{"runner/cloud/aws/count", []string{"runner/cloud/aws/client.go"}, "it is there to be asked for a whole pass; a deletion looks for itself"},
	{"runner/cloud/aws/kinds", []string{"runner/cloud/aws/count", "runner/cloud/aws/inventory"}, "the count and the inventory list by it; a deletion that did would be blind where they are blind"},
	{"runner/cloud/ibmcloud/count", []string{"runner/cloud/ibmcloud/client.go"}, "it is there to be asked for a whole pass; a deletion looks for itself"},
	{"runner/cloud/kubernetes/count", []string{"runner/cloud/kubernetes/hub.go"}, "it is there to be asked for a whole pass; a deletion looks for itself"},
	{"runner/cloud/ibmcloud/kinds", []string{"runner/cloud/ibmcloud/count", "runner/cloud/ibmcloud/inventory"}, "the count and the inventory list by it; a deletion that did would be blind where they are blind"},
}

func TestTheWallsStand(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "tools" || d.Name() == "node_modules" || path == "testdata") {
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

// The kinds of clusters are named in profiles and in the runner. Everything between asks internal/kinds what a kind can do.
func TestNobodyAboveTheRunnerKnowsAKindByItsName(t *testing.T) {
	names := []string{"OpenShift", "HyperShift", "Namespace"}
	for _, top := range []string{"lifecycle", "policy", "chatops", "store", "app", "controller", "cmd"} {
		err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || within(filepath.ToSlash(path), "cmd/ocpctl-runner") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if of, ok := n.X.(*ast.Ident); ok && of.Name == "kinds" && slices.Contains(names, n.Sel.Name) {
						t.Errorf("%s names the kind %s; ask what it can do", set.Position(n.Pos()), n.Sel.Name)
					}
				case *ast.BinaryExpr:
					for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
						of, isField := pair[0].(*ast.SelectorExpr)
						value, isText := pair[1].(*ast.BasicLit)
						if isField && isText && of.Sel.Name == "Provisioner" && value.Value != `""` {
							t.Errorf("%s compares a kind with %s; ask what it can do", set.Position(n.Pos()), value.Value)
						}
					}
				}
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
}

func checkFile(t *testing.T, path string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	folder := filepath.ToSlash(filepath.Dir(path))
	top, _, _ := strings.Cut(folder, "/")
	level, known := levels[top]
	if !known {
		t.Errorf("%s has no level; add its top-level folder to the walls", path)
		return
	}
	isTest := strings.HasSuffix(path, "_test.go") || isTestSupport(folder)
	in, narrowed := areaOf(folder)
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if ours, ok := strings.CutPrefix(name, module); ok {
			if isTest {
				continue
			}
			other, _, _ := strings.Cut(ours, "/")
			if other != top && levels[other] >= level {
				t.Errorf("%s (level %d) imports %s (level %d): an import between top-level folders points down", path, level, ours, levels[other])
			}
			if narrowed && !isOwnFolder(ours, in) && !permitted(ours, in.may) {
				t.Errorf("%s imports %s; %s may not, because %s", path, ours, in.path, in.why)
			}
			for _, d := range guarded {
				if ours == d.area && !slices.ContainsFunc(d.only, func(may string) bool { return within(filepath.ToSlash(path), may) }) {
					t.Errorf("%s imports %s; only %v may, because %s", path, ours, d.only, d.why)
				}
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

// areaOf finds the area with the longest path that holds the folder.
func areaOf(folder string) (area, bool) {
	var best area
	found := false
	for _, r := range areas {
		if within(folder, r.path) && (!found || len(r.path) > len(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// isTestSupport: folders named …test hold what tests share.
func isTestSupport(folder string) bool {
	return strings.HasSuffix(folder, "test")
}

// isOwnFolder: an area may import its own subfolders that are no area of their own.
func isOwnFolder(ours string, in area) bool {
	other, known := areaOf(ours)
	return known && other.path == in.path
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

func within(folder, areaPath string) bool {
	return folder == areaPath || strings.HasPrefix(folder, areaPath+"/")
}
