package hooks

import (
	"bytes"
	"cmp"
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

	"github.com/ocpctl/ocpctl/store/inbox"
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

// lacks reports whether a name, as it is written with its quotes, is certainly none that is read.
func (s *shape) lacks(raw []byte) bool {
	if s.byWhole || !isPlain(raw) {
		return false
	}
	_, read := s.fields[string(raw[1:len(raw)-1])]
	return !read
}

// readKnown walks once through a body, which must be one JSON object, and returns its top-level names (in one spelling, with the first
// character of each value), and the object with only what the shape has, at any depth. It refuses a name that is read and occurs twice in
// one object, because parsers differ in which value they take. encoding/json ignores case, so names that differ only in case are
// duplicates too, except those chosen by people.
func readKnown(body []byte, of *shape) (names map[string]byte, known []byte, err error) {
	w := walker{scanner: scanner{body: body}, names: map[string]byte{}}
	if of == nil {
		of = &shape{}
	}
	if w.skipSpace() != '{' || !w.readObject(0, of) {
		return nil, nil, errNotJSON
	}
	if w.skipSpace(); w.at < len(body) {
		return nil, nil, errNotJSON
	}
	if w.twice != nil {
		return nil, nil, mismatch{inbox.ReasonDuplicateField, fmt.Sprintf("the field %s occurs twice in one object", quoteShort(*w.twice))}
	}
	return w.names, w.known, nil
}

// walker walks through what is read. Its methods return false if the text is not valid.
type walker struct {
	scanner
	names   map[string]byte // at the top, with the first character of their values
	known   []byte          // what is read
	inWhole bool            // the place is in a value that is kept as it is, so its parts are not kept apart
	twice   *string         // the first name that is read and occurs twice; nil: none does
}

// readValue walks over a value that is read.
func (w *walker) readValue(depth int, of *shape) bool {
	begin, outermost := w.at, of != nil && of.byWhole && !w.inWhole
	w.inWhole = w.inWhole || outermost
	valid := false
	switch c := w.skipSpace(); {
	case of == nil || c != '{' && c != '[':
		if valid = w.skipValue(depth); valid {
			w.keep(w.body[begin:w.at]...)
		}
	case c == '{':
		valid = w.readObject(depth, of)
	default:
		valid = w.readList(depth, of)
	}
	if outermost {
		w.inWhole = false
		w.keep(w.body[begin:w.at]...)
	}
	return valid
}

// keep adds to what is read.
func (w *walker) keep(part ...byte) {
	if !w.inWhole {
		w.known = append(w.known, part...)
	}
}

func (w *walker) readList(depth int, of *shape) bool {
	w.keep('[')
	members := 0
	valid := w.skipMembers(depth, ']', func() bool {
		if members++; members > 1 {
			w.keep(',')
		}
		return w.readValue(depth+1, of)
	})
	w.keep(']')
	return valid
}

func (w *walker) readObject(depth int, of *shape) bool {
	seen := make(map[string]bool, len(of.fields))
	w.keep('{')
	valid := w.skipMembers(depth, '}', func() bool {
		w.skipSpace()
		begin := w.at
		if !w.skipName() {
			return false
		}
		raw := w.body[begin:w.at]
		raw = raw[:bytes.LastIndexByte(raw, '"')+1]
		if depth > 0 && of.lacks(raw) { // most names, of which no copy is made
			return w.skipValue(depth + 1)
		}
		name := decodeName(raw)
		key, value, read := of.fieldOf(name)
		first := w.skipSpace()
		if depth == 0 {
			w.names[key] = first
		}
		if !read {
			return w.skipValue(depth + 1)
		}
		if seen[key] {
			w.twice = cmp.Or(w.twice, &name)
		}
		if len(seen) > 0 {
			w.keep(',')
		}
		seen[key] = true
		w.keepName(key)
		return w.readValue(depth+1, value)
	})
	w.keep('}')
	return valid
}

// keepName adds a name of our own, which needs no escape.
func (w *walker) keepName(name string) {
	if !w.inWhole {
		w.known = append(append(append(w.known, '"'), name...), '"', ':')
	}
}

// decodeName reads a name with its quotes as encoding/json does.
func decodeName(raw []byte) (name string) {
	if isPlain(raw) {
		return string(raw[1 : len(raw)-1])
	}
	_ = json.Unmarshal(raw, &name) // it is valid
	return name
}

// isPlain reports whether a name needs no decoding and has one spelling alone.
func isPlain[S string | []byte](name S) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c == '\\' || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// foldName returns one spelling for all names that encoding/json treats as equal.
func foldName(name string) string {
	if isPlain(name) {
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
