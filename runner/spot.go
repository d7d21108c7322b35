package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// workerSets are the manifests of the workers' machine sets, one for each zone.
const workerSets = "openshift/99_openshift-cluster-api_worker-machineset-*.yaml"

// orderSpot makes the workers spot machines, in the manifests that the installer just wrote. Without a maximum price, they cost at most what
// machines on demand do (https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/machine_management/).
func (a *attempt) orderSpot() error {
	if !a.spec.Spot {
		return nil
	}
	unusable := func(why string) error {
		return failure{
			Reason: "MachineSetsUnusable", Whose: contract.WhoseInstaller, Message: "the workers cannot be ordered as spot machines: " + why + ", so nothing was installed",
			Next: "ask an administrator to take spot out of the profile, or to offer another version than " + a.spec.Version,
		}
	}
	paths, err := filepath.Glob(filepath.Join(a.dir, workerSets))
	if err != nil {
		return fmt.Errorf("find the workers' machine sets: %w", err)
	}
	if len(paths) == 0 {
		return unusable("the installer wrote no machine set of workers")
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a machine set: %w", err)
		}
		if raw, err = withSpot(raw); err != nil {
			return unusable(filepath.Base(path) + ": " + err.Error())
		}
		if err := os.WriteFile(path, raw, 0o640); err != nil {
			return fmt.Errorf("write a machine set: %w", err)
		}
	}
	a.noteLine("the workers are ordered as spot machines")
	return nil
}

// withSpot returns a machine set of AWS whose machines are spot machines. Everything else stays as it was written.
func withSpot(raw []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil || len(document.Content) == 0 {
		return nil, errors.New("it is not YAML")
	}
	at := document.Content[0]
	if kind := fieldOf(at, "kind"); kind == nil || kind.Value != "MachineSet" {
		return nil, errors.New("it is not a MachineSet")
	}
	for _, name := range []string{"spec", "template", "spec", "providerSpec", "value"} {
		if at = fieldOf(at, name); at == nil {
			return nil, errors.New("it has no spec.template.spec.providerSpec.value")
		}
	}
	if at.Kind != yaml.MappingNode {
		return nil, errors.New("its spec.template.spec.providerSpec.value is not a mapping")
	}
	if fieldOf(at, "spotMarketOptions") == nil {
		at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "spotMarketOptions"}, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
	}
	var out bytes.Buffer
	to := yaml.NewEncoder(&out)
	to.SetIndent(2)
	if err := to.Encode(&document); err != nil {
		return nil, err
	}
	return out.Bytes(), to.Close()
}

// fieldOf returns the value of a mapping's field; nil: there is none.
func fieldOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// hearMachines asks a cluster whose workers were ordered as spot machines why they did not come: the installer only says that they did not.
func (a *attempt) hearMachines(ctx context.Context, exit installer.Exit) {
	kubeconfig := filepath.Join(a.dir, "auth", "kubeconfig")
	if _, err := os.Stat(kubeconfig); !a.spec.Spot || !isLate(exit) || err != nil {
		return
	}
	oc, err := a.tools.OC()
	if err != nil {
		a.noteLine("the machines' state could not be asked: there is no oc for the cluster's release: %v", err)
		return
	}
	a.oc, a.kubeconfig = oc, kubeconfig
	for _, line := range a.listComplaints(ctx) {
		a.hearInstaller(line)
	}
}
