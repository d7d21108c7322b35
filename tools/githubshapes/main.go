// Githubshapes takes out of GitHub's published OpenAPI description the pure shapes of a few operations and webhooks:
// paths, parameters, required fields, types and enums, none of its words. The stand-in GitHub and what the wire sends
// are tested against them.
//
//	go run ./githubshapes -in api.github.com.json -version 23.0.2 -out ../devstack/github/testdata/github.json -fields ../app/hooks/fields.json
//
// Beside them it writes which names stand at the top of each webhook's body, by which the public listener tells them apart.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

type object = map[string]any

func main() {
	in := flag.String("in", "", "GitHub's description: generated/api.github.com.json of @octokit/openapi")
	out := flag.String("out", "", "where the shapes go")
	fields := flag.String("fields", "", "where the names at the top of webhooks' bodies go")
	version := flag.String("version", "", "the package's version")
	flag.Parse()
	if err := run(*in, *out, *fields, *version); err != nil {
		log.Fatal(err)
	}
}

func run(in, out, fields, version string) error {
	raw, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("read the description: %w", err)
	}
	var doc object
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("read the description %s: %w", in, err)
	}
	small, err := shrink(doc, version)
	if err != nil {
		return err
	}
	written, err := inLines(small, 3)
	if err != nil {
		return fmt.Errorf("write the shapes: %w", err)
	}
	if err := os.WriteFile(out, append(written, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the shapes: %w", err)
	}
	return writeFields(doc, fields)
}

// inLines writes an object with a line for each thing down to a depth, so that a change can be read.
func inLines(v any, depth int) ([]byte, error) {
	m, ok := v.(object)
	if !ok || depth == 0 || len(m) == 0 {
		return json.Marshal(v)
	}
	out := []byte("{")
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		inside, err := inLines(m[k], depth-1)
		if err != nil {
			return nil, err
		}
		out = append(append(append(append(out, '\n'), name...), ':'), inside...)
	}
	return append(out, "\n}"...), nil
}

// shrink keeps the listed operations and webhooks and what they refer to. A webhook becomes the path
// /webhooks/name that takes its payload, so that any OpenAPI library can check it.
func shrink(doc object, version string) (object, error) {
	paths := object{}
	for _, op := range operations {
		method, path, _ := strings.Cut(op, " ")
		item, _ := at(doc, "paths", path).(object)
		found, ok := item[strings.ToLower(method)].(object)
		if !ok {
			return nil, fmt.Errorf("the description has no operation %s", op)
		}
		into, _ := paths[path].(object)
		if into == nil {
			into = object{}
		}
		into[strings.ToLower(method)] = operation(found)
		paths[path] = into
	}
	for _, name := range webhooks {
		found, ok := at(doc, "x-webhooks", name, "post").(object)
		if !ok {
			return nil, fmt.Errorf("the description has no webhook %s", name)
		}
		hook := operation(found)
		hook["parameters"] = []any{}
		paths["/webhooks/"+name] = object{"post": hook}
	}
	mend(paths)
	components, err := reached(doc, paths)
	if err != nil {
		return nil, err
	}
	return object{
		"openapi": doc["openapi"],
		"info": object{
			"title": "Shapes of GitHub's REST API, made by make github-shapes out of @octokit/openapi " + version +
				" (generated/api.github.com.json; MIT, Copyright GitHub and Octokit contributors)",
			"version": version, "license": object{"name": "MIT"},
		},
		"paths": paths, "components": components,
	}, nil
}

// mend puts right where the description cannot be meant: the list of installations says that an account is a user and
// an enterprise at once. A single installation says it well.
func mend(paths object) {
	content := at(paths, "/app/installations", "get", "responses", "200", "content", "application/json", "schema")
	if list, ok := content.(object); ok {
		list["items"] = object{"$ref": "#/components/schemas/installation"}
	}
}

func at(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(object)
		v = m[k]
	}
	return v
}

// operation keeps of an operation what has a shape.
func operation(op object) object {
	out := object{"responses": object{}}
	for _, k := range []string{"operationId", "parameters", "requestBody"} {
		if v, ok := op[k]; ok {
			out[k] = bare(v)
		}
	}
	responses, _ := op["responses"].(object)
	for status, r := range responses {
		if status[0] == '2' || status[0] == '3' {
			one, _ := bare(r).(object)
			delete(one, "headers")
			if _, refers := one["$ref"]; !refers {
				one["description"] = "" // the one word that OpenAPI asks for
			}
			out["responses"].(object)[status] = one
		}
	}
	return out
}

var wordy = []string{"description", "summary", "title", "example", "examples", "externalDocs", "tags", "deprecated", "default", "headers"}

// bare takes the words away. What stands below properties are names, not keywords.
func bare(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, x := range v {
			if slices.Contains(wordy, k) || strings.HasPrefix(k, "x-") {
				continue
			}
			names, _ := x.(object)
			if k == "properties" && names != nil {
				props := object{}
				for name, schema := range names {
					props[name] = bare(schema)
				}
				out[k] = props
				continue
			}
			out[k] = bare(x)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, x := range v {
			out = append(out, bare(x))
		}
		return out
	}
	return v
}

// reached are the components that the paths refer to, and those refer to in turn.
func reached(doc, paths object) (object, error) {
	out, todo := object{}, refs(paths, nil)
	for len(todo) > 0 {
		ref := todo[0]
		todo = todo[1:]
		parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
		if len(parts) != 2 {
			return nil, fmt.Errorf("a reference of an unknown kind: %s", ref)
		}
		kind, _ := out[parts[0]].(object)
		if kind == nil {
			kind = object{}
			out[parts[0]] = kind
		}
		if _, done := kind[parts[1]]; done {
			continue
		}
		found := at(doc, "components", parts[0], parts[1])
		if found == nil {
			return nil, fmt.Errorf("the description lacks %s", ref)
		}
		one := bare(found)
		if parts[0] == "responses" {
			one.(object)["description"] = ""
		}
		kind[parts[1]] = one
		todo = refs(one, todo)
	}
	return out, nil
}

func refs(v any, to []string) []string {
	switch v := v.(type) {
	case object:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if ref, ok := v[k].(string); ok && k == "$ref" {
				to = append(to, ref)
				continue
			}
			to = refs(v[k], to)
		}
	case []any:
		for _, x := range v {
			to = refs(x, to)
		}
	}
	return to
}
