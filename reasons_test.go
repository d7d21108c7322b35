package ocpctl_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// textField is how fields, methods and variables are called that hold what a person reads, or why something is as it is.
var textField = regexp.MustCompile(`^(Fail|Error|Stuck|Hold|Desired|Decided|State|Stop|Sleep|Revoke|End)?([Aa]dvice|[Cc]aption|[Dd]etails?|[Dd]oubt|[Ee]xplanation|Free|[Hh]eading|Help|[Hh]int` +
	`|[Mm]essage|Next|[Nn]ote|[Pp]roblems?|[Rr]emark|[Ss]entence|[Ss]ummary|Text|[Tt]itle|[Tt]rouble|[Ww]arnings?|What|Words)$|(^why|Why|^reason|Reason)$`)

// codes are such names of which the value is a code.
var codes = []string{"FailReason", "StuckReason"}

// searches are the functions of strings and bytes that look into a text. Those that join or shorten it, such as TrimSpace, do not.
var searches = regexp.MustCompile(`^(Contains|Count|Cut|EqualFold|HasPrefix|HasSuffix|Index|LastIndex|Replace|Split|Trim(Prefix|Suffix)$)`)

// patterns are the methods and functions of package regexp that look into a text.
var patterns = regexp.MustCompile(`^(Match|Find|ReplaceAll|Split)`)

var letters = regexp.MustCompile(`[\pL\pN]`)

// column is how columns of such texts are called.
const column = `\w*(why|reason|message|note|words|trouble|problem|detail|summary|title|hint|next|finding)`

// textInSQL matches SQL that looks into such a column.
var textInSQL = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b` + column + `'?\)?\s+(not\s+)?(like|ilike|similar\s+to|~~?\*?|!~\*?)\s`),
	regexp.MustCompile(`(?i)\b(starts_with|position|strpos|split_part|regexp_\w+|left|right|substr|substring)\s*\([^;]{0,60}?\b` + column + `\b`),
}

// othersTexts are packages whose types hold what others wrote: people in Slack, and GitHub.
var othersTexts = []string{"chatops/slack/inbound", "chatops/github"}

// foreignTexts are the places that look into texts of others, or at the form of one, and how many.
var foreignTexts = map[string]int{
	"chatops/chatops.go":                      1, // a command that somebody wrote is parsed
	"internal/commands/commands.go":           1, // the word in backquotes names an option's value, as pflag reads it
	"internal/dispatch/kubernetes/trouble.go": 2, // Kubernetes' own reasons
	"runner/installer/failures.go":            6, // the installer's log; and the table that reads it is checked when the program starts
	"runner/installer/pattern.go":             1, // the installer's log and the cloud's words: there is no other source
	"runner/installer/refusal.go":             2, // likewise
	"store/attempts/wholelog.go":              2, // a person searches in a log, and the line that failed is marked
	"store/intake/intake.go":                  1, // the form of a code is checked
	"store/intake/scan.go":                    1, // likewise
}

// TestNothingLooksIntoAText holds that code and SQL decide by values, and never search what a person reads.
func TestNothingLooksIntoAText(t *testing.T) {
	program := loadProgram(t)
	var all []reader
	for _, one := range program.packages {
		all = append(all, program.check(t, one))
	}
	found := map[string][]string{}
	for _, at := range program.findSearches(all) {
		found[at.Filename] = append(found[at.Filename], at.String())
	}
	for path, n := range foreignTexts {
		require.Len(t, found[path], n, "%s looks into a text: the list of known places has another number", path)
		delete(found, path)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s: decide by a value; no code looks into what a person reads", strings.Join(found[path], ", "))
	}
}

// TestEachWayToLookIntoATextIsFound holds that each line with the comment "found" in testdata/searches is found, and no other.
func TestEachWayToLookIntoATextIsFound(t *testing.T) {
	path := "testdata/searches/searches.go"
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	var want, got []int
	for i, line := range strings.Split(string(source), "\n") {
		if strings.HasSuffix(line, "// found") {
			want = append(want, i+1)
		}
	}
	program := loadProgram(t)
	wrong := program.check(t, listedPackage{ImportPath: module + "testdata/searches", Dir: filepath.Dir(path), GoFiles: []string{filepath.Base(path)}})
	for _, at := range program.findSearches([]reader{wrong}) {
		got = append(got, at.Line)
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, got)
}

// program is the product's packages, and what they import as the compiler has it.
type program struct {
	files    *token.FileSet
	root     string
	packages []listedPackage
	imports  types.Importer
}

// listedPackage is what the go command says of a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

