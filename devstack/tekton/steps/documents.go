// Package steps runs the steps of Tekton's Tasks as processes of this machine: parameters are substituted as Tekton substitutes them,
// scripts run in a shell, and volumes, workspaces and results are directories that are laid out as in a pod.
//
// It knows as much of Tekton as the documents in workflows/tekton use. tools/tekton compares it with Tekton's own code. It isolates
// nothing.
package steps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Param is a parameter as it is declared, with its default, or as it is given, with its value.
type Param struct {
	Name    string  `yaml:"name"`
	Default *string `yaml:"default"`
	Value   string  `yaml:"value"`
}

// Result is a declared result. Value takes it from a step.
type Result struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// Env is a variable of a step, with a value or from a label of the pod.
type Env struct {
	Name      string `yaml:"name"`
	Value     string `yaml:"value"`
	ValueFrom struct {
		FieldRef struct {
			FieldPath string `yaml:"fieldPath"`
		} `yaml:"fieldRef"`
	} `yaml:"valueFrom"`
}

// Mount is where a volume is in a step.
type Mount struct {
	Name      string `yaml:"name"`
	MountPath string `yaml:"mountPath"`
}

// Step is a step of a Task, or what a StepAction makes of one.
type Step struct {
	Name string `yaml:"name"`
	Ref  struct {
		Name string `yaml:"name"`
	} `yaml:"ref"`
	Params       []Param  `yaml:"params"`
	Results      []Result `yaml:"results"`
	Image        string   `yaml:"image"`
	Env          []Env    `yaml:"env"`
	VolumeMounts []Mount  `yaml:"volumeMounts"`
	Script       string   `yaml:"script"`
}

// Volume is a volume of a Task. A projected one has the service account's token, and maybe more.
type Volume struct {
	Name      string `yaml:"name"`
	Projected *struct {
		Sources []struct {
			ServiceAccountToken struct {
				Audience string `yaml:"audience"`
				Path     string `yaml:"path"`
			} `yaml:"serviceAccountToken"`
		} `yaml:"sources"`
	} `yaml:"projected"`
}

// Task is the spec of a Task.
type Task struct {
	Params     []Param  `yaml:"params"`
	Results    []Result `yaml:"results"`
	Workspaces []struct {
		Name string `yaml:"name"`
	} `yaml:"workspaces"`
	Volumes []Volume `yaml:"volumes"`
	Steps   []Step   `yaml:"steps"`
}

// PipelineTask is a task of a Pipeline.
type PipelineTask struct {
	Name    string  `yaml:"name"`
	Params  []Param `yaml:"params"`
	TaskRef struct {
		Name string `yaml:"name"`
	} `yaml:"taskRef"`
	TaskSpec *Task `yaml:"taskSpec"`
}

// Pipeline is the spec of a Pipeline.
type Pipeline struct {
	Params  []Param        `yaml:"params"`
	Tasks   []PipelineTask `yaml:"tasks"`
	Finally []PipelineTask `yaml:"finally"`
}

// Catalog is what Tasks refer to, by name.
type Catalog struct {
	Tasks   map[string]Task
	Actions map[string]Step // StepActions; their Params are declared ones
}

type document struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec yaml.Node `yaml:"spec"`
}

// Load reads the Tasks and StepActions of a directory.
func Load(dir string) (Catalog, error) {
	c := Catalog{map[string]Task{}, map[string]Step{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return c, err
	}
	for _, file := range files {
		err := each(file, func(d document) error {
			switch d.Kind {
			case "Task":
				var task Task
				err := d.Spec.Decode(&task)
				c.Tasks[d.Metadata.Name] = task
				return err
			case "StepAction":
				var action Step
				err := d.Spec.Decode(&action)
				c.Actions[d.Metadata.Name] = action
				return err
			}
			return fmt.Errorf("%s is neither a Task nor a StepAction", d.Kind)
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// LoadRun reads a PipelineRun with its Pipeline from a file.
func LoadRun(file string) (pipeline Pipeline, params []Param, err error) {
	err = each(file, func(d document) error {
		var spec struct {
			Params       []Param  `yaml:"params"`
			PipelineSpec Pipeline `yaml:"pipelineSpec"`
		}
		if d.Kind != "PipelineRun" {
			return fmt.Errorf("%s is no PipelineRun", d.Kind)
		}
		err := d.Spec.Decode(&spec)
		pipeline, params = spec.PipelineSpec, spec.Params
		return err
	})
	return pipeline, params, err
}

// each reads the documents of a file.
func each(file string, use func(document) error) (err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(file))
	for decoder := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var d document
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		must.Wrap(use(d), "read %s", file)
	}
}
