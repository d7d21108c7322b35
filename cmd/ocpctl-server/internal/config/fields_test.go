package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
)

// documented returns the fields that the tables of docs/configuration.md name in their first column. A name that begins with a dot
// continues the section of the one before it.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile("../../../../docs/configuration.md")
	require.NoError(t, err)
	_, page, found := strings.Cut(string(raw), "| field | default | meaning |")
	require.True(t, found)
	names := map[string]bool{}
	for _, line := range strings.Split(page, "\n")[1:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		section := ""
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			name := strings.TrimSuffix(quoted[1], "[]")
			if rest, same := strings.CutPrefix(name, "."); same {
				name = section + rest
			}
			section = name[:strings.LastIndex(name, ".")+1]
			names[name] = true
		}
	}
	return names
}

// settable returns the names of all fields, with [] after a list of sections.
func settable(path string, t reflect.Type) (names []string) {
	switch {
	case t.Kind() == reflect.Struct:
		for field := range t.Fields() {
			names = append(names, settable(strings.TrimPrefix(path+"."+field.Tag.Get("yaml"), "."), field.Type)...)
		}
		return names
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return settable(path+"[]", t.Elem())
	}
	return []string{path}
}

func TestEveryFieldIsDocumentedAndNoOther(t *testing.T) {
	documented := documented(t)
	delete(documented, "runner.kubernetes.*") // it has a table of its own
	for _, name := range settable("", reflect.TypeFor[Config]()) {
		if strings.HasPrefix(name, "runner.kubernetes.") {
			continue
		}
		require.True(t, documented[name], "%s is missing in docs/configuration.md", name)
		delete(documented, name)
	}
	require.Empty(t, documented, "docs/configuration.md names fields that do not exist")
}

func TestEveryFieldForJobsIsDocumentedAndNoOther(t *testing.T) {
	raw, err := os.ReadFile("../../../../docs/configuration.md")
	require.NoError(t, err)
	_, page, found := strings.Cut(string(raw), "| field of `runner.kubernetes` | default | meaning |\n")
	require.True(t, found)
	table, _, _ := strings.Cut(page, "\n\n")
	documented := map[string]bool{}
	for _, line := range strings.Split(table, "\n")[1:] {
		column, _, _ := strings.Cut(line[1:], "(") // the fields of a section's entries
		column, _, _ = strings.Cut(column, "|")
		for _, quoted := range regexp.MustCompile("`([a-z_]+)").FindAllStringSubmatch(column, -1) {
			documented[quoted[1]] = true
		}
	}
	fields := map[string]bool{}
	settings := reflect.TypeFor[kubernetes.Settings]()
	for field := range settings.Fields() {
		fields[field.Tag.Get("yaml")] = true
	}
	require.Equal(t, fields, documented)
}

func TestEveryFieldSaysWhatItIs(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	fields := 0
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				fields++
				require.True(t, field.Doc != nil || field.Comment != nil, "%s: %s has no comment", path, field.Names)
			}
			return true
		})
	}
	require.Greater(t, fields, 80)
}
