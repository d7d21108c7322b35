package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fieldPrefix begins a format that selects one field of an answer, e.g. field=destroyAt.
const fieldPrefix = "field="

// Field returns the path that a format selects, e.g. versions.default; ok is false if it selects none.
func (f Format) Field() (path string, ok bool) {
	path, ok = strings.CutPrefix(string(f), fieldPrefix)
	return path, ok && path != ""
}

// Known reports whether the format can be given.
func (f Format) Known() bool {
	_, field := f.Field()
	return field || f == People || slices.Contains(Formats(), string(f))
}

// Lines returns the field of an answer at a path of names with dots between them, for scripts: one line for a value, and one for each
// value of a list. A name after a list is looked for in each of its objects.
func Lines(raw []byte, path string) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var answer any
	if err := decoder.Decode(&answer); err != nil {
		return nil, fmt.Errorf("parse the response as JSON: %w", err)
	}
	found := []any{answer}
	for name := range strings.SplitSeq(path, ".") {
		var next []any
		for _, one := range flattenLists(found) {
			object, _ := one.(map[string]any)
			value, ok := object[name]
			if !ok {
				return nil, fmt.Errorf("the answer has no field %q of %q; it has %s", name, path, strings.Join(slices.Sorted(maps.Keys(object)), ", "))
			}
			next = append(next, value)
		}
		found = next
	}
	var lines []string
	for _, value := range flattenLists(found) {
		if object, is := value.(map[string]any); is {
			return nil, fmt.Errorf("the field %q is an object; give one of its fields: %s", path, strings.Join(slices.Sorted(maps.Keys(object)), ", "))
		}
		lines = append(lines, string(Escaped([]byte(strings.ReplaceAll(fmt.Sprint(value), "\n", " ")))))
	}
	return lines, nil
}

// flattenLists replaces lists by their elements.
func flattenLists(values []any) []any {
	var out []any
	for _, value := range values {
		if list, is := value.([]any); is {
			out = append(out, flattenLists(list)...)
			continue
		}
		out = append(out, value)
	}
	return out
}
