package api

import (
	_ "embed"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// written is openapi.yaml itself: it is served, rendered as the reference, and used to check parameters.
//
//go:embed openapi.yaml
var written []byte

// document is the part of openapi.yaml that this package uses itself. Orders are those of the file.
type document struct {
	Info  struct{ Title, Version, Description string }
	Tags  []struct{ Name, Description string }
	Paths ordered[pathItem]

	Components struct {
		Parameters ordered[parameter]
		Responses  ordered[answerSpec]
		Schemas    ordered[schema]
	}

	queries map[string][]string // "GET /api/v1/clusters" → the query parameters it takes
}

type pathItem struct {
	Parameters               []parameter
	Get, Post, Delete, Patch *operation
}

type operation struct {
	ID                   string `yaml:"operationId"`
	Tags                 []string
	Summary, Description string
	Parameters           []parameter
	Body                 *struct {
		Required bool
		Content  ordered[media]
	} `yaml:"requestBody"`
	Responses ordered[answerSpec]
	Security  *[]map[string][]string // nil: the document's
}

type parameter struct {
	Ref                   string `yaml:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                schema
}

type answerSpec struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     ordered[parameter]
	Content     ordered[media]
}

type media struct{ Schema schema }

type schema struct {
	Ref                       string `yaml:"$ref"`
	Type, Format, Description string
	Enum                      []string
	Items                     *schema
	MinItems                  int `yaml:"minItems"`
	Required                  []string
	Properties                ordered[schema]
	AllOf                     []schema  `yaml:"allOf"`
	Additional                yaml.Node `yaml:"additionalProperties"`
	Default, Example          any
}

// ordered is a YAML mapping that keeps its order.
type ordered[T any] []named[T]

type named[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		one := named[T]{Name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&one.Value); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		*o = append(*o, one)
	}
	return nil
}

func (o ordered[T]) getNamed(name string) (found T) {
	for _, one := range o {
		if one.Name == name {
			return one.Value
		}
	}
	return found
}

// call is an operation with its method and path.
type call struct {
	Method, Path string
	operation
	Shared []parameter // of its path
}

// listCalls returns all operations, in the document's order.
func (d *document) listCalls() []call {
	var all []call
	for _, p := range d.Paths {
		for _, o := range []struct {
			method string
			at     *operation
		}{{"GET", p.Value.Get}, {"POST", p.Value.Post}, {"DELETE", p.Value.Delete}, {"PATCH", p.Value.Patch}} {
			if o.at != nil {
				all = append(all, call{Method: o.method, Path: p.Name, operation: *o.at, Shared: p.Value.Parameters})
			}
		}
	}
	return all
}

// parametersOf returns the path's and the operation's parameters, with references resolved.
func (d *document) parametersOf(c call) []parameter {
	var all []parameter
	for _, p := range append(append([]parameter{}, c.Shared...), c.Parameters...) {
		if p.Ref != "" {
			p = d.Components.Parameters.getNamed(lastName(p.Ref))
		}
		all = append(all, p)
	}
	return all
}

// readDocument panics if the document cannot be parsed: it is part of the program, and tests parse it.
func readDocument() *document {
	d := &document{queries: map[string][]string{}}
	if err := yaml.Unmarshal(written, d); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err))
	}
	for _, c := range d.listCalls() {
		names := []string{}
		for _, p := range d.parametersOf(c) {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		d.queries[c.Method+" "+c.Path] = names
	}
	return d
}

// lastName returns the name at the end of a reference.
func lastName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
