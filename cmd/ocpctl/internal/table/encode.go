package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Format is an output format.
type Format string

// The forms.
const (
	People Format = ""
	Wide   Format = "wide"
	JSON   Format = "json"
	YAML   Format = "yaml"
	Name   Format = "name"
)

// Formats lists the possible formats besides those that select a field; see Lines.
func Formats() []string { return []string{"json", "yaml", "name", "wide"} }

// Encode writes an answer unchanged, as indented JSON or as YAML, with its members in their order.
func Encode(out io.Writer, format Format, raw []byte) error {
	if format == JSON {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
			return fmt.Errorf("parse the response as JSON: %w", err)
		}
		b.WriteByte('\n')
		_, err := out.Write(Escaped(b.Bytes()))
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	node, err := readValue(decoder)
	if err != nil {
		return fmt.Errorf("parse the response as JSON: %w", err)
	}
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	return errors.Join(encoder.Encode(node), encoder.Close())
}

// Escaped replaces terminal control characters with JSON's escapes: the same text for programs that parse it. Servers already escape
// the others.
func Escaped(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, isControl) {
		return raw
	}
	var b bytes.Buffer
	for _, r := range string(raw) {
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.Bytes()
}

// isControl reports whether a character moves a terminal's cursor or reverses its text. Each has a \u escape.
func isControl(r rune) bool { return r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) }

// readValue converts the next JSON value to a YAML node. It keeps the order of an object's members, which a map would lose.
func readValue(from *json.Decoder) (*yaml.Node, error) {
	token, err := from.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if value == '{' {
			node.Kind = yaml.MappingNode
		}
		for from.More() { // an object's names are values like the others here
			child, err := readValue(from)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		_, err := from.Token()
		return node, err
	case string:
		var node yaml.Node
		node.SetString(value) // quotes what YAML would read as something else
		if node.Style == yaml.LiteralStyle && strings.ContainsAny(value[:1], " \t\n") {
			node.Style = yaml.DoubleQuotedStyle // some parsers fail on a block that begins with a blank
		}
		if slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, strings.ToLower(value)) {
			node.Style = yaml.DoubleQuotedStyle // true and false in YAML 1.1
		}
		return &node, nil
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(value.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(value)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// With adds a member at the end of a JSON object, for what ocpctl knows besides the server's answer.
func With(raw []byte, name string, value any) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '{' || raw[len(raw)-1] != '}' {
		return nil, errors.New("the response is not a JSON object")
	}
	member, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSpace(raw[1 : len(raw)-1])
	if len(body) == 0 {
		return member, nil
	}
	return append(append(append([]byte{'{'}, body...), ','), member[1:]...), nil
}
