package ocpctl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// searches are the functions that look into a text.
var searches = regexp.MustCompile(`^(strings\.(Contains\w*|HasPrefix|HasSuffix|Cut\w*|Index\w*|EqualFold|TrimPrefix|Replace\w*|Split\w*)|regexp\.Match\w*)$`)

// patterns are the methods of a regular expression that look into a text.
var patterns = regexp.MustCompile(`^(MatchString|Match|FindString\w*|Find\w*|ReplaceAll\w*)$`)

// reasonName is how fields, variables and methods are called that hold why something is as it is.
var reasonName = regexp.MustCompile(`(^why|Why|^reason|Reason|FailMessage)$`)

// codeNames are such names of which the value is a code, and no sentence.
var codeNames = []string{"FailReason", "StuckReason"}

// reasonInSQL matches SQL that looks into such a text.
var reasonInSQL = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b\w*(why|reason)'?\)?\s+(not\s+)?(like|ilike|similar\s+to|~~?\*?|!~\*?)\s`),
	regexp.MustCompile(`(?i)\b(starts_with|position|strpos|split_part|regexp_\w+|left|right|substr|substring)\s*\([^;]{0,60}?\b\w*(why|reason)\b`),
}

// foreignTexts are places that look into texts of others, and how many; they are no reasons of ours.
var foreignTexts = map[string]int{
	"app/origin.go":                           1, // NUL is taken out of what somebody wrote
	"chatops/chatops.go":                      1, // a command that somebody wrote is parsed
	"internal/dispatch/kubernetes/trouble.go": 3, // Kubernetes' own reasons
	"runner/installer/failures.go":            1, // the form of a code is checked
	"store/intake/intake.go":                  1, // likewise
	"store/intake/scan.go":                    1, // likewise
}

// TestNothingLooksIntoAReason holds that code and SQL decide by a reason's code, and never search its sentence.
func TestNothingLooksIntoAReason(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "tools" || d.Name() == "node_modules" || path == "devstack"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, ".gen.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		for _, at := range looksInto(file) {
			found[filepath.ToSlash(path)] = append(found[filepath.ToSlash(path)], set.Position(at).String())
		}
		return nil
	})
	require.NoError(t, err)
	for path, n := range foreignTexts {
		require.Len(t, found[path], n, "%s looks into a text: the list of known places has another number", path)
		delete(found, path)
	}
	for _, places := range found {
		t.Errorf("%s: decide by the reason's code; no code looks into a sentence", strings.Join(places, ", "))
	}
}

func TestEachWayToLookIntoAReasonIsFound(t *testing.T) {
	for _, bad := range []string{
		`strings.Contains(c.Why, "x")`, `strings.HasPrefix(c.DesiredWhy.String(), x)`, `strings.HasSuffix(why, "x")`, `strings.Cut(n.Why, "; ")`,
		`strings.CutSuffix(card.DesiredWhy, " asked for it")`, `strings.Index(a.Why, "x")`, `strings.EqualFold(c.Ends.Reason().String(), "x")`,
		`strings.TrimPrefix(r.PRWhy, "x")`, `strings.Contains("all of it", r.FailMessage)`, `regexp.MatchString("^the", c.Why)`, `ended.MatchString(c.Why)`,
		`ended.FindStringSubmatch(row.HoldWhy)`, "run(`WHERE desired_why LIKE 'nobody%'`)", "run(`WHERE c.why ILIKE '%x%'`)", "run(`WHERE why ~ '^x'`)",
		"run(`WHERE metadata ->> 'why' LIKE 'x%'`)", "run(`WHERE starts_with(c.desired_why, 'nobody')`)", "run(`SELECT position('x' in c.why)`)", "run(`SELECT split_part(why, ';', 1)`)",
	} {
		require.NotEmpty(t, looksInto(parseBody(t, bad)), bad)
	}
	for _, good := range []string{
		`use(c.DesiredWhy.Code == lifecycle.ReasonIdle)`, `use(c.Why + "; " + more)`, `strings.TrimSuffix(c.Why, ".")`, `strings.Contains(c.Name, "x")`,
		"run(`WHERE desired_why ->> 'code' = 'idle'`)", "run(`SELECT why, reason FROM clusters WHERE name LIKE 'x%'`)", "run(`UPDATE clusters SET desired_why = @why`)",
	} {
		require.Empty(t, looksInto(parseBody(t, good)), good)
	}
}

func parseBody(t *testing.T, body string) *ast.File {
	file, err := parser.ParseFile(token.NewFileSet(), "case.go", "package p\nfunc f() { "+body+" }", 0)
	require.NoError(t, err)
	return file
}

// looksInto returns where a file searches a reason.
func looksInto(file *ast.File) (places []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fun, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			from, _ := fun.X.(*ast.Ident)
			if from != nil && searches.MatchString(from.Name+"."+fun.Sel.Name) || (from == nil || from.Name != "strings") && patterns.MatchString(fun.Sel.Name) {
				for _, arg := range n.Args {
					if isReason(arg) {
						places = append(places, n.Pos())
						break
					}
				}
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil {
				break
			}
			for _, pattern := range reasonInSQL {
				if pattern.MatchString(text) {
					places = append(places, n.Pos())
				}
			}
		}
		return true
	})
	return places
}

// isReason reports that an expression is a reason, or its sentence.
func isReason(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return namesReason(e.Name)
	case *ast.SelectorExpr:
		return e.Sel.Name == "String" && isReason(e.X) || namesReason(e.Sel.Name)
	case *ast.CallExpr:
		return isReason(e.Fun)
	case *ast.ParenExpr:
		return isReason(e.X)
	}
	return false
}

func namesReason(name string) bool {
	return reasonName.MatchString(name) && !slices.Contains(codeNames, name)
}