func loadProgram(t *testing.T) program {
	root, err := os.Getwd()
	require.NoError(t, err)
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", "./...").Output()
	require.NoError(t, err)
	p, exports := program{files: token.NewFileSet(), root: root}, map[string]string{}
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		var one listedPackage
		require.NoError(t, in.Decode(&one))
		exports[one.ImportPath] = one.Export
		if !one.DepOnly && !strings.HasPrefix(one.ImportPath, module+"devstack") { // stand-ins read texts as the product's users do
			p.packages = append(p.packages, one)
		}
	}
	p.imports = importer.ForCompiler(p.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return p
}

// check checks the types of a package.
func (p program) check(t *testing.T, of listedPackage) reader {
	r := reader{types: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}, holds: map[types.Object]bool{}}
	for _, name := range of.GoFiles {
		file, err := parser.ParseFile(p.files, filepath.Join(of.Dir, name), nil, 0)
		require.NoError(t, err)
		r.syntax = append(r.syntax, file)
	}
	_, err := (&types.Config{Importer: p.imports}).Check(of.ImportPath, p.files, r.syntax, r.types)
	require.NoError(t, err)
	return r
}

// findSearches returns where packages look into a text, in the order of their lines.
func (p program) findSearches(all []reader) (found []token.Position) {
	given := map[string]bool{}
	for before := -1; before < len(given); { // a function hands a text on to another one
		before = len(given)
		for _, r := range all {
			r.given = given
			for _, file := range r.syntax {
				ast.Inspect(file, r.keepTexts)
			}
		}
	}
	for _, r := range all {
		for _, file := range r.syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if r.looksInto(n) {
					at := p.files.Position(n.Pos())
					at.Filename = filepath.ToSlash(strings.TrimPrefix(at.Filename, p.root+"/"))
					found = append(found, at)
				}
				return true
			})
		}
	}
	return slices.CompactFunc(found, func(a, b token.Position) bool { return a.Filename == b.Filename && a.Line == b.Line })
}

// reader reads a package with the types of its expressions.
type reader struct {
	syntax []*ast.File
	types  *types.Info
	holds  map[types.Object]bool // variables that were given a text; true: as a parameter
	given  map[string]bool       // parameters of ours that are given a text, by function and position
}

// keepTexts keeps the variables and the parameters that are given a text.
func (r reader) keepTexts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if len(n.Rhs) == len(n.Lhs) {
				r.keepVariable(to, n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		for i, to := range n.Names {
			if i < len(n.Values) {
				r.keepVariable(to, n.Values[i])
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			r.keepVariable(n.Value, n.X)
		}
	case *ast.CallExpr:
		f := r.functionOf(n.Fun)
		if f == nil || !isOurs(f) {
			return true
		}
		for i, arg := range n.Args {
			last := f.Signature().Params().Len() - 1
			if at := min(i, last); r.isText(arg) && isWords(f.Signature().Params().At(at).Type()) {
				r.given[nameParameter(f, at)] = true
			}
		}
	case *ast.FuncDecl:
		f := r.types.Defs[n.Name].(*types.Func)
		for at := range f.Signature().Params().Len() {
			if r.given[nameParameter(f, at)] {
				r.holds[f.Signature().Params().At(at)] = true
			}
		}
	}
	return true
}

func nameParameter(f *types.Func, at int) string { return f.FullName() + " " + strconv.Itoa(at) }

// keepVariable keeps a variable if it is given a text.
func (r reader) keepVariable(to, value ast.Expr) {
	id, ok := to.(*ast.Ident)
	if !ok || id.Name == "_" || !r.isText(value) {
		return
	}
	of := cmp.Or(r.types.Defs[id], r.types.Uses[id])
	r.holds[of] = r.holds[of] || r.isGiven(value)
}

// isGiven reports that a text is known only because a caller passes it. A function that writes texts of any kind looks at their form.
func (r reader) isGiven(e ast.Expr) (given bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		given = given || ok && r.holds[r.types.Uses[id]]
		return true
	})
	return given
}

