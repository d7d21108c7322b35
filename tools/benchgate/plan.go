package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// plan is ranges.yaml.
type plan struct {
	Turns int `yaml:"turns"` // of each side
	// Accepted are operations that may cost more than the base until the next tag, each with the reason.
	Accepted map[string]string `yaml:"accepted,omitempty"`
	Runs     []benchRun        `yaml:"runs"`
}

// benchRun is one process of a test binary.
type benchRun struct {
	Package string `yaml:"package"` // as for go test: ./store
	Bench   string `yaml:"bench"`   // as for go test -bench
	Times   string `yaml:"times"`   // as for go test -benchtime: 500x
	// Process is for a benchmark that does not measure its own processor time: that of its whole process counts.
	Process bool `yaml:"process,omitempty"`
	// Ranges say for each operation and unit by how many percent more than the base is still noise.
	Ranges map[string]percents `yaml:"ranges,omitempty"`
}

// percents are by unit.
type percents map[string]float64

// MarshalYAML writes them on one line.
func (p percents) MarshalYAML() (any, error) {
	var node yaml.Node
	err := node.Encode(map[string]float64(p))
	node.Style = yaml.FlowStyle
	return &node, err
}

func readPlan(path string) (p plan, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return plan{}, err
	}
	strict := yaml.NewDecoder(bytes.NewReader(raw))
	strict.KnownFields(true)
	if err := strict.Decode(&p); err != nil {
		return plan{}, fmt.Errorf("%s: %w", path, err)
	}
	if p.Turns < 1 || len(p.Runs) == 0 {
		return plan{}, fmt.Errorf("%s: it needs runs, and at least one turn", path)
	}
	return p, nil
}

// writeRanges writes the plan back with its ranges. The comment at the head of the file stays.
func writeRanges(path string, p plan) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(raw) {
		if line[0] != '#' {
			break
		}
		out.Write(line)
	}
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(p), encoder.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
