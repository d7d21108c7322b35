//go:build installer

package real_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer"
	runner "github.com/ocpctl/ocpctl/runner/installer"
)

// recordedRefusals are lines of real teardowns, which the runner's own tests read.
const recordedRefusals = "../../../runner/installer/testdata/refused.yaml"

// refused is a line of a real destroyer about a resource that the cloud did not delete, and what ocpctl reads in it.
type refused struct {
	Teardown string `yaml:"teardown"`
	Reason   string `yaml:"reason"`
	Resource string `yaml:"resource"`
	Line     string `yaml:"line"`
}

// refusing are teardowns in which the cloud refuses to delete a resource of each type in a way of its own. The installer ends machines first,
// and on IBM Cloud removes one kind after the other.
var refusing = []struct {
	failing
	types map[string]string // how each is protected; "pin": as if something used it
}{
	{failing{name: "a machine on AWS"}, map[string]string{"instance": "termination"}},
	{failing{name: "all but machines on AWS"}, map[string]string{
		"loadbalancer": "deletion", "security-group": "pin", "role": "boundary", "subnet": "scp", "elastic-ip": "permission",
	}},
	{failing{name: "ccoctl on AWS", cco: true}, map[string]string{"role": "permission", "oidc-provider": "scp"}},
	{failing{name: "a machine on IBM Cloud", ibm: true}, map[string]string{"instance": "permission"}},
	{failing{name: "a load balancer on IBM Cloud", ibm: true}, map[string]string{"load-balancer": "in-use"}},
	{failing{name: "ccoctl on IBM Cloud", ibm: true, cco: true}, map[string]string{"serviceid": "locked"}},
}

// insists is how long a destroyer is watched that cannot end.
const insists = 100 * time.Second

func TestEachRefusalOfTheRealDestroyersIsRead(t *testing.T) {
	got := make([][]refused, len(refusing))
	var all sync.WaitGroup
	for i, c := range refusing {
		w, config := c.start(t)
		cmd := w.teardown(c.failing, config)
		for typ, how := range c.types {
			w.protect(typ, how)
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		all.Go(func() {
			guard := time.AfterFunc(insists, func() { _ = cmd.Process.Kill() })
			defer guard.Stop()
			_ = cmd.Wait() // it is killed
			got[i] = readRefusals(c.name, out.String())
		})
	}
	all.Wait()
	lines := slices.Concat(got...)
	if *update {
		raw, err := yaml.Marshal(lines)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(recordedRefusals, append([]byte("# What the real destroyers printed about what the stand-in clouds refused to delete (make test-installer), and what ocpctl reads in it.\n"), raw...), 0o644))
	}
	kept, err := os.ReadFile(recordedRefusals)
	require.NoError(t, err)
	var want []refused
	require.NoError(t, yaml.Unmarshal(kept, &want))
	require.Equal(t, reasons(want), reasons(lines))
}

// teardown makes what is torn down, and returns the command that does it.
func (w *world) teardown(f failing, config string) *exec.Cmd {
	w.t.Helper()
	if f.cco {
		create := w.begin(f, config, true)
		require.NoError(w.t, create.cmd.Run())
		if f.ibm {
			return w.command("ccoctl", "ibmcloud", "delete-service-id", "--name", ccoName, "--credentials-requests-dir", w.requests(installer.RealVersion, config), "--force")
		}
		return w.command("ccoctl", "aws", "delete", "--name", ccoName, "--region", "us-east-2")
	}
	dir := w.prepare(installer.RealVersion, config, "")
	made := w.run(installer.RealVersion, "openshift-install", "create", "cluster", "--dir", dir)
	require.Equal(w.t, 6, made.Code, "only its operators fail, which have no credentials: %s", made.Stderr)
	return w.command("openshift-install", "destroy", "cluster", "--dir", dir, "--log-level=debug")
}

// protect makes the cloud refuse to delete one resource of a type.
func (w *world) protect(typ, how string) {
	w.t.Helper()
	id := ""
	protect, pin := w.faultyResources()
	for _, line := range w.Left(w.t, "shop") {
		if fields := strings.Fields(line); fields[0] == typ && id == "" {
			id = fields[1]
		}
	}
	require.NotEmpty(w.t, id, typ)
	if how == "pin" {
		require.NoError(w.t, pin(id))
		return
	}
	require.NoError(w.t, protect(id, how))
}

func (w *world) faultyResources() (protect func(id, how string) error, pin func(id string) error) {
	if w.IBM != nil {
		return w.IBM.Protect, w.IBM.Pin
	}
	return w.AWS.Protect, w.AWS.Pin
}

// readRefusals returns the first line about each resource.
func readRefusals(teardown, output string) []refused {
	found := map[string]refused{}
	for line := range strings.Lines(output) {
		line = infraID.ReplaceAllString(strings.TrimRight(line, "\n"), "shop-x7k2p")
		if r, ok := runner.RefusalIn(line); ok {
			if _, known := found[r.Reason+r.Resource]; !known {
				found[r.Reason+r.Resource] = refused{teardown, r.Reason, r.Resource, line}
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b refused) int { return strings.Compare(a.Reason+a.Resource, b.Reason+b.Resource) })
}

// reasons are those of each teardown.
func reasons(of []refused) map[string][]string {
	out := map[string][]string{}
	for _, r := range of {
		if !slices.Contains(out[r.Teardown], r.Reason) {
			out[r.Teardown] = append(out[r.Teardown], r.Reason)
		}
	}
	return out
}
