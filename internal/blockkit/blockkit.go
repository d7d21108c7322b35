// Package blockkit checks messages and views against the rules of Slack's Block Kit: required fields, limits and known types. It
// knows the part of Block Kit that the product uses, and refuses the rest, so that a mistyped field is found before Slack finds it.
//
// It must never change what it checks. A text's length is counted in UTF-16 code units, because Slack does not say what a character
// is: what fits here fits by every way to count.
// https://docs.slack.dev/reference/block-kit
package blockkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// The limits of whole surfaces.
const (
	MaxMessageBlocks = 50  // https://docs.slack.dev/reference/block-kit/blocks
	MaxViewBlocks    = 100 // https://docs.slack.dev/reference/views/modal-views, home-tab-views
	// MaxText is where Slack truncates a message's text, and GoodText the length that it recommends.
	// https://docs.slack.dev/reference/methods/chat.postMessage
	MaxText  = 40_000
	GoodText = 4_000
)

// Message returns what is wrong with a message, the JSON object with its text and blocks; nothing: it is valid. Other fields, such
// as the channel, are not looked at.
func Message(raw []byte) []string {
	c := &check{}
	m, ok := c.readObject(raw)
	if !ok {
		return c.problems
	}
	words, isText := m["text"].(string)
	blocks, has := m["blocks"]
	switch {
	case m["text"] != nil && !isText:
		c.addProblem("text", "must be a string")
	case strings.TrimSpace(words) == "" && has:
		c.addProblem("text", "must be there beside blocks: notifications and screen readers show it instead of them")
	case strings.TrimSpace(words) == "":
		c.addProblem("text", "must be there if there are no blocks")
	}
	if n := utf16Length(words); n > MaxText {
		c.addProblem("text", "has %d characters; at most %d", n, MaxText)
	}
	if has {
		c.checkBlocks(blocks, 1, MaxMessageBlocks)
	}
	return c.problems
}

// View returns what is wrong with a view, the JSON object of a modal or a Home tab; nothing: it is valid.
func View(raw []byte) []string {
	c := &check{}
	v, ok := c.readObject(raw)
	if !ok {
		return c.problems
	}
	schema := home
	switch v["type"] {
	case "modal":
		schema = modal
	case "home":
	default:
		c.addProblem("type", "is %v; must be modal or home", v["type"])
		return c.problems
	}
	schema.checkObject(c, "", v)
	c.checkBlocks(v["blocks"], 0, MaxViewBlocks)
	if v["type"] == "modal" && c.inputs > 0 && v["submit"] == nil {
		c.addProblem("submit", "must be there, because there is an input block")
	}
	if c.focused > 1 {
		c.addProblem("blocks", "%d elements have focus_on_load; at most one may", c.focused)
	}
	return c.problems
}

// check collects the problems of one message or view.
type check struct {
	problems        []string
	inputs, focused int
	blockIDs        map[string]bool
	actionIDs       map[string]bool // of the block that is being checked
}

func (c *check) addProblem(path, format string, args ...any) {
	if path == "" {
		path = "it"
	}
	c.problems = append(c.problems, path+" "+fmt.Sprintf(format, args...))
}

func (c *check) readObject(raw []byte) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil || v == nil {
		c.addProblem("", "must be a JSON object")
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		c.addProblem("", "must be one JSON object, and nothing after it")
		return nil, false
	}
	return v, true
}

// checkBlocks checks a surface's blocks, each under its own path.
func (c *check) checkBlocks(v any, fewest, most int) {
	c.blockIDs = map[string]bool{}
	list, ok := v.([]any)
	if !ok {
		c.addProblem("blocks", "must be a list")
		return
	}
	if len(list) < fewest || len(list) > most {
		c.addProblem("blocks", "has %d blocks; must have %d to %d", len(list), fewest, most)
	}
	for i, block := range list {
		c.actionIDs = map[string]bool{}
		byType(blockTypes)(c, fmt.Sprintf("blocks[%d]", i), block)
	}
}

// rule checks the value at a path.
type rule func(c *check, path string, v any)

// object is the schema of a JSON object: its fields, which of them are required, and what holds between them.
type object struct {
	fields   map[string]rule
	required []string
	also     func(c *check, path string, v map[string]any) // nil: nothing
}

func (o object) checkObject(c *check, path string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		c.addProblem(path, "must be an object")
		return
	}
	for _, name := range o.required {
		if m[name] == nil {
			c.addProblem(joinPath(path, name), "is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if r, known := o.fields[name]; !known {
			c.addProblem(joinPath(path, name), "is not a field here")
		} else if m[name] != nil {
			r(c, joinPath(path, name), m[name])
		}
	}
	if o.also != nil {
		o.also(c, path, m)
	}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// byType checks an object by the schema that its field type names.
func byType(types map[string]object) rule {
	return func(c *check, path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			c.addProblem(path, "must be an object")
			return
		}
		name, _ := m["type"].(string)
		schema, known := types[name]
		if !known {
			c.addProblem(joinPath(path, "type"), "is %q; must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(types)), ", "))
			return
		}
		schema.checkObject(c, path, m)
	}
}

// utf16Length returns a text's length in UTF-16 code units.
func utf16Length(s string) int { return len(utf16.Encode([]rune(s))) }

// textOfLength is a string of limited length.
func textOfLength(fewest, most int) rule {
	return func(c *check, path string, v any) {
		s, ok := v.(string)
		if !ok {
			c.addProblem(path, "must be a string")
		} else if n := utf16Length(s); n < fewest || n > most {
			c.addProblem(path, "has %d characters; must have %d to %d", n, fewest, most)
		}
	}
}

func anyBoolean(c *check, path string, v any) {
	if _, ok := v.(bool); !ok {
		c.addProblem(path, "must be true or false")
	}
}

func wholeNumber(least, most int64) rule {
	return func(c *check, path string, v any) {
		number, _ := v.(json.Number)
		if n, err := number.Int64(); err != nil || n < least || n > most {
			c.addProblem(path, "is %v; must be a whole number from %d to %d", v, least, most)
		}
	}
}

func oneOf(words ...string) rule {
	return func(c *check, path string, v any) {
		if s, _ := v.(string); !slices.Contains(words, s) {
			c.addProblem(path, "is %v; must be one of %s", v, strings.Join(words, ", "))
		}
	}
}

func listOf(fewest, most int, each rule) rule {
	return func(c *check, path string, v any) {
		l, ok := v.([]any)
		if !ok {
			c.addProblem(path, "must be a list")
			return
		}
		if len(l) < fewest || len(l) > most {
			c.addProblem(path, "has %d entries; must have %d to %d", len(l), fewest, most)
		}
		for i, one := range l {
			each(c, fmt.Sprintf("%s[%d]", path, i), one)
		}
	}
}
