package helm_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// bareValues returns the values of values.yaml that no comment "# -- …" explains, neither their own nor that of a group around them.
func bareValues(t *testing.T) (bare []string) {
	raw, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	require.NoError(t, err)
	var file yaml.Node
	require.NoError(t, yaml.Unmarshal(raw, &file))
	var walk func(prefix string, node *yaml.Node)
	walk = func(prefix string, node *yaml.Node) {
		for i := 0; i < len(node.Content); i += 2 {
			key, inner := node.Content[i], node.Content[i+1]
			path := strings.TrimPrefix(prefix+"."+key.Value, ".")
			switch {
			case strings.Contains(key.HeadComment, "# -- "):
			case inner.Kind == yaml.MappingNode && len(inner.Content) > 0:
				walk(path, inner)
			default:
				bare = append(bare, path)
			}
		}
	}
	walk("", file.Content[0])
	return bare
}

// plain are values whose name says everything.
var plain = []string{
	"image.pullPolicy", "pods.extraVolumeMounts", "migrations.extraVolumeMounts", "pods.tolerations", "pods.affinity",
	"components.server.extraVolumeMounts", "components.hooks.extraVolumeMounts", "components.api.extraVolumeMounts", "components.worker.extraVolumeMounts",
}

// helm show values prints the file, which is the chart's reference.
func TestEveryValueIsExplained(t *testing.T) {
	require.ElementsMatch(t, plain, bareValues(t), "describe these in values.yaml with # --")
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
