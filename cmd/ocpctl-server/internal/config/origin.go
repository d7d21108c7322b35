package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Loaded is a configuration with the origin of each of its values.
type Loaded struct {
	Config

	lines     map[string]int    // of the file, by normal field
	variables map[string]string // that set a field, by normal field
}

// Origin returns where a field's value comes from: "default", "line 12" of the file, or the name of an environment variable.
func (l Loaded) Origin(field string) string {
	field = normalField(field)
	if name, ok := l.variables[field]; ok {
		return name
	}
	if line, ok := l.lines[field]; ok {
		return "line " + strconv.Itoa(line)
	}
	return "default"
}

// normalField spells a field in one way: repositories[0].team and repositories.0.team are the same.
func normalField(field string) string {
	return strings.ReplaceAll(strings.ReplaceAll(field, "[", "."), "]", "")
}

// eachNode visits the values of a YAML document with their fields, and those inside a value if visit asks for them.
func eachNode(field string, n *yaml.Node, visit func(field string, n *yaml.Node) (inside bool)) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if field != "" && !visit(field, n) {
		return
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			eachNode(fmt.Sprintf("%s[%d]", field, i), child, visit)
		case n.Kind == yaml.MappingNode && i%2 == 1:
			eachNode(strings.TrimPrefix(field+"."+n.Content[i-1].Value, "."), child, visit)
		case n.Kind == yaml.DocumentNode:
			eachNode(field, child, visit)
		}
	}
}

// leadingField matches the field with which an error begins.
var leadingField = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+|\[[^\]]*\])*`)

// addOrigins puts the origin of its field in front of each error: the line, the variable, "default" or "not set".
func (l Loaded) addOrigins(bad []error) (out []error) {
	for _, err := range bad {
		field := leadingField.FindString(err.Error())
		if field == "" { // an environment variable, which names itself
			out = append(out, err)
			continue
		}
		origin := l.Origin(field)
		for up := field; origin == "default" && strings.Contains(up, "["); { // missing in a list's entry: the entry's line
			up = up[:strings.LastIndexAny(up, ".[")]
			origin = l.Origin(up)
		}
		if origin == "default" && isZero(field) {
			origin = "not set"
		}
		out = append(out, fmt.Errorf("%s: %w", origin, err))
	}
	return out
}

// isZero reports whether the default of a field is nothing.
func isZero(field string) bool {
	defaults, zero := Defaults(), true
	eachField("", reflect.ValueOf(&defaults).Elem(), func(path string, v reflect.Value) {
		zero = zero && (path != field || v.IsZero())
	})
	return zero
}
