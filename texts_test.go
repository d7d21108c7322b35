package ocpctl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// messages has the texts that several places share. A text that one place needs stands there.
const messages = "chatops/messages"

func TestATextThatIsUsedOnceStandsWhereItIsUsed(t *testing.T) {
	needs := map[string][]string{} // by exported name: what it uses of its package
	for _, file := range parseFolder(t, messages) {
		for _, decl := range file.Decls {
			for name, node := range declared(decl) {
				needs[name] = namesIn(node)
			}
		}
	}
	within, outside := map[string]int{}, countUses(t)
	for name, used := range needs {
		for _, other := range used {
			if _, ours := needs[other]; ours && other != name {
				within[other]++
			}
		}
	}
	for name, used := range needs {
		sharesHelper := false
		for _, other := range used {
			_, ours := needs[other]
			sharesHelper = sharesHelper || ours && !ast.IsExported(other)
		}
		if ast.IsExported(name) && !sharesHelper && within[name] == 0 && outside[name] < 2 {
			t.Errorf("%s.%s is used %d times; write the text where it is used", messages, name, outside[name])
		}
	}
}

// declared returns the names that a declaration of package level makes.
func declared(decl ast.Decl) map[string]ast.Node {
	names := map[string]ast.Node{}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names[d.Name.Name] = d
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names[name.Name] = s
				}
			case *ast.TypeSpec:
				names[s.Name.Name] = s
			}
		}
	}
	return names
}

func namesIn(node ast.Node) (names []string) {
	ast.Inspect(node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
		return true
	})
	return names
}

func parseFolder(t *testing.T, folder string) (files []*ast.File) {
	paths, err := filepath.Glob(folder + "/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}

// countUses counts how often other folders use each name of the messages, in tests, too.
func countUses(t *testing.T) map[string]int {
	uses := map[string]int{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := s.X.(*ast.Ident); ok && id.Name == "messages" {
					uses[s.Sel.Name]++
				}
			}
			return true
		})
		return nil
	}))
	return uses
}
