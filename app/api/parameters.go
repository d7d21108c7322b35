package api

import (
	"errors"
	"net/http"

	"github.com/oapi-codegen/runtime"

	"github.com/ocpctl/ocpctl/app"
)

// parameters reads the parameters of one request and collects those that are missing or have the wrong type.
type parameters struct {
	s     *server
	w     http.ResponseWriter
	r     *http.Request
	wrong []app.Field
}

func (p *parameters) readQuery(name string, required bool, into any) {
	err := runtime.BindQueryParameterWithOptions("form", true, required, name, p.r.URL.Query(), into, runtime.BindQueryParameterOptions{})
	var missing *runtime.RequiredParameterError
	switch {
	case errors.As(err, &missing):
		p.addRefusal(name, "it is required")
	case err != nil:
		p.addRefusal(name, "it is not valid; GET /api/docs shows its type")
	}
}

func (p *parameters) readHeader(name string, required bool, into *string) {
	values := p.r.Header.Values(name)
	switch {
	case len(values) == 1:
		*into = values[0]
	case len(values) > 1:
		p.addRefusal(name, "it stands there several times; one value is accepted")
	case required && name == idempotencyKey:
		p.addRefusal(name, "this header is required", keyForm)
	case required:
		p.addRefusal(name, "this header is required")
	}
}

func (p *parameters) addRefusal(name, detail string, accept ...string) {
	p.wrong = append(p.wrong, app.Field{Name: name, Detail: detail, Accept: accept})
}

// areGood reports whether the operation can begin; if not, the request was answered.
func (p *parameters) areGood() bool {
	if len(p.wrong) > 0 {
		p.s.writeError(p.w, p.r, &malformed{app.Error{Kind: app.Invalid, Message: "The request has an invalid parameter.", Fields: p.wrong}})
	}
	return len(p.wrong) == 0
}
