package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/strict"
)

// reader reads one file's YAML nodes and collects problems instead of stopping at the first.
type reader struct {
	file     string
	problems Problems
	lines    map[string]int // the line of each field, for checks that compare fields
	columns  map[string]int // the column of each field; nil: problems have no columns
	shown    int            // characters of a value that are quoted; 0: sixty
	gitHub   []string       // issuers of GitHub Actions besides the known ones
	embedded bool           // the file is built into the program and completes a catalogue of another folder
	page     string         // the page that explains the fields; empty: their names are always listed
}

// field is a key that a mapping may have. Every field is required unless optional.
type field struct {
	name     string
	accept   string
	optional bool
	read     func(n *yaml.Node, path string) bool // false: not accepted
}

func (r *reader) fail(line int, path, got, accept string) {
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Field: path, Got: got, Accept: accept})
}

// failOn reports a problem at a node.
func (r *reader) failOn(n *yaml.Node, path, got, accept string) {
	r.fail(n.Line, path, got, accept)
	if r.columns != nil {
		r.problems[len(r.problems)-1].Column = n.Column
	}
}

// good reports that every path was read without a problem, so that its values may be compared.
func (r *reader) good(paths ...string) bool {
	for _, path := range paths {
		if _, read := r.lines[path]; !read || r.wrong(path) {
			return false
		}
	}
	return true
}

// wrong reports that there is a problem with the path or below it.
func (r *reader) wrong(path string) bool {
	return slices.ContainsFunc(r.problems, func(p Problem) bool {
		rest, under := strings.CutPrefix(p.Field, path)
		return under && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// document reads the one YAML document of a body; what names it for people. nil: there is a problem and nothing to read.
func (r *reader) document(body []byte, what string) *yaml.Node {
	root, err := strict.Read(bytes.NewReader(body))
	var syntax *strict.SyntaxError
	var several *strict.SeveralError
	switch {
	case errors.Is(err, strict.ErrEmpty):
		r.fail(1, "", "an empty file", "one "+what)
	case errors.As(err, &syntax):
		r.fail(syntax.Line, "", syntax.Text, "valid YAML")
	case errors.As(err, &several):
		r.fail(several.Line, "", "more than one document", "one "+what+" per file")
	}
	return root
}

// failAt reports a problem that was found by comparing fields.
func (r *reader) failAt(path, got, accept string) {
	r.fail(r.lines[path], path, got, accept)
	r.problems[len(r.problems)-1].Column = r.columns[path]
}

// stands records the position of a field.
func (r *reader) stands(path string, n *yaml.Node) {
	r.lines[path] = n.Line
	if r.columns != nil {
		r.columns[path] = n.Column
	}
}

// sortProblems returns the problems in the order of the file.
func (r *reader) sortProblems() Problems { return r.problems.Sorted() }

// object reads a mapping. Unknown, duplicate and missing keys are problems, and so is every value that its field refuses.
func (r *reader) object(n *yaml.Node, path string, fields ...field) {
	if n.Kind != yaml.MappingNode {
		r.failOn(n, path, r.show(n), "a mapping with "+r.names(fields))
		return
	}
	members := strict.Members(n, namesOf(fields))
	for _, m := range members {
		at := join(path, m.Name)
		switch m.Fault {
		case strict.Unknown:
			r.failOn(m.Key, join(path, r.key(m.Key)), "not supported", r.suggestKey(m.Near, fields))
		case strict.Twice:
			r.failOn(m.Key, at, "given twice", "one "+m.Name)
		default:
			r.stands(at, m.Value)
			f := fields[slices.IndexFunc(fields, func(f field) bool { return f.name == m.Name })]
			if !f.read(m.Value, at) {
				r.failOn(m.Value, at, r.show(m.Value), f.accept)
			}
		}
	}
	for _, f := range fields {
		if !f.optional && !strict.Has(members, f.name) {
			r.failOn(n, join(path, f.name), "missing", f.accept)
		}
	}
}

// inner returns a field that is a mapping itself.
func (r *reader) inner(name string, fields ...field) field {
	return field{name: name, accept: "a mapping with " + r.names(fields), read: func(n *yaml.Node, path string) bool {
		r.object(n, path, fields...)
		return true
	}}
}

// items returns a field that is a list of at least one item; each reads one item and appends it.
func (r *reader) items(name, accept string, each func(n *yaml.Node, path string) bool) field {
	list := "a list of at least one: " + accept
	return field{name: name, accept: list, read: func(n *yaml.Node, path string) bool {
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			return false
		}
		for i, item := range n.Content {
			at := fmt.Sprintf("%s[%d]", path, i)
			r.stands(at, item)
			if !each(item, at) {
				r.failOn(item, at, r.show(item), accept)
			}
		}
		return true
	}}
}

// objects returns a field that is a list of at least one mapping; what names an entry for people, fields returns the fields of the
// next entry.
func (r *reader) objects(name, what string, fields func(at string) []field) field {
	return r.items(name, what, func(n *yaml.Node, path string) bool {
		r.object(n, path, fields(path)...)
		return true
	})
}

// texts returns a field that is a list of at least one string without duplicates.
func (r *reader) texts(name string, into *[]string, accept string, ok func(string) bool) field {
	return r.items(name, accept, func(n *yaml.Node, path string) bool {
		switch {
		case n.Kind == yaml.ScalarNode && !scalar(n, "!!str"):
			r.failOn(n, path, r.show(n), accept+", in quotes")
		case !scalar(n, "!!str") || !ok(n.Value):
			return false
		case slices.Contains(*into, n.Value):
			r.failOn(n, path, r.show(n)+" again", "each once")
		}
		*into = append(*into, n.Value)
		return true
	})
}

func scalar(n *yaml.Node, tag string) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == tag }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// mostNamed is how many fields a message lists. Where there are more, it names the page that explains them.
const mostNamed = 15

func (r *reader) names(fields []field) string {
	if len(fields) > mostNamed && r.page != "" {
		return "the fields in " + r.page
	}
	return strings.Join(namesOf(fields), ", ")
}

func namesOf(fields []field) []string {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}
