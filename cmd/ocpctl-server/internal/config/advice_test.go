package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/runner/installer"
)

func TestTheAdviceOnFailedInstallsNamesOnlyWhatExists(t *testing.T) {
	const name = "profiles/aws-standard.yaml"
	raw, err := fs.ReadFile(profiles.EmbeddedFiles(), name)
	require.NoError(t, err)
	raw = append(raw, "spot: workers\n"...) // no profile that is built in has it
	_, err = profiles.Load(fstest.MapFS{name: {Data: raw}})
	require.NoError(t, err, "the catalogue has only known fields")
	var profile map[string]any
	require.NoError(t, yaml.Unmarshal(raw, &profile))
	server := settable("", reflect.TypeFor[Config]())
	checked := 0
	for _, c := range slices.Concat(installer.Classes(), installer.RefusalClasses()) {
		for _, name := range c.Settings.Profile {
			var at any = profile
			for part := range strings.SplitSeq(name, ".") {
				section, ok := at.(map[string]any)
				require.True(t, ok, "%s: %s", c.Reason, name)
				at = section[part]
			}
			require.NotNil(t, at, "%s advises to change %s, which no profile has", c.Reason, name)
			checked++
		}
		for _, name := range c.Settings.Server {
			require.Contains(t, server, name, c.Reason)
			checked++
		}
		for _, name := range c.Settings.Variables {
			require.NotEmpty(t, dispatch.Allowed([]string{name + "=x"}), "%s: runner.env accepts no %s", c.Reason, name)
			checked++
		}
		for _, name := range c.Settings.Files {
			_, err := os.Stat(filepath.Join("../../../..", name))
			require.NoError(t, err, c.Reason)
			checked++
		}
	}
	require.Greater(t, checked, 20)
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
