// Package real starts the real openshift-install and ccoctl (make build-installer) in the place of the stand-ins, as one version of the
// catalogue. The real installer runs every command except those that need machines: `create cluster`, `wait-for` and `gather` stay the
// stand-in's, and `create cluster` begins from the directory that the real installer made. With CreateVariable, `create cluster` on AWS is
// real too: the installer with the programs of Cluster API within it (make build-cluster-api), and package cluster as what it creates.
//
// A real program runs behind a gateway of this process, which counts its writes to the cloud for faults and trace as the stand-ins do, and
// goes on through the proxy of the environment. So the faults of package installer happen to real programs too; those that make a program
// leave something behind are played by the stand-in.
package real

import (
	"cmp"
	"encoding/json"
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
	// CreateVariable makes `create cluster` on AWS real, if it is set.
	CreateVariable = "OCPCTL_STANDIN_REAL_CREATE"

	// creator is the installer that can create a cluster, and createKey the name of that command in the faults.
	creator, createKey = "openshift-install-create", "create"
)

// command is one call of a program.
type command struct {
	program string   // path of the real program
	args    []string // without the program's name
	key     string   // as in the faults; empty: it does nothing in a cloud
	cluster string
	on      string // the platform; empty: unknown
}

// keys are the commands' names in the faults, by the command line. What is not here has no faults, such as `version`.
var keys = map[string]string{
	"create manifests": "manifests", "create ignition-configs": "ignition-configs", "destroy cluster": "destroy",
	"aws create-all": "ccoctl-create", "ibmcloud create-service-id": "ccoctl-create", "aws delete": "ccoctl-delete", "ibmcloud delete-service-id": "ccoctl-delete",
}

const createCluster = "create cluster"

// ours are the commands of openshift-install that stay the stand-in's.
var ours = []string{createCluster, "wait-for", "gather", "destroy bootstrap"}

// find returns the call of a real program that takes the place of a stand-in's; false: the stand-in runs.
func find(args []string) (c command, real bool) {
	dir := os.Getenv(Variable)
	if dir == "" || release.VersionOf(args[0]) != installer.RealVersion {
		return c, false
	}
	line := words(args[1:])
	c = command{program: filepath.Join(dir, filepath.Base(args[0])), args: args[1:], key: keys[line]}
	c.cluster, c.on = c.readConfig()
	if line == createCluster && c.on == "aws" && os.Getenv(CreateVariable) != "" {
		c.program, c.key = filepath.Join(dir, creator), createKey
		return c, c.isPlain()
	}
	if slices.ContainsFunc(ours, func(own string) bool { return line == own || strings.HasPrefix(line, own+" ") }) {
		return c, false
	}
	return c, c.key == "" || c.isPlain()
}

// isPlain reports that no fault makes the command leave something behind, which only the stand-in can.
func (c command) isPlain() bool {
	fault, err := installer.FindFault(os.Getenv(installer.FaultsVariable), c.key, c.cluster)
	return err == nil && len(fault.Leave) == 0 && len(fault.Leak) == 0
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

// installConfig is what is read of an install-config.
type installConfig struct {
	Metadata struct{ Name string }
	Platform map[string]any
}

// readConfig returns the name by which faults and trace know the cluster (ccoctl's name, or that in the install directory), and its platform.
func (c command) readConfig() (name, platform string) {
	if name := c.flag("name"); name != "" {
		return name, ""
	}
	dir := c.flag("dir")
	var config installConfig
	var metadata struct {
		ClusterName string `yaml:"clusterName"`
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "metadata.json")); err == nil {
		_ = yaml.Unmarshal(raw, &metadata) // empty: the others are asked
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "install-config.yaml")); err != nil || yaml.Unmarshal(raw, &config) != nil {
		var state struct {
			Config struct{ Config installConfig } `json:"*installconfig.InstallConfig"`
		}
		if raw, err := os.ReadFile(filepath.Join(dir, ".openshift_install_state.json")); err == nil && json.Unmarshal(raw, &state) == nil {
			config = state.Config.Config
		}
	}
	for platform = range config.Platform {
		break
	}
	return cmp.Or(config.Metadata.Name, metadata.ClusterName), platform
}
