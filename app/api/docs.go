package api

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/httpbody"
)

//go:embed docs
var docsFiles embed.FS

// reference is the page at /api/docs: the whole document for people, rendered once. It runs no script and loads nothing from other
// hosts.
type reference struct {
	page, style []byte
	document    []byte
}

func newReference(d *document) reference {
	page := template.Must(template.New("docs.html").Funcs(template.FuncMap{"prose": formatProse, "inline": formatInline}).ParseFS(docsFiles, "docs/docs.html"))
	var out bytes.Buffer
	if err := page.Execute(&out, d.toView()); err != nil {
		panic(fmt.Sprintf("the API's reference: %v", err)) // it depends only on the document, which is part of the program
	}
	style, err := docsFiles.ReadFile("docs/docs.css")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return reference{page: out.Bytes(), style: style, document: written}
}

// registerPaths registers the paths of the reference.
func (ref reference) registerPaths(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/docs", serveDocument("text/html; charset=utf-8", ref.page))
	mux.Handle("GET /api/docs/{$}", http.RedirectHandler("/api/docs", http.StatusMovedPermanently))
	mux.HandleFunc("GET /api/docs/docs.css", serveDocument("text/css; charset=utf-8", ref.style))
	mux.HandleFunc("GET /api/v1/openapi.yaml", serveDocument("application/yaml", ref.document))
}

func serveDocument(contentType string, body []byte) http.HandlerFunc {
	file := httpbody.NewFile(contentType, body)
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "max-age=300")
		file.Serve(w, r)
	}
}

type docView struct {
	Title, Version, Description string
	Groups                      []docGroup
	Schemas                     []docSchema
}

type docGroup struct {
	Name, Description string
	Calls             []docCall
}

type docCall struct {
	ID, Method, Path, Summary, Description string
	Asks                                   string // the kind of token that it needs
	Parameters                             []docField
	Body                                   docType
	BodyRequired                           bool
	Answers                                []docAnswer
	Curl                                   string
}

type docAnswer struct {
	Status, Description string
	Types               []docType
	Headers             []docField
}

type docField struct {
	Name, In, Description, Default string
	Type                           docType
	Required                       bool
}

type docSchema struct {
	Name, Description string
	Also              []string // schemas whose fields it also has
	Values            []string
	Fields            []docField
}

// docType describes a value's type, and the schema to continue with.
type docType struct{ Name, Link, Media string }

func (d *document) toView() docView {
	v := docView{Title: d.Info.Title, Version: d.Info.Version, Description: d.Info.Description}
	for _, tag := range d.Tags {
		g := docGroup{Name: tag.Name, Description: tag.Description}
		for _, c := range d.listCalls() {
			if slices.Contains(c.Tags, tag.Name) {
				g.Calls = append(g.Calls, d.toCallView(c))
			}
		}
		v.Groups = append(v.Groups, g)
	}
	for _, s := range d.Components.Schemas {
		v.Schemas = append(v.Schemas, d.schemaView(s.Name, s.Value))
	}
	return v
}

func (d *document) toCallView(c call) docCall {
	out := docCall{ID: c.ID, Method: c.Method, Path: c.Path, Summary: c.Summary, Description: c.Description, Asks: tokenKind(c), Curl: d.formatCurl(c)}
	for _, p := range d.parametersOf(c) {
		f := docField{Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, Type: typeOf(p.Schema)}
		if p.Schema.Default != nil {
			f.Default = fmt.Sprint(p.Schema.Default)
		}
		out.Parameters = append(out.Parameters, f)
	}
	if c.Body != nil {
		out.Body, out.BodyRequired = typeOf(c.Body.Content[0].Value.Schema), c.Body.Required
	}
	for _, a := range c.Responses {
		spec := a.Value
		if spec.Ref != "" {
			spec = d.Components.Responses.getNamed(lastName(spec.Ref))
		}
		one := docAnswer{Status: a.Name, Description: spec.Description}
		for _, m := range spec.Content {
			t := typeOf(m.Value.Schema)
			t.Media = m.Name
			one.Types = append(one.Types, t)
		}
		for _, h := range spec.Headers {
			one.Headers = append(one.Headers, docField{Name: h.Name, Description: h.Value.Description})
		}
		out.Answers = append(out.Answers, one)
	}
	return out
}

// tokenKind says which kind of token an operation needs.
func tokenKind(c call) string {
	switch {
	case c.Security == nil:
		return "Needs your token."
	case len(*c.Security) == 0:
		return "Needs no token."
	}
	return "Needs the attempt's token."
}

func (d *document) schemaView(name string, s schema) docSchema {
	out := docSchema{Name: name, Description: s.Description, Values: s.Enum}
	parts := append([]schema{s}, s.AllOf...)
	for _, part := range parts {
		if part.Ref != "" {
			out.Also = append(out.Also, lastName(part.Ref))
		}
		for _, p := range part.Properties {
			out.Fields = append(out.Fields, docField{
				Name: p.Name, Description: p.Value.Description, Required: slices.Contains(part.Required, p.Name), Type: typeOf(p.Value),
			})
		}
	}
	return out
}

func typeOf(s schema) docType {
	switch {
	case s.Ref != "":
		return docType{Name: lastName(s.Ref), Link: lastName(s.Ref)}
	case s.Type == "array" && s.Items != nil:
		inner := typeOf(*s.Items)
		return docType{Name: "list of " + inner.Name, Link: inner.Link}
	case len(s.Enum) > 0:
		return docType{Name: strings.Join(s.Enum, " | ")}
	case s.Type == "object" && s.Additional.Kind == yaml.MappingNode:
		return docType{Name: "object with string values"}
	case s.Format == "date-time":
		return docType{Name: "time (RFC 3339)"}
	case s.Format == "binary":
		return docType{Name: "file"}
	case s.Type == "":
		return docType{Name: "any"}
	}
	return docType{Name: s.Type}
}

// formatProse formats the document's text in paragraphs.
func formatProse(text string) template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		b.WriteString("<p>" + string(formatInline(paragraph)) + "</p>")
	}
	return template.HTML(b.String()) // every part of it is escaped, and the document is ours
}

// formatInline formats text between backticks as code.
func formatInline(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			b.WriteString("<code>" + template.HTMLEscapeString(part) + "</code>")
			continue
		}
		b.WriteString(template.HTMLEscapeString(part))
	}
	return template.HTML(b.String())
}
