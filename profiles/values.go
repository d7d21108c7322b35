package profiles

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// optional makes a field optional.
func optional(f field) field {
	f.optional = true
	return f
}

// kind lets a file state its kind, as in "kind: Policy", which its folder already implies.
func kind(name string) field {
	var said string
	return optional(choice("kind", &said, name))
}

// text is a string field whose values ok accepts.
func text(name string, into *string, accept string, ok func(string) bool) field {
	return field{name: name, accept: accept, read: func(n *yaml.Node, _ string) bool {
		return scalar(n, "!!str") && ok(n.Value) && put(into, n.Value)
	}}
}

// choice is a string field with a fixed set of values.
func choice(name string, into *string, values ...string) field {
	return text(name, into, "one of "+strings.Join(values, ", "), func(s string) bool { return slices.Contains(values, s) })
}

// whole is an integer field with bounds.
func whole(name string, into *int, least, most int) field {
	return field{name: name, accept: fmt.Sprintf("a whole number from %d to %d", least, most), read: func(n *yaml.Node, _ string) bool {
		v, err := strconv.Atoi(n.Value)
		return scalar(n, "!!int") && err == nil && v >= least && v <= most && put(into, v)
	}}
}

// hours is an integer field that is read as a duration.
func hours(name string, into *time.Duration, most int) field {
	var v int
	f := whole(name, &v, 1, most)
	read := f.read
	f.read = func(n *yaml.Node, path string) bool { return read(n, path) && put(into, time.Duration(v)*time.Hour) }
	return f
}

// span is a duration field, always above zero.
func span(name string, into *time.Duration, most time.Duration) field {
	accept := fmt.Sprintf("a duration such as 1h or 90m, above 0 and at most %gh", most.Hours())
	return field{name: name, accept: accept, read: func(n *yaml.Node, _ string) bool {
		d, ok := duration.Parse(n.Value)
		return scalar(n, "!!str") && ok && d > 0 && d <= most && put(into, d)
	}}
}

// boolean is a field with true or false.
func boolean(name string, into *bool) field {
	return field{name: name, accept: "true or false", read: func(n *yaml.Node, _ string) bool {
		v, err := strconv.ParseBool(n.Value)
		return scalar(n, "!!bool") && err == nil && put(into, v)
	}}
}

func put[T any](into *T, v T) bool {
	*into = v
	return true
}
