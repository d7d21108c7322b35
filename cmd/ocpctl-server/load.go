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

// loadConfig reads the file strictly and checks it for the roles: everything that is wrong is told at once, with its line
// or field and what would be accepted.
func loadConfig(path string, r roles) (config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return config{}, fmt.Errorf("read the configuration: %w", err)
	}
	cfg, bad := decode(raw)
	bad = append(bad, cfg.check(r)...)
	if err := errors.Join(bad...); err != nil {
		return config{}, fmt.Errorf("%s:\n%w", path, err)
	}
	return cfg, nil
}

// decode reads one YAML document over the defaults. What could not be read is told, and the rest is there to be checked.
func decode(raw []byte) (config, []error) {
	cfg := defaults()
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	err := dec.Decode(&cfg)
	if errors.Is(err, io.EOF) {
		return cfg, nil // an empty file says nothing
	}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		var bad []error
		for _, line := range typed.Errors {
			bad = append(bad, errors.New(inWords(line)))
		}
		return cfg, bad
	}
	if err != nil {
		return cfg, []error{err}
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return cfg, []error{errors.New("the file holds more than one YAML document; give one")}
	}
	return cfg, nil
}

var (
	unknownField = regexp.MustCompile(`^(line \d+): field (.+) not found in type (.+)$`)
	badDuration  = regexp.MustCompile("^(line \\d+): cannot unmarshal \\S+ `(.*)` into time.Duration$")
)

// inWords says what the YAML library complains of without Go's types, and with what would be accepted.
func inWords(complaint string) string {
	if m := unknownField.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: unknown field %s; known here are %s", m[1], m[2], strings.Join(fields(reflect.TypeOf(config{}))[m[3]], ", "))
	}
	if m := badDuration.FindStringSubmatch(complaint); m != nil {
		return fmt.Sprintf("%s: %s is no duration; give one with its unit, like 90s, 15m or 3h", m[1], m[2])
	}
	return complaint
}

// fields are the names a file may use, by the name of the Go type that holds them.
func fields(t reflect.Type) map[string][]string {
	known := map[string][]string{}
	for i := range t.NumField() {
		f := t.Field(i)
		known[t.String()] = append(known[t.String()], f.Tag.Get("yaml"))
		inner := f.Type
		if inner.Kind() == reflect.Slice {
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
