package profiles

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// suggestKey returns what would be accepted in place of a key, with the nearest first.
func (r *reader) suggestKey(near string, fields []field) string {
	if near != "" {
		return near + " (closest match); one of " + r.names(fields)
	}
	return r.names(fields)
}

// key formats an unknown key, which may be anything.
func (r *reader) key(n *yaml.Node) string {
	if plainKey.MatchString(n.Value) {
		return n.Value
	}
	return r.show(n)
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,30}$`)

// show formats a node's value, short enough for one line.
func (r *reader) show(n *yaml.Node) string { return show(n, cmp.Or(r.shown, mostShown)) }

// mostShown is how many characters of a value are quoted by default.
const mostShown = 60

func show(n *yaml.Node, most int) string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return "empty"
		}
		value := []rune(n.Value)
		if len(value) > most {
			value = append(value[:most], '…')
		}
		if n.ShortTag() == "!!str" || strings.ContainsAny(n.Value, "\r\n") {
			return strconv.Quote(string(value))
		}
		return string(value) // unquoted, so that 4.20 is visibly a number
	case yaml.MappingNode:
		if len(n.Content) == 0 {
			return "an empty mapping"
		}
		return "a mapping"
	case yaml.SequenceNode:
		return fmt.Sprintf("a list of %d", len(n.Content))
	default:
		return "an alias"
	}
}
