// Package strict reads documents that people and programs write, in YAML or JSON, strictly: one document, no field that is not known,
// none twice. It reports everything that is wrong at once, as values; its callers say it in words.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/closest"
)

// ErrEmpty means that there is no document.
var ErrEmpty = errors.New("it is empty")

// SyntaxError is what the parser does not understand.
type SyntaxError struct {
	Line int // 1 if the parser names none
	Text string
	err  error
}

// Error is the parser's text with the line.
func (e *SyntaxError) Error() string { return strings.TrimPrefix(e.err.Error(), "yaml: ") }

// SeveralError means that there is another document. The first one was read.
type SeveralError struct{ Line int }

func (*SeveralError) Error() string { return "there is more than one document" }

// Read reads a body with one document in YAML, of which JSON is a part.
func Read(body io.Reader) (*yaml.Node, error) {
	docs := yaml.NewDecoder(body)
	var doc yaml.Node
	if err := docs.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, ErrEmpty
	} else if err != nil {
		return nil, newSyntaxError(err)
	}
	root := doc.Content[0]
	if second := new(yaml.Node); !errors.Is(docs.Decode(second), io.EOF) {
		return root, &SeveralError{max(second.Line, root.Line)}
	}
	return root, nil
}

// newSyntaxError takes the line out of the parser's message.
func newSyntaxError(err error) *SyntaxError {
	line, said := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if at, rest, found := strings.Cut(strings.TrimPrefix(said, "line "), ":"); found {
		if n, err := strconv.Atoi(at); err == nil && n > 0 {
			line, said = n, strings.TrimSpace(rest)
		}
	}
	return &SyntaxError{Line: line, Text: said, err: err}
}

// IsString reports whether a value is a string.
func IsString(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// Fault is what is wrong with a name in an object.
type Fault string

// The faults.
const (
	Unknown Fault = "unknown"
	Twice   Fault = "twice"
)

// Member is a name in an object with its value.
type Member[V any] struct {
	Name  string
	Key   *yaml.Node // nil in JSON
	Value V
	Fault Fault  // empty: none
	Near  string // for an unknown name, the known one that may be meant; empty: none is near
}

// Members returns the members of a mapping in their order. known are the names that it may have; nil: any.
func Members(mapping *yaml.Node, known []string) []Member[*yaml.Node] {
	members := make([]Member[*yaml.Node], 0, len(mapping.Content)/2)
	for pair := range slices.Chunk(mapping.Content, 2) {
		members = append(members, Member[*yaml.Node]{Name: pair[0].Value, Key: pair[0], Value: pair[1]})
	}
	return checkNames(members, known)
}

// ObjectMembers returns the members of the one object that a JSON text is.
func ObjectMembers(text []byte, known []string) ([]Member[json.RawMessage], error) {
	if err := json.Unmarshal(text, new(map[string]json.RawMessage)); err != nil {
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			return nil, fmt.Errorf("it is a JSON %s, not an object", typed.Value)
		}
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	if start, _ := in.Token(); start != json.Delim('{') { // null
		return nil, errors.New("it is not a single object")
	}
	var members []Member[json.RawMessage]
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, Member[json.RawMessage]{Name: name.(string), Value: value})
	}
	return checkNames(members, known), nil
}

func checkNames[V any](members []Member[V], known []string) []Member[V] {
	seen := make(map[string]bool, len(members))
	for i := range members {
		m := &members[i]
		switch {
		case seen[m.Name]:
			m.Fault = Twice
		case known != nil && !slices.Contains(known, m.Name):
			m.Fault = Unknown
			m.Near, _ = closest.Match(m.Name, known)
		}
		seen[m.Name] = true
	}
	return members
}

// Has reports whether one of the members has a name.
func Has[V any](members []Member[V], name string) bool {
	return slices.ContainsFunc(members, func(m Member[V]) bool { return m.Name == name })
}
