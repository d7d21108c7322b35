//go:build installer

package real_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// seen is what a step of one installer leaves: the directory's files with their modes, the keys of its JSON, and what was printed.
type seen []string

// look lists a directory and the output, without what differs in each run.
func look(t *testing.T, dir, output string) (out seen) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path) // it is below
		out = append(out, fmt.Sprintf("file %s %s", info.Mode(), infraID.ReplaceAllString(name, "INFRA")))
		if filepath.Ext(path) != ".json" {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var document map[string]any
		if err := json.Unmarshal(raw, &document); err != nil {
			return err
		}
		for _, key := range keysOf("", document, name == "metadata.json") {
			out = append(out, "key "+name+" "+infraID.ReplaceAllString(key, "INFRA"))
		}
		return nil
	}))
	for line := range strings.Lines(output) {
		line = moment.ReplaceAllString(strings.ReplaceAll(infraID.ReplaceAllString(strings.TrimSpace(line), "INFRA"), dir, "DIR"), "TIME")
		out = append(out, "line "+line)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

var infraID = regexp.MustCompile(`shop-[a-z0-9]{5}\b`)

// keysOf returns the keys of a document, those within too if deep.
func keysOf(prefix string, of any, deep bool) (keys []string) {
	switch v := of.(type) {
	case map[string]any:
		for key, value := range v {
			keys = append(keys, prefix+key)
			if deep {
				keys = append(keys, keysOf(prefix+key+".", value, deep)...)
			}
		}
	case []any:
		for _, value := range v {
			keys = append(keys, keysOf(prefix, value, deep)...)
		}
	}
	return keys
}

// assets begins the keys of the state file. Of the real installer's, the stand-in has only those that it uses.
const assets = "key .openshift_install_state.json "

// differences lists what only the real installer has (+), and only the stand-in (-).
func differences(step string, real, standIn seen) (out []string) {
	for _, one := range real {
		if !slices.Contains(standIn, one) && !strings.HasPrefix(one, assets) {
			out = append(out, step+" + "+one)
		}
	}
	for _, one := range standIn {
		if !slices.Contains(real, one) {
			out = append(out, step+" - "+one)
		}
	}
	return out
}

// What the stand-in writes and prints is what the real installer does, but for what the golden files list. Of a cluster's creation and end
// only the files are compared: the real destroyer prints what it finds, in its own order, and `create cluster` is the stand-in's for both.
func TestTheStandInWritesWhatTheRealInstallerWrites(t *testing.T) {
	for name, c := range map[string]struct {
		start  func(testing.TB) *installertest.World
		config string
	}{
		"aws":      {installertest.Start, strings.Replace(installertest.InstallConfig("shop", "us-east-2", 3), "Mint", "Manual", 1)},
		"ibmcloud": {installertest.StartIBMCloud, installertest.IBMConfig("shop", ccoName, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.start(t))
			steps := []string{"create manifests", "create ignition-configs", "create cluster", "destroy cluster"}
			if w.IBM != nil { // as from the product: an image is left in it, which would keep a group of the installer's own
				_, err := w.IBM.Plant(ibmcloud.Resource{Service: "resource-controller", Type: "resource-group", Name: ccoName, State: "ACTIVE"})
				require.NoError(t, err)
			}
			left, cco := map[string]map[string]seen{}, w.credentials(c.config)
			for _, version := range []string{installer.RealVersion, installer.Versions()[0]} { // one after the other: both clusters have one name
				dir := installertest.Dir(t, c.config)
				left[version] = map[string]seen{}
				for _, step := range steps {
					said := w.must(version, "openshift-install", append(strings.Fields(step), "--dir", dir)...).Stderr
					if strings.HasSuffix(step, "cluster") {
						said = ""
					}
					left[version][step] = look(t, dir, said)
					if step == steps[0] {
						addCredentials(t, cco, dir)
					}
				}
			}
			var all []string
			for _, step := range steps {
				all = append(all, differences(step, left[installer.RealVersion][step], left[installer.Versions()[0]][step])...)
			}
			requireGolden(t, name+".differences", all)
		})
	}
}

// requireGolden compares lines with a file in testdata, which begins with comments: the reasons.
func requireGolden(t *testing.T, name string, lines []string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	kept, err := os.ReadFile(golden)
	require.NoError(t, err)
	var reasons, want []string
	for line := range strings.Lines(string(kept)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "#") {
			reasons = append(reasons, line)
		} else {
			want = append(want, line)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(append(reasons, lines...), "\n")+"\n"), 0o644))
		want = lines
	}
	require.Equal(t, want, lines)
}
