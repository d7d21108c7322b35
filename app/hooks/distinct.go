package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// shape is what is read of a value; nil: nothing.
type shape struct {
	fields  map[string]*shape // of an object that is read, in one spelling
	byWhole bool              // the value is kept as it is, with names chosen by people. GitHub's own names are all lower case
}

// shapes are what is read of each event's body.
var shapes = sync.OnceValue(func() map[string]*shape {
	all, out := typeShape(reflect.TypeFor[webhook]()), map[string]*shape{}
	for event := range Events() {
		out[event] = all.withFields(slices.Concat(slices.Collect(maps.Keys(namesRequired(event))), optionalFields(event)))
	}
	return out
})

// eventShape returns what is read of an event's body. Of an event that ocpctl does not listen to, nothing is.
func eventShape(event string) *shape { return shapes()[event] }

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	timeType = reflect.TypeFor[time.Time]()
)

// typeShape returns what encoding/json reads into a type.
func typeShape(t reflect.Type) *shape {
	switch {
	case t == rawType:
		return &shape{byWhole: true}
	case t == timeType:
		return nil
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return typeShape(t.Elem())
	case t.Kind() != reflect.Struct:
		return nil
	}
	out := &shape{fields: map[string]*shape{}}
	for field := range t.Fields() {
		if !field.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		out.fields[foldName(name)] = typeShape(field.Type)
	}
	return out
}

// withFields returns the shape with those of these fields that it has.
func (s *shape) withFields(names []string) *shape {
	out := &shape{fields: map[string]*shape{}}
	for _, name := range names {
		if field, known := s.fields[name]; known {
			out.fields[name] = field
		}
	}
	return out
}

// fieldOf returns the spelling by which a name is compared, and what is read of its value; read is false if the name is not read.
func (s *shape) fieldOf(name string) (key string, value *shape, read bool) {
	if s != nil && s.byWhole {
		return name, s, true
	}
	key = foldName(name)
	if s != nil {
		value, read = s.fields[key]
	}
	return key, value, read
}

// readKnown walks through a valid JSON object and returns its top-level names (in one spelling, with the first character of each value), and
// the object with only those that the shape has. It refuses a name that is read and occurs twice in one object, at any depth, because
// parsers differ in which value they take. encoding/json ignores case, so names that differ only in case are duplicates too, except
// those chosen by people.
func readKnown(body []byte, of *shape) (names map[string]byte, known []byte, err error) {
	w := walker{body: body, known: []byte("{")}
	names, err = w.walkObject(0, of)
	return names, append(w.known, '}'), err
}

type walker struct {
	body  []byte
	at    int
	seen  []map[string]byte // by depth, reused
	known []byte            // what is read of the top-level object, without its end
}

// walkValue walks over one value and returns its first character.
func (w *walker) walkValue(depth int, of *shape) (first byte, err error) {
	w.skipSpace()
	switch first = w.body[w.at]; first {
	case '{':
		_, err = w.walkObject(depth, of)
	case '[':
		err = w.walkArray(depth, of)
	case '"':
		w.walkString()
	default: // a number, true, false or null
		for w.at < len(w.body) && !strings.ContainsRune(",]} \t\r\n", rune(w.body[w.at])) {
			w.at++
		}
	}
	return first, err
}

// walkObject walks over an object.
func (w *walker) walkObject(depth int, of *shape) (map[string]byte, error) {
	w.skipSpace()
	w.at++
	seen := w.emptyNames(depth)
	for {
		w.skipSpace()
		if w.nextIs('}') {
			return seen, nil
		}
		if w.nextIs(',') {
			continue
		}
		name, err := w.readName()
		if err != nil {
			return nil, err
		}
		key, value, read := of.fieldOf(name)
		if _, twice := seen[key]; twice && read {
			return nil, fmt.Errorf("the field %s occurs twice in one object", quoteShort(name))
		}
		w.skipSpace()
		w.at++ // after the colon
		begin := w.at
		if seen[key], err = w.walkValue(depth+1, value); err != nil {
			return nil, err
		}
		if depth == 0 && read {
			w.keepField(key, w.body[begin:w.at])
		}
	}
}

// keepField adds a top-level value to what is read. The name is one of our own, which needs no escape.
func (w *walker) keepField(name string, value []byte) {
	if len(w.known) > 1 {
		w.known = append(w.known, ',')
	}
	w.known = fmt.Appendf(w.known, `"%s":%s`, name, value)
}

func (w *walker) walkArray(depth int, of *shape) error {
	w.at++
	for {
		w.skipSpace()
		if w.nextIs(']') {
			return nil
		}
		if w.nextIs(',') {
			continue
		}
		if _, err := w.walkValue(depth, of); err != nil {
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

func (w *walker) skipSpace() {
	for w.at < len(w.body) && (w.body[w.at] == ' ' || w.body[w.at] == '\n' || w.body[w.at] == '\t' || w.body[w.at] == '\r') {
		w.at++
	}
}

func (w *walker) nextIs(c byte) bool {
	if w.body[w.at] == c {
		w.at++
		return true
	}
	return false
}

// walkString walks over a string and returns it with its quotes. plain: it needs no decoding.
func (w *walker) walkString() (raw []byte, plain bool) {
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

// readName reads a name as encoding/json does.
func (w *walker) readName() (string, error) {
	raw, plain := w.walkString()
	if plain {
		return string(raw[1 : len(raw)-1]), nil
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return "", fmt.Errorf("a field name is not valid: %w", err)
	}
	return name, nil
}

// foldName returns one spelling for all names that encoding/json treats as equal.
func foldName(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' }) < 0 {
		return name
	}
	return strings.Map(foldRune, name)
}

func foldRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return unicode.ToLower(least)
}
