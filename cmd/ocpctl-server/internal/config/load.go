package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/closest"
)

// Load reads the file, puts the process's environment over it, and checks the result for the roles; see Read.
func Load(path string, r Roles) (Config, error) {
	loaded, err := Read(path, os.Environ(), r)
	return loaded.Config, err
}

// Read reads the file strictly, puts the variables of env (KEY=value) over it, and checks the result for the roles: everything that
// is wrong is reported at once, with its field, its origin and what would be accepted. An empty path means that there is no file. With
// an error it returns what could be read.
func Read(path string, env []string, r Roles) (Loaded, error) {
	var raw []byte
	if path != "" {
		var err error
		if raw, err = os.ReadFile(path); err != nil {
			return Loaded{Config: Defaults()}, fmt.Errorf("read the configuration: %w; give -config FILE, or -config '' to use environment variables only", err)
		}
	}
	cfg, bad, whole := decodeDocument(raw)
	loaded := Loaded{Config: cfg, lines: map[string]int{}, variables: map[string]string{}}
	var document yaml.Node
	if yaml.Unmarshal(raw, &document) == nil {
		eachNode("", &document, func(field string, n *yaml.Node) bool {
			loaded.lines[normalField(field)] = n.Line
			return true
		})
	}
	bad = append(bad, loaded.overlayEnvironment(env)...)
	if whole {
		bad = append(bad, loaded.addOrigins(loaded.checkConfig(r))...)
	}
	if err := errors.Join(bad...); err != nil {
		return loaded, fmt.Errorf("%s:\n%w", cmp.Or(path, "the environment"), err)
	}
	return loaded, nil
}

// decodeDocument parses one YAML document over the defaults. If only single fields could not be parsed, the rest can be checked; whole says
// that sections could not be parsed, so that missing values in them should not be reported.
func decodeDocument(raw []byte) (cfg Config, bad []error, whole bool) {
	cfg = Defaults()
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	err := dec.Decode(&cfg)
	var typed *yaml.TypeError
	switch {
	case errors.Is(err, io.EOF):
		return cfg, nil, true // an empty file changes nothing
	case errors.As(err, &typed):
		whole = true
		for _, complaint := range typed.Errors {
			text, single := plainMessage(complaint)
			bad, whole = append(bad, errors.New(text)), whole && single
		}
		return cfg, bad, whole
	case err != nil:
		return cfg, []error{err}, false
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return cfg, []error{errors.New("the file contains more than one YAML document; give one")}, true
	}
	return cfg, nil, true
}

var (
	unknownField = regexp.MustCompile(`^(line \d+): field (.+) not found in type (.+)$`)
	badDuration  = regexp.MustCompile("^(line \\d+): cannot unmarshal \\S+ `(.*)` into time.Duration$")
	badValue     = regexp.MustCompile("^(line \\d+): cannot unmarshal \\S+ `(.*)` into (\\w+)$")
	badSection   = regexp.MustCompile(`^(line \d+): cannot unmarshal .* into (?:\[\])?((?:config|kubernetes)\.\w+)$`)
)

// plainMessage translates the YAML library's error: without Go types, and with what would be accepted. single: it is about one field only.
func plainMessage(complaint string) (text string, single bool) {
	known := fieldNames(reflect.TypeFor[Config]())
	if m := unknownField.FindStringSubmatch(complaint); m != nil {
		if near, ok := closest.Match(m[2], known[m[3]]); ok {
			return fmt.Sprintf("%s: field %s is not supported; did you mean %s?", m[1], m[2], near), true
		}
		return fmt.Sprintf("%s: field %s is not supported; supported here: %s", m[1], m[2], listFields(known[m[3]])), true
	}
	if m := badDuration.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: %s is not a duration; give one with a unit, such as 90s, 15m or 3h", m[1], m[2]), true
	}
	if m := badValue.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: %s is not a valid %s", m[1], m[2], m[3]), true
	}
	if m := badSection.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: this is a section; supported in it: %s", m[1], listFields(known[m[2]])), false
	}
	return complaint, false
}

// listFields lists the fields of a section, or names the page that explains them if there are many.
func listFields(names []string) string {
	if len(names) > 15 {
		return "the fields in docs/configuration.md"
	}
	return strings.Join(names, ", ")
}

// fieldNames returns the possible field names, by the name of the Go type that holds them.
func fieldNames(t reflect.Type) map[string][]string {
	known := map[string][]string{}
	for f := range t.Fields() {
		known[t.String()] = append(known[t.String()], f.Tag.Get("yaml"))
		inner := f.Type
		if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			maps.Copy(known, fieldNames(inner))
		}
	}
	return known
}
