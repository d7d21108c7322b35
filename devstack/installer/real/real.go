// Package real starts the real openshift-install and ccoctl (make build-installer) in the place of the stand-ins, as one version of the
// catalogue. The real installer runs every command except those that need machines: `create cluster`, `wait-for` and `gather` stay the
// stand-in's, and `create cluster` begins from the directory that the real installer made.
//
// A real program runs behind a gateway of this process, which counts its writes to the cloud for faults and trace as the stand-ins do, and
// goes on through the proxy of the environment. So the faults of package installer happen to real programs too; those that make a program
// leave something behind are played by the stand-in.
package real

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

const (
	// Variable is the folder with the real programs; without it, the stand-ins do everything.
	Variable = "OCPCTL_STANDIN_REAL"
	// UsageVariable is the path of a file to which each run of a real program adds a line.
	UsageVariable = "OCPCTL_STANDIN_USAGE"
)

// command is one call of a program.
type command struct {
	program string   // path of the real program
	args    []string // without the program's name
	key     string   // as in the faults; empty: it does nothing in a cloud
	cluster string
}

// keys are the commands' names in the faults, by the command line. What is not here has no faults, such as `version`.
var keys = map[string]string{
	"create manifests": "manifests", "create ignition-configs": "ignition-configs", "destroy cluster": "destroy",
	"aws create-all": "ccoctl-create", "ibmcloud create-service-id": "ccoctl-create", "aws delete": "ccoctl-delete", "ibmcloud delete-service-id": "ccoctl-delete",
}

// ours are the commands of openshift-install that stay the stand-in's.
var ours = []string{"create cluster", "wait-for", "gather", "destroy bootstrap"}

// find returns the call of a real program that takes the place of a stand-in's; false: the stand-in runs.
func find(args []string) (c command, real bool) {
	dir := os.Getenv(Variable)
	if dir == "" || release.VersionOf(args[0]) != installer.RealVersion {
		return c, false
	}
	line := words(args[1:])
	if slices.ContainsFunc(ours, func(own string) bool { return line == own || strings.HasPrefix(line, own+" ") }) {
		return c, false
	}
	c = command{program: filepath.Join(dir, filepath.Base(args[0])), args: args[1:], key: keys[line]}
	if c.key == "" {
		return c, true
	}
	c.cluster = c.clusterName()
	fault, err := installer.FindFault(os.Getenv(installer.FaultsVariable), c.key, c.cluster)
	return c, err == nil && len(fault.Leave) == 0 && len(fault.Leak) == 0
}

// words returns the command of a command line, without flags.
func words(args []string) string {
	end := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if end < 0 {
		end = len(args)
	}
	return strings.Join(args[:end], " ")
}

// flag returns the value of a flag.
func (c command) flag(name string) string {
	for i, arg := range c.args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
		if arg == "--"+name && i+1 < len(c.args) {
			return c.args[i+1]
		}
	}
	return ""
}

// clusterName is the name by which faults and trace know the cluster: ccoctl's name, or that in the install directory.
func (c command) clusterName() string {
	if name := c.flag("name"); name != "" {
		return name
	}
	dir := c.flag("dir")
	var config struct{ Metadata struct{ Name string } }
	if raw, err := os.ReadFile(filepath.Join(dir, "install-config.yaml")); err == nil && yaml.Unmarshal(raw, &config) == nil {
		return config.Metadata.Name
	}
	var metadata struct {
		ClusterName string `yaml:"clusterName"`
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "metadata.json")); err == nil && yaml.Unmarshal(raw, &metadata) == nil {
		return metadata.ClusterName
	}
	var state struct {
		Config struct {
			Config struct{ Metadata struct{ Name string } }
		} `yaml:"*installconfig.InstallConfig"`
	}
	if raw, err := os.ReadFile(filepath.Join(dir, ".openshift_install_state.json")); err == nil && yaml.Unmarshal(raw, &state) == nil {
		return state.Config.Config.Metadata.Name
	}
	return ""
}