// looksInto reports that a call, a comparison, a switch or a constant with SQL looks into a text.
func (r reader) looksInto(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		f := r.functionOf(n.Fun)
		at := slices.IndexFunc(n.Args, r.isText)
		if f == nil || f.Pkg() == nil || at < 0 {
			return false
		}
		writes := strings.HasPrefix(f.Name(), "Replace")
		switch path := f.Pkg().Path(); {
		case path == "regexp":
			return patterns.MatchString(f.Name()) && !(writes && r.isGiven(n.Args[at]))
		case path != "strings" && path != "bytes" || f.Signature().Recv() != nil || !searches.MatchString(f.Name()):
			return false
		}
		for _, arg := range n.Args[1:] {
			if text, ok := r.constantOf(arg); ok && !letters.MatchString(text) { // a dot at the end, a quote or a line is form
				return !(writes || r.isGiven(n.Args[at]) || strings.HasPrefix(f.Name(), "Trim") || f.Name() == "HasSuffix" || strings.Trim(text, "\n") == "")
			}
		}
		return true
	case *ast.BinaryExpr:
		return (n.Op == token.EQL || n.Op == token.NEQ) && (r.isText(n.X) && r.isSentence(n.Y) || r.isText(n.Y) && r.isSentence(n.X))
	case *ast.SwitchStmt:
		if n.Tag == nil || !r.isText(n.Tag) {
			return false
		}
		for _, clause := range n.Body.List {
			if slices.ContainsFunc(clause.(*ast.CaseClause).List, r.isSentence) {
				return true
			}
		}
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		return n.Kind == token.STRING && err == nil && slices.ContainsFunc(textInSQL, func(p *regexp.Regexp) bool { return p.MatchString(text) })
	}
	return false
}

// functionOf returns the function or method that is called.
func (r reader) functionOf(e ast.Expr) (f *types.Func) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		f, _ = r.types.Uses[e.Sel].(*types.Func)
	case *ast.Ident:
		f, _ = r.types.Uses[e].(*types.Func)
	}
	return f
}

// isText reports that an expression is a text that people read, or is made of one.
func (r reader) isText(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return r.isText(e.X)
	case *ast.IndexExpr:
		return r.isText(e.X)
	case *ast.SliceExpr:
		return r.isText(e.X)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (r.isText(e.X) || r.isText(e.Y))
	case *ast.Ident:
		of := r.types.Uses[e]
		v, isVar := of.(*types.Var)
		_, held := r.holds[of]
		return held || isVar && isWords(v.Type()) && namesReason(e.Name)
	case *ast.SelectorExpr:
		of := r.types.Uses[e.Sel]
		return of != nil && isOurs(of) && isWords(of.Type()) && namesText(e.Sel.Name)
	case *ast.CallExpr:
		return r.makesText(e)
	}
	return false
}

// makesText reports that a call returns a text: a method that is called so, a reason's sentence, a conversion, or a text that is written otherwise.
func (r reader) makesText(call *ast.CallExpr) bool {
	if kind, ok := r.types.Types[call.Fun]; ok && kind.IsType() {
		return slices.ContainsFunc(call.Args, r.isText)
	}
	f := r.functionOf(call.Fun)
	switch {
	case f == nil || f.Pkg() == nil:
		return false
	case f.Name() == "String":
		return r.isText(ast.Unparen(call.Fun).(*ast.SelectorExpr).X)
	case isOurs(f):
		return isWords(f.Signature().Results()) && f.Signature().Params().Len() == 0 && namesText(f.Name())
	}
	return slices.Contains([]string{"bytes", "cmp", "fmt", "strings"}, f.Pkg().Path()) && slices.ContainsFunc(call.Args, r.isText)
}

// isSentence reports that an expression is a constant of several words.
func (r reader) isSentence(e ast.Expr) bool {
	text, ok := r.constantOf(e)
	return ok && strings.Contains(text, " ")
}

func (r reader) constantOf(e ast.Expr) (string, bool) {
	v := r.types.Types[e].Value
	switch {
	case v == nil:
		return "", false
	case v.Kind() == constant.Int: // a character
		char, ok := constant.Int64Val(v)
		return string(rune(char)), ok
	}
	return constant.StringVal(v), v.Kind() == constant.String
}

func isOurs(of types.Object) bool {
	if of.Pkg() == nil {
		return false
	}
	path, ours := strings.CutPrefix(of.Pkg().Path()+"/", module)
	return ours && !slices.Contains(othersTexts, strings.TrimSuffix(path, "/"))
}

// isWords reports that a type is a text, several of them, or a value that has a sentence.
func isWords(t types.Type) bool {
	switch u := t.(type) {
	case *types.Pointer:
		return isWords(u.Elem())
	case *types.Tuple:
		return u.Len() > 0 && isWords(u.At(0).Type())
	case *types.Signature:
		return isWords(u.Results())
	}
	if method, _, _ := types.LookupFieldOrMethod(t, true, nil, "String"); method != nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return isWords(u.Elem())
	}
	return false
}

func namesText(name string) bool { return textField.MatchString(name) && !slices.Contains(codes, name) }

// namesReason is namesText for variables: of these, only reasons have names of their own.
func namesReason(name string) bool {
	return regexp.MustCompile(`(?i)(why|reason)$`).MatchString(name) && !slices.Contains(codes, name)
}
