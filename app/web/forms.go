package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
)

// mostForm limits the size of a form. The largest has a document of the catalogue, encoded.
const mostForm = 256 << 10

// originOf returns the origin and reason of a form's request.
func originOf(r *http.Request) app.Origin {
	return app.Origin{Source: policy.SourceWeb, Why: r.PostFormValue("reason")}
}

// parseNumber parses a form field with a whole number.
func parseNumber(r *http.Request, field string) (int, error) {
	text := strings.TrimSpace(r.PostFormValue(field))
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, &app.Error{Kind: app.Invalid, Message: "The input is not valid.", Fields: []app.Field{
			{Name: field, Detail: fmt.Sprintf("%q is not a number", text), Accept: []string{"a whole number, such as 4"}},
		}}
	}
	return n, nil
}

// length reads how long something should last.
func length(r *http.Request) (time.Duration, error) {
	text := r.PostFormValue("for")
	d, ok := duration.ParseHours(text)
	if !ok || d == 0 { // for a sleep no duration means no end
		return 0, &app.Error{Kind: app.Invalid, Message: "The input is not valid.", Fields: []app.Field{app.ProblemOf("for", messages.NotADuration(text))}}
	}
	return d, nil
}

// errorText returns the text of a service error, with those of each field; empty for any other error.
func errorText(err error) string {
	var e *app.Error
	if !errors.As(err, &e) {
		return ""
	}
	text := e.Message
	for _, f := range e.Fields {
		text += " " + splitWords(f.Name) + ": " + fieldText(f)
	}
	return text
}

// fieldText says what is wrong with a field and what would be accepted.
func fieldText(f app.Field) string { return messages.ProblemText(f.Detail, f.Accept) }

// answerForm redirects to a page that shows the result of a form. A refusal or a missing object has a page of its own.
func (p *pages) answerForm(w http.ResponseWriter, r *http.Request, who policy.Principal, to, text string, err error) {
	switch app.KindOf(err) {
	case app.Invalid, app.Conflict, app.Stale, app.Busy:
		p.redirectWith(w, r, who, to, said{Message: errorText(err), Bad: true})
		return
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.redirectWith(w, r, who, to, said{Message: text})
}

// splitWords splits a name such as costCenter into words.
func splitWords(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
