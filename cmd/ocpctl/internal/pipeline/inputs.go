package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// InputsVariable is the environment variable with an action's inputs, as the expression toJSON(inputs) gives them. A shell never sees
// their values.
const InputsVariable = "OCPCTL_INPUTS"

// Inputs are an action's inputs. It collects everything that is wrong with them, so that all of it can be told at once.
type Inputs struct {
	values map[string]string
	wrong  []exit.Field
}

// Inputs reads the step's inputs. known are the names that the action has.
func (r *Runner) Inputs(known []string) (*Inputs, error) {
	in := &Inputs{values: map[string]string{}}
	raw := r.env(InputsVariable)
	if raw == "" {
		return nil, exit.Misused("%s is not set: this command is run by the actions of ocpctl. See docs/actions.md of its repository", InputsVariable)
	}
	var given map[string]any
	if err := json.Unmarshal([]byte(raw), &given); err != nil {
		return nil, exit.Misused("read %s: %w", InputsVariable, err)
	}
	for name, value := range given {
		if value != nil {
			in.values[name] = strings.TrimSpace(fmt.Sprint(value))
		}
		if !slices.Contains(known, name) {
			in.Wrong(name, "This ocpctl does not know this input. Use an ocpctl of the action's release.", known...)
		}
	}
	slices.SortFunc(in.wrong, func(a, b exit.Field) int { return strings.Compare(a.Name, b.Name) })
	return in, nil
}

// Text returns an input without the white space around it; empty: not given.
func (in *Inputs) Text(name string) string { return in.values[name] }

// Bool returns an input that is true or false; empty is false.
func (in *Inputs) Bool(name string) bool {
	switch strings.ToLower(in.values[name]) {
	case "true":
		return true
	case "", "false":
	default:
		in.Wrong(name, fmt.Sprintf("%q is neither true nor false.", in.values[name]), "true", "false")
	}
	return false
}

// OneOf returns an input that is one of the accepted values, or empty.
func (in *Inputs) OneOf(name string, accepted ...string) string {
	value := in.values[name]
	if value != "" && !slices.Contains(accepted, value) {
		in.Wrong(name, fmt.Sprintf("%q is not supported.", value), accepted...)
	}
	return value
}

// Lines returns the values of an input that lists one on each line, or separated by commas.
func (in *Inputs) Lines(name string) (lines []string) {
	for line := range strings.FieldsFuncSeq(in.values[name], func(c rune) bool { return c == '\n' || c == ',' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Wrong notes that an input cannot be used.
func (in *Inputs) Wrong(name, detail string, accepted ...string) {
	in.wrong = append(in.wrong, exit.Field{Name: name, Detail: detail, Accepted: accepted})
}

// Err returns everything that was found wrong so far.
func (in *Inputs) Err() error {
	return exit.Wrong("The inputs are not complete or not valid.", in.wrong)
}
