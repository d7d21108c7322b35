package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The file in deploy lists every field as a configuration: with its default, and with the comment of the field in the code.
func TestTheExampleListsEveryField(t *testing.T) {
	const example = "../../../../deploy/ocpctl.yaml"
	var b strings.Builder
	b.WriteString("# Every setting of ocpctl-server with its default and what it means; docs/configuration.md has what one must think about.\n" +
		"# Written by go test ./cmd/ocpctl-server/internal/config -update. Copy what you change.\n\n")
	writeFields(t, &b, fieldComments(t), "", reflect.ValueOf(Defaults()))
	if *update {
		require.NoError(t, os.WriteFile(example, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(example)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "go test ./cmd/ocpctl-server/internal/config -update writes it")
	require.NoError(t, yaml.Unmarshal(have, new(Config)), "it is a configuration")
}

// writeFields writes the fields of a section as YAML.
func writeFields(t *testing.T, b *strings.Builder, comments map[string]string, indent string, section reflect.Value) {
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		name, comment := field.Tag.Get("yaml"), comments[section.Type().Name()+"."+field.Name]
		if field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct {
			var entry strings.Builder
			writeFields(t, &entry, comments, indent+"    ", reflect.New(field.Type.Elem()).Elem())
			fmt.Fprintf(b, "%s%s: # %s\n%s", indent, name, comment, strings.Replace(entry.String(), indent+"    ", indent+"  - ", 1))
			continue
		}
		if field.Type.Kind() == reflect.Struct {
			fmt.Fprintf(b, "%s%s:\n", indent, name)
			writeFields(t, b, comments, indent+"  ", value)
			continue
		}
		require.NotEmpty(t, comment, "%s.%s has no comment", section.Type().Name(), field.Name)
		line := indent + name + ":"
		if !value.IsZero() {
			raw, err := yaml.Marshal(value.Interface())
			require.NoError(t, err)
			standard := strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(strings.TrimSpace(string(raw)))
			if field.Type.Kind() == reflect.Map {
				fmt.Fprintf(b, "%s # %s\n%s  %s\n", line, comment, indent, strings.ReplaceAll(standard, "\n", "\n"+indent+"  "))
				continue
			}
			line += " " + standard
		}
		fmt.Fprintf(b, "%s # %s\n", line, comment)
	}
}

// fieldComments returns what stands behind or above each field of a section in the code, by type and field.
func fieldComments(t *testing.T) map[string]string {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	comments := map[string]string{}
	for _, path := range append([]string{"../../../../internal/dispatch/kubernetes/config.go"}, files...) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.TypeSpec)
			if !is {
				return true
			}
			if section, is := spec.Type.(*ast.StructType); is {
				for _, field := range section.Fields.List {
					for _, name := range field.Names {
						comments[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()+field.Comment.Text()), " ")
					}
				}
			}
			return true
		})
	}
	return comments
}

// After launch_patience an attempt is closed, and what the alert reads is 0 again.
func TestARunnerThatDoesNotStartIsToldBeforeItsAttemptIsClosed(t *testing.T) {
	alerts, err := os.ReadFile("../../../../deploy/alerts.yaml")
	require.NoError(t, err)
	found := regexp.MustCompile(`max\(ocpctl_attempt_unclaimed_seconds\) > (\d+)\n +for: (\w+)\n`).FindSubmatch(alerts)
	require.NotNil(t, found)
	least, err := time.ParseDuration(string(found[1]) + "s")
	require.NoError(t, err)
	lasts, err := time.ParseDuration(string(found[2]))
	require.NoError(t, err)
	const scrapes = 2 * time.Minute
	require.Less(t, least+lasts+scrapes, Defaults().Limits.LaunchPatience)
}
