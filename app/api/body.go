package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/strict"
)

const (
	maxBody      = 64 << 10 // for people and programs
	maxCatalogue = 1 << 20  // for a whole catalogue to validate
)

// readContent reads a whole JSON body whose texts the database can store. false: it was answered already.
func (s *server) readContent(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		writeProblem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is larger than %d KiB. Send a smaller one.", most>>10))
		return nil, false
	case err != nil:
		writeProblem(w, http.StatusBadRequest, "The body is incomplete. Send the request again.")
		return nil, false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if len(raw) > 0 && (err != nil || kind != "application/json") {
		w.Header().Set("Accept", "application/json")
		writeProblem(w, http.StatusUnsupportedMediaType, fmt.Sprintf("The Content-Type %q is not supported. Send JSON with Content-Type: application/json.", r.Header.Get("Content-Type")))
		return nil, false
	}
	if wrong := app.Unkept(textsIn(raw)); len(wrong) > 0 {
		s.writeError(w, r, &app.Error{Kind: app.Invalid, Message: "The document contains text that cannot be stored.", Fields: wrong})
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

// readDocument parses a document strictly, so that a misspelt field is not ignored. With optional, an empty body counts as an empty document.
// false: it was answered already.
func (s *server) readDocument(w http.ResponseWriter, r *http.Request, into any, optional bool, most int64) bool {
	raw, ok := s.readContent(w, r, most)
	if !ok || len(raw) == 0 && optional {
		return ok
	}
	if len(raw) == 0 {
		writeProblem(w, http.StatusBadRequest, "The body is missing. Send a JSON object with "+strings.Join(strict.Fields(reflect.TypeOf(into).Elem()), ", ")+".")
		return false
	}
	wrong, err := strict.Decode(raw, into)
	switch {
	case err != nil:
		writeProblem(w, http.StatusBadRequest, "The body is not a valid JSON object: "+err.Error()+".")
	case len(wrong) > 0:
		s.writeError(w, r, &app.Error{Kind: app.Invalid, Message: "The document does not match the schema of this path.", Fields: fieldProblems(wrong)})
	default:
		return true
	}
	return false
}

// mostNamed is how many fields an answer lists. Where there are more, it names the document that explains them.
const mostNamed = 15

// fieldProblems says in words what is wrong with a document.
func fieldProblems(wrong []strict.Problem) []app.Field {
	fields := make([]app.Field, 0, len(wrong))
	for _, p := range wrong {
		f := app.Field{Name: p.Name, Accept: []string{p.Accept}}
		switch p.Fault {
		case strict.Missing:
			f.Detail = "it is required"
		case strict.Invalid:
			f.Detail = "it is not valid: " + p.Got
		case strict.Twice:
			f.Detail, f.Accept = "it is given twice", []string{"once"}
		case strict.Unknown:
			f.Detail, f.Accept = "this field is not supported", p.Known
			if p.Near != "" {
				f.Detail, f.Accept = f.Detail+"; did you mean "+p.Near+"?", []string{p.Near}
			} else if len(p.Known) > mostNamed {
				f.Accept = []string{"the fields in /api/v1/openapi.yaml"}
			}
		}
		fields = append(fields, f)
	}
	return fields
}
