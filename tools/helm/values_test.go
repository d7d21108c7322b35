package helm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// value is a row of the table of values: a value, or a group of values that is described as one.
type value struct{ path, standard, text string }

// described returns the values that have a comment "# -- …" in values.yaml, and the paths of those that no comment covers.
func described(t *testing.T) (rows []value, bare []string) {
	raw, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	require.NoError(t, err)
	var file yaml.Node
	require.NoError(t, yaml.Unmarshal(raw, &file))
	var walk func(prefix string, node *yaml.Node)
	walk = func(prefix string, node *yaml.Node) {
		for i := 0; i < len(node.Content); i += 2 {
			key, inner := node.Content[i], node.Content[i+1]
			path := strings.TrimPrefix(prefix+"."+key.Value, ".")
			if text, ok := comment(key.HeadComment); ok {
				var standard any
				require.NoError(t, inner.Decode(&standard))
				short, err := json.Marshal(standard)
				require.NoError(t, err)
				rows = append(rows, value{path, string(short), text})
			} else if inner.Kind == yaml.MappingNode && len(inner.Content) > 0 {
				walk(path, inner)
			} else {
				bare = append(bare, path)
			}
		}
	}
	walk("", file.Content[0])
	return rows, bare
}

// comment returns the description in a comment, without its marks.
func comment(head string) (string, bool) {
	_, text, ok := strings.Cut(head, "# -- ")
	return strings.ReplaceAll(text, "\n# ", " "), ok
}

// plain are values whose name says everything.
var plain = []string{
	"image.pullPolicy", "pods.extraVolumeMounts", "pods.tolerations", "pods.affinity",
}

const tableStart, tableEnd = "<!-- values: start -->\n", "<!-- values: end -->"

func TestTheReadmesTableHasEveryValue(t *testing.T) {
	rows, bare := described(t)
	require.ElementsMatch(t, plain, bare, "describe these in values.yaml with # --")
	var table strings.Builder
	table.WriteString("| value | default | meaning |\n|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", row.path, strings.ReplaceAll(row.standard, "|", `\|`), row.text)
	}
	path := filepath.Join(chartDir, "README.md")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(raw), tableStart)
	require.True(t, found)
	_, after, found := strings.Cut(rest, tableEnd)
	require.True(t, found)
	want := before + tableStart + table.String() + tableEnd + after
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(raw), "run make chart-golden")
}

// A value that the schema lacks could not be set, and one that only the schema has would do nothing.
func TestTheSchemaHasTheValuesAndNoOthers(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.Unmarshal(raw, &values))
	raw, err = os.ReadFile(filepath.Join(chartDir, "values.schema.json"))
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(raw, &schema))
	delete(schema["properties"].(map[string]any), "global") // Helm's own
	compare(t, "values", values, schema)
}

func compare(t *testing.T, path string, values map[string]any, schema map[string]any) {
	t.Helper()
	properties, ok := schema["properties"].(map[string]any)
	if !ok || schema["additionalProperties"] != false {
		return // not ours: an object of the Kubernetes API, or the server's configuration
	}
	require.Equal(t, slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(values)), path)
	for name, inner := range values {
		if group, ok := inner.(map[string]any); ok {
			compare(t, path+"."+name, group, properties[name].(map[string]any))
		}
	}
}
