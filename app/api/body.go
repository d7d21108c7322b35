package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
)

const (
	maxBody      = 64 << 10 // for people and programs
	maxCatalogue = 1 << 20  // for a whole catalogue to validate
)

// content reads a whole JSON body whose texts the database can store. false: it was answered already.
func (s *server) content(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is larger than %d KiB. Send a smaller one.", most>>10))
		return nil, false
	case err != nil:
		problem(w, http.StatusBadRequest, "The body is incomplete. Send the request again.")
		return nil, false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if len(raw) > 0 && (err != nil || kind != "application/json") {
		w.Header().Set("Accept", "application/json")
		problem(w, http.StatusUnsupportedMediaType, fmt.Sprintf("The Content-Type %q is not supported. Send JSON with Content-Type: application/json.", r.Header.Get("Content-Type")))
		return nil, false
	}
	if wrong := app.Unkept(textsIn(raw)); len(wrong) > 0 {
		s.fail(w, r, &app.Error{Kind: app.Invalid, Message: "The document contains text that cannot be stored.", Fields: wrong})
		return nil, false
	}
	return raw, true
}

// textsIn returns the texts of a document by field; none if it is not an object.
func textsIn(raw []byte) map[string][]string {
	var document map[string]any
	if json.Unmarshal(raw, &document) != nil {
		return nil
	}
	texts := map[string][]string{}
	for name, value := range document {
		texts[name] = textsOf(value)
	}
	return texts
}

func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			texts = append(texts, textsOf(each)...)
		}
	case map[string]any:
		for name, each := range v {
			texts = append(append(texts, name), textsOf(each)...)
		}
	}
	return texts
}

// read parses a document strictly, so that a misspelt field is not ignored. With optional, an empty body counts as an empty document.
// false: it was answered already.
func (s *server) read(w http.ResponseWriter, r *http.Request, into any, optional bool, most int64) bool {
	raw, ok := s.content(w, r, most)
	if !ok || len(raw) == 0 && optional {
		return ok
	}
	if len(raw) == 0 {
		problem(w, http.StatusBadRequest, "The body is missing. Send a JSON object with "+listed(fields(into))+".")
		return false
	}
	wrong, err := strictly(raw, into)
	switch {
	case err != nil:
		problem(w, http.StatusBadRequest, "The body is not a valid JSON object: "+err.Error()+".")
	case len(wrong) > 0:
		s.fail(w, r, &app.Error{Kind: app.Invalid, Message: "The document does not match the schema of this path.", Fields: wrong})
	default:
		return true
	}
	return false
}

// strictly parses every field separately, so that all problems are reported at once.
func strictly(raw []byte, into any) (wrong []app.Field, err error) {
	var document map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&document); err != nil {
		return nil, plain(err)
	}
	if document == nil || dec.More() {
		return nil, errors.New("it is not a single object")
	}
	known := fields(into)
	target := reflect.ValueOf(into).Elem()
	for name, value := range document {
		i := slices.Index(known, name)
		if i < 0 {
			wrong = append(wrong, noField(name, known))
			continue
		}
		field := target.Field(i)
		if err := exactly(value, field.Addr().Interface()); err != nil {
			wrong = append(wrong, app.Field{Name: name, Detail: "it is not valid: " + short(value), Accept: []string{kindOf(field.Type())}})
		}
	}
	for i, name := range known {
		_, given := document[name]
		if optional := strings.Contains(target.Type().Field(i).Tag.Get("json"), ",omit"); !given && !optional {
			wrong = append(wrong, app.Field{Name: name, Detail: "it is required", Accept: []string{kindOf(target.Type().Field(i).Type)}})
		}
	}
	slices.SortFunc(wrong, func(a, b app.Field) int { return strings.Compare(a.Name, b.Name) })
	return wrong, nil
}

// exactly parses a field. An object in it has no fields but the known ones.
func exactly(value json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// mostNamed is how many fields an answer lists. Where there are more, it names the document that explains them.
const mostNamed = 15

func noField(name string, known []string) app.Field {
	detail := "this field is not supported"
	near, ok := policy.Closest(name, known)
	switch {
	case ok:
		return app.Field{Name: name, Detail: detail + "; did you mean " + near + "?", Accept: []string{near}}
	case len(known) > mostNamed:
		return app.Field{Name: name, Detail: detail, Accept: []string{"the fields in /api/v1/openapi.yaml"}}
	}
	return app.Field{Name: name, Detail: detail, Accept: known}
}

// fields returns the JSON names of a struct's fields, in their order.
func fields(of any) []string {
	t := reflect.TypeOf(of).Elem()
	var names []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// kindOf says what type of value a field needs.
func kindOf(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return kindOf(t.Elem())
	case t.PkgPath() == "time" && t.Name() == "Time":
		return "an RFC 3339 time, e.g. 2026-03-01T18:00:00Z"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a whole number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return "a list of objects, each with some of " + listed(fields(reflect.New(t.Elem()).Interface()))
	case t.Kind() == reflect.Slice:
		return "a list of strings"
	case t.Kind() == reflect.Map:
		return "an object with string values"
	}
	return "a string"
}

// short returns the beginning of a refused value.
func short(value json.RawMessage) string {
	const most = 40
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "…"
}

// plain returns the JSON library's error without Go types.
func plain(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Errorf("it is a JSON %s, not an object", typed.Value)
	}
	return err
}

func listed(names []string) string { return strings.Join(names, ", ") }
