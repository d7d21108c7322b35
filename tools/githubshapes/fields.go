package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// writeFields writes, for every event that the description has a webhook of, the names at the top of its bodies, whatever the
// action.
func writeFields(doc object, out string) error {
	fields := map[string]map[string]bool{}
	hooks, _ := doc["x-webhooks"].(object)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		event, _ := at(hooks[name], "post", "x-github", "subcategory").(string)
		schema := at(hooks[name], "post", "requestBody", "content", "application/json", "schema")
		event = strings.ReplaceAll(event, "-", "_") // the documentation's spelling; the header's has no hyphen
		if event == "" || schema == nil {
			return fmt.Errorf("the webhook %s has no event or no body", name)
		}
		if fields[event] == nil {
			fields[event] = map[string]bool{}
		}
		collect(doc, schema, fields[event])
	}
	if len(fields) == 0 {
		return errors.New("the description has no webhooks")
	}
	lists := object{}
	for event, names := range fields {
		lists[event] = slices.Sorted(maps.Keys(names))
	}
	written, err := inLines(lists, 1)
	if err != nil {
		return fmt.Errorf("write the fields: %w", err)
	}
	return os.WriteFile(out, append(written, '\n'), 0o644)
}

// collect adds the names of a schema's properties, those of its alternatives too.
func collect(doc object, schema any, into map[string]bool) {
	one, _ := schema.(object)
	if ref, ok := one["$ref"].(string); ok {
		parts := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		collect(doc, at(doc, parts...), into)
		return
	}
	properties, _ := one["properties"].(object)
	for name := range properties {
		into[name] = true
	}
	for _, way := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := one[way].([]any)
		for _, other := range list {
			collect(doc, other, into)
		}
	}
}
