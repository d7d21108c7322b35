package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// replace substitutes $(name) for each name.
func replace(text string, values map[string]string) string {
	for name, value := range values {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

// each substitutes in everything of a step that can have variables.
func (s Step) replaced(values map[string]string) Step {
	s.Image, s.Script = replace(s.Image, values), replace(s.Script, values)
	s.Env, s.VolumeMounts = slices.Clone(s.Env), slices.Clone(s.VolumeMounts)
	for i := range s.Env {
		s.Env[i].Value = replace(s.Env[i].Value, values)
	}
	for i := range s.VolumeMounts {
		s.VolumeMounts[i].Name = replace(s.VolumeMounts[i].Name, values)
	}
	return s
}

// bound are the values of parameters: as given, otherwise by default.
func bound(declared, given []Param) (map[string]string, error) {
	values := map[string]string{}
	for _, d := range declared {
		at := slices.IndexFunc(given, func(p Param) bool { return p.Name == d.Name })
		switch {
		case at >= 0:
			values["params."+d.Name] = given[at].Value
		case d.Default != nil:
			values["params."+d.Name] = *d.Default
		default:
			return nil, fmt.Errorf("the parameter %s is missing", d.Name)
		}
	}
	for _, p := range given {
		if _, known := values["params."+p.Name]; !known {
			return nil, fmt.Errorf("there is no parameter %s", p.Name)
		}
	}
	return values, nil
}

// Resolve returns the steps of a Task with every StepAction and every value filled in, but for the results of other steps, which exist
// only when those have run. more are further variables: contexts and workspaces.
func (c Catalog) Resolve(task Task, params []Param, more map[string]string) (_ []Step, err error) {
	defer must.Catch(&err)
	values := must.Get(bound(task.Params, params))
	for _, w := range task.Workspaces { // of those that are not bound
		values["workspaces."+w.Name+".path"], values["workspaces."+w.Name+".bound"] = "", "false"
	}
	maps.Copy(values, more)
	var out []Step
	for _, step := range task.Steps {
		if step.Ref.Name != "" {
			action, known := c.Actions[step.Ref.Name]
			must.FailIf(!known, "step %s: there is no StepAction %s", step.Name, step.Ref.Name)
			given := slices.Clone(step.Params)
			for i := range given {
				given[i].Value = replace(given[i].Value, values)
			}
			own, err := bound(action.Params, given)
			must.Wrap(err, "step %s", step.Name)
			action.Name, action.Params = step.Name, nil
			step = action.replaced(own)
		}
		step = step.replaced(values)
		for _, r := range step.Results {
			step.Script = replace(step.Script, map[string]string{"step.results." + r.Name + ".path": ResultPath(step.Name, r.Name)})
		}
		out = append(out, step)
	}
	return out, nil
}

// ResultPath is where a step writes a result, in its pod.
// https://tekton.dev/docs/pipelines/stepactions/#emitting-results
func ResultPath(step, result string) string {
	return "/tekton/steps/step-" + step + "/results/" + result
}
