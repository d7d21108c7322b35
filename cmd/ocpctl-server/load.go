package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// loadConfig reads the file strictly and checks it for the roles: everything that is wrong is reported at once, with its line or
// field and what would be accepted.
func loadConfig(path string, r roles) (config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return config{}, fmt.Errorf("read the configuration: %w", err)
	}
	cfg, bad, whole := decode(raw)
	if whole {
		bad = append(bad, cfg.check(r)...)
	}
	if err := errors.Join(bad...); err != nil {
		return config{}, fmt.Errorf("%s:\n%w", path, err)
	}
	return cfg, nil
}

// decode parses one YAML document over the defaults. If only single fields could not be parsed, the rest can be checked; whole says
// that sections could not be parsed, so that missing values in them should not be reported.
func decode(raw []byte) (cfg config, bad []error, whole bool) {
	cfg = defaults()
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
	badSection   = regexp.MustCompile(`^(line \d+): cannot unmarshal .* into (?:\[\])?((?:main|kubernetes)\.\w+)$`)
)

// plainMessage translates the YAML library's error: without Go types, and with what would be accepted. single: it is about one field only.
func plainMessage(complaint string) (text string, single bool) {
	known := func(section string) string { return strings.Join(fields(reflect.TypeOf(config{}))[section], ", ") }
	if m := unknownField.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: unknown field %s; known fields here: %s", m[1], m[2], known(m[3])), true
	}
	if m := badDuration.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: %s is not a duration; give one with a unit, such as 90s, 15m or 3h", m[1], m[2]), true
	}
	if m := badValue.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: %s is not a valid %s", m[1], m[2], m[3]), true
	}
	if m := badSection.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: this is a section; known fields in it: %s", m[1], known(m[2])), false
	}
	return complaint, false
}

// fields returns the possible field names, by the name of the Go type that holds them.
func fields(t reflect.Type) map[string][]string {
	known := map[string][]string{}
	for i := range t.NumField() {
		f := t.Field(i)
		known[t.String()] = append(known[t.String()], f.Tag.Get("yaml"))
		inner := f.Type
		if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			for name, list := range fields(inner) {
				known[name] = list
			}
		}
	}
	return known
}
