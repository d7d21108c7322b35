package hooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// free are the fields whose content has names chosen by people. GitHub's own names are all lower case.
var free = []string{"client_payload", "custom_properties"}

// distinct walks through a valid JSON object, returns its top-level names (with the first character of each value), and refuses a
// name that occurs twice in one object at any depth, because parsers differ in which value they take. encoding/json ignores case, so
// names that differ only in case are duplicates too, except those chosen by people.
func distinct(body []byte) (top map[string]byte, err error) {
	w := walker{body: body}
	return w.object(0, false)
}

type walker struct {
	body []byte
	at   int
	seen []map[string]byte // by depth, reused
}

// value walks over one value and returns its first character.
func (w *walker) value(depth int, named bool) (first byte, err error) {
	w.space()
	switch first = w.body[w.at]; first {
	case '{':
		_, err = w.object(depth, named)
	case '[':
		err = w.array(depth, named)
	case '"':
		w.text()
	default: // a number, true, false or null
		for w.at < len(w.body) && !strings.ContainsRune(",]} \t\r\n", rune(w.body[w.at])) {
			w.at++
		}
	}
	return first, err
}

// object walks over an object. named: people chose the names in it.
func (w *walker) object(depth int, named bool) (map[string]byte, error) {
	w.space()
	w.at++
	seen := w.emptyNames(depth)
	for {
		w.space()
		if w.next('}') {
			return seen, nil
		}
		if w.next(',') {
			continue
		}
		name, err := w.name()
		if err != nil {
			return nil, err
		}
		key := name
		if !named {
			key = folded(name)
		}
		if _, twice := seen[key]; twice {
			return nil, fmt.Errorf("the field %s occurs twice in one object", quoted(name))
		}
		w.space()
		w.at++ // after the colon
		if seen[key], err = w.value(depth+1, named || slices.Contains(free, name)); err != nil {
			return nil, err
		}
	}
}

func (w *walker) array(depth int, named bool) error {
	w.at++
	for {
		w.space()
		if w.next(']') {
			return nil
		}
		if w.next(',') {
			continue
		}
		if _, err := w.value(depth, named); err != nil {
			return err
		}
	}
}

// emptyNames returns an empty set for the names of an object.
func (w *walker) emptyNames(depth int) map[string]byte {
	for len(w.seen) <= depth {
		w.seen = append(w.seen, map[string]byte{})
	}
	clear(w.seen[depth])
	return w.seen[depth]
}

func (w *walker) space() {
	for w.at < len(w.body) && (w.body[w.at] == ' ' || w.body[w.at] == '\n' || w.body[w.at] == '\t' || w.body[w.at] == '\r') {
		w.at++
	}
}

func (w *walker) next(c byte) bool {
	if w.body[w.at] == c {
		w.at++
		return true
	}
	return false
}

// text walks over a string and returns it with its quotes. plain: it needs no decoding.
func (w *walker) text() (raw []byte, plain bool) {
	begin := w.at
	plain = true
	for w.at++; w.body[w.at] != '"'; w.at++ {
		if c := w.body[w.at]; c == '\\' {
			plain = false
			w.at++
		} else if c >= utf8.RuneSelf {
			plain = false
		}
	}
	w.at++
	return w.body[begin:w.at], plain
}

// name reads a name as encoding/json does.
func (w *walker) name() (string, error) {
	raw, plain := w.text()
	if plain {
		return string(raw[1 : len(raw)-1]), nil
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return "", fmt.Errorf("a field name is not valid: %w", err)
	}
	return name, nil
}

// folded returns one spelling for all names that encoding/json treats as equal.
func folded(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' }) < 0 {
		return name
	}
	return strings.Map(foldedRune, name)
}

func foldedRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return unicode.ToLower(least)
}
