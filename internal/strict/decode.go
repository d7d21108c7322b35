package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// The faults of values.
const (
	Missing Fault = "missing"
	Invalid Fault = "invalid"
)

// Problem is what is wrong with a field of a JSON object.
type Problem struct {
	Name   string
	Fault  Fault
	Near   string   // for an unknown field, the known one that may be meant; empty: none is near
	Known  []string // for an unknown field, all that there are
	Got    string   // the beginning of an invalid value
	Accept string   // what a missing or invalid field needs
}

// Decode reads a JSON object into a struct, each field apart, so that it finds all problems at once. A field is required unless its
// tag has omitempty. The problems are sorted by name; with an error, the text is no object.
func Decode(text []byte, into any) ([]Problem, error) {
	target := reflect.ValueOf(into).Elem()
	known := Fields(target.Type())
	members, err := ObjectMembers(text, known)
	if err != nil {
		return nil, err
	}
	var wrong []Problem
	for _, m := range members {
		if m.Fault != "" {
			wrong = append(wrong, Problem{Name: m.Name, Fault: m.Fault, Near: m.Near, Known: known})
			continue
		}
		field := target.Field(slices.Index(known, m.Name))
		if err := decodeStrictly(m.Value, field.Addr().Interface()); err != nil {
			wrong = append(wrong, Problem{Name: m.Name, Fault: Invalid, Got: beginOf(m.Value), Accept: describeType(field.Type())})
		}
	}
	for i, name := range known {
		field := target.Type().Field(i)
		if !Has(members, name) && !strings.Contains(field.Tag.Get("json"), ",omit") {
			wrong = append(wrong, Problem{Name: name, Fault: Missing, Accept: describeType(field.Type)})
		}
	}
	slices.SortStableFunc(wrong, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
	return wrong, nil
}

// decodeStrictly parses a field. An object in it has no fields but the known ones.
func decodeStrictly(value json.RawMessage, into any) error {
	in := json.NewDecoder(bytes.NewReader(value))
	in.DisallowUnknownFields()
	return in.Decode(into)
}

// Fields returns the JSON names of a struct's fields, in their order.
func Fields(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// describeType says what type of value a field needs.
func describeType(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return describeType(t.Elem())
	case t.PkgPath() == "time" && t.Name() == "Time":
		return "an RFC 3339 time, e.g. 2026-03-01T18:00:00Z"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a whole number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return "a list of objects, each with some of " + strings.Join(Fields(t.Elem()), ", ")
	case t.Kind() == reflect.Slice:
		return "a list of strings"
	case t.Kind() == reflect.Map:
		return "an object with string values"
	}
	return "a string"
}

// beginOf returns the beginning of a refused value.
func beginOf(value json.RawMessage) string {
	const most = 40
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "…"
}
