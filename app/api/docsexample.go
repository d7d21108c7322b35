package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// formatCurl formats the call as a command line.
func (d *document) formatCurl(c call) string {
	var b strings.Builder
	b.WriteString("curl -sS")
	if c.Method != "GET" {
		b.WriteString(" -X " + c.Method)
	}
	url, query := c.Path, []string{}
	for _, p := range d.parametersOf(c) {
		switch {
		case p.In == "path":
			url = strings.Replace(url, "{"+p.Name+"}", "$"+strings.ToUpper(p.Name), 1)
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+fmt.Sprint(d.exampleOf(p.Schema)))
		case p.In == "header" && p.Required:
			b.WriteString(fmt.Sprintf(" \\\n  -H %q", p.Name+": $(uuidgen)"))
		}
	}
	if len(query) > 0 {
		url += "?" + strings.Join(query, "&")
	}
	if c.Security == nil || len(*c.Security) > 0 {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $TOKEN\"")
	}
	if c.Body != nil && c.Body.Required {
		raw, err := json.Marshal(d.exampleOf(c.Body.Content[0].Value.Schema))
		if err == nil {
			b.WriteString(" \\\n  -H 'Content-Type: application/json' -d '" + strings.ReplaceAll(string(raw), "'", "’") + "'")
		}
	}
	b.WriteString(" \\\n  \"$OCPCTL" + url + "\"")
	return b.String()
}

// exampleOf returns a value of the schema: its required fields, or the first alternative.
func (d *document) exampleOf(s schema) any {
	if s.Ref != "" {
		s = d.Components.Schemas.getNamed(lastName(s.Ref))
	}
	switch {
	case s.Example != nil:
		return s.Example
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Format == "date-time":
		return "2026-03-01T18:00:00Z"
	case s.Type == "integer", s.Type == "number":
		return 1
	case s.Type == "boolean":
		return false
	case s.Type == "array" && s.MinItems > 0:
		return []any{d.exampleOf(*s.Items)}
	case s.Type == "array":
		return []any{}
	case s.Type == "object":
		out := map[string]any{}
		for i, p := range s.Properties {
			if slices.Contains(s.Required, p.Name) || len(s.Required) == 0 && i == 0 {
				out[p.Name] = d.exampleOf(p.Value)
			}
		}
		return out
	}
	return "…"
}
