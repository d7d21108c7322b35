package ocpctl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wordless are the areas that return facts: the texts for people about them stand in chatops and chatops/messages.
var wordless = []string{"app", "app/admin", "app/credentials", "app/notify", "app/pulls", "app/slack"}

// shownFields are the fields of an error, of a problem with a field and of a check that people read.
var shownFields = []string{"Message", "Detail", "Accept", "Next"}

// prose matches a literal with words: a letter and a space.
var prose = regexp.MustCompile(`[A-Za-z].* | .*[A-Za-z]`)

func TestTextsForPeopleStandInChatops(t *testing.T) {
	for _, folder := range wordless {
		files, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, text := range textsForPeople(file) {
				t.Errorf("%s: the text %s is for people; write it in chatops/messages, and call it here", set.Position(text.Pos()), text.Value)
			}
		}
	}
}

func TestATextForPeopleIsFound(t *testing.T) {
	for code, found := range map[string]int{
		`Fail(Conflict, "It is gone.")`:                                         1,
		`app.Fail(app.Conflict, fmt.Sprintf("%s is gone.", n))`:                 1,
		`app.Fail(app.Conflict, n+" is gone.")`:                                 1,
		`&app.Error{Kind: app.Invalid, Message: "It is gone."}`:                 1,
		`Field{Name: "a b", Detail: "it is", Accept: []string{"a, b", "c, d"}}`: 3,
		`Fail(Conflict, chatops.NameTaken("a b"))`:                              0,
		`Fail(Conflict, chatops.NoRole)`:                                        0,
		`Field{Name: n, Detail: a + " " + b}`:                                   0,
		`fmt.Errorf("read the clock: %w", err)`:                                 0,
		`policy.Check{Asked: "true", Accept: "false"}`:                          0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package x\nvar _ = "+code, parser.SkipObjectResolution)
		require.NoError(t, err, code)
		require.Len(t, textsForPeople(file), found, code)
	}
}

// textsForPeople returns the literals with words in the messages of errors and in the fields that people read.
func textsForPeople(file *ast.File) (texts []*ast.BasicLit) {
	collect := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isFromChatops(call.Fun) {
				return false // its arguments are facts
			}
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && prose.MatchString(text.Value) {
				texts = append(texts, text)
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if nameOf(n.Fun) == "Fail" && len(n.Args) > 1 {
				collect(n.Args[1])
			}
		case *ast.KeyValueExpr:
			if slices.Contains(shownFields, nameOf(n.Key)) {
				collect(n.Value)
			}
		}
		return true
	})
	return texts
}

// nameOf returns the name of a function or field, without its package.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func isFromChatops(e ast.Expr) bool {
	call, ok := e.(*ast.SelectorExpr)
	return ok && nameOf(call.X) == "chatops"
}
