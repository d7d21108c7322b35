package api

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/filter"
)

// malformed is a request that cannot be parsed, as opposed to one with invalid content.
type malformed struct{ Said app.Error }

// Error implements error with the text for people.
func (m *malformed) Error() string { return m.Said.Message }

// query reads the parameters of one request and collects everything that is wrong with them.
type query struct {
	r     *http.Request
	wrong []app.Field
}

// newQuery checks the names first: a misspelt parameter would filter nothing and show everything.
func (s *server) newQuery(r *http.Request) *query {
	q := &query{r: r}
	known := s.document.queries[r.Pattern]
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.Contains(known, name) {
			q.addRefusal(name, "this parameter does not exist", known...)
		}
	}
	return q
}

func (q *query) addRefusal(name, detail string, accept ...string) {
	q.wrong = append(q.wrong, app.Field{Name: name, Detail: detail, Accept: accept})
}

// requireLegible refuses URLs with characters that the database cannot store.
func (s *server) requireLegible(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wrong := app.Unkept(r.URL.Query())
		if !app.Keepable(r.URL.Path) {
			wrong = append(wrong, app.Unkept(map[string][]string{"path": {r.URL.Path}})...)
		}
		if len(wrong) > 0 {
			s.writeError(w, r, &malformed{app.Error{Kind: app.Invalid, Message: "The request has an invalid address.", Fields: wrong}})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readNumber returns the value, or the default if the parameter is missing. It refuses a value out of bounds.
func (q *query) readNumber(name string, value, unasked, least, most int) int {
	if !q.r.URL.Query().Has(name) {
		return unasked
	}
	if value < least || value > most {
		q.addRefusal(name, fmt.Sprintf("%d is out of bounds", value), fmt.Sprintf("%d to %d", least, most))
	}
	return value
}

// readPage reads limit and cursor. Cursors are ids that begin with prefix; empty prefix: numbers.
func (q *query) readPage(limit v1.Limit, cursor v1.Cursor, prefix string) (most int, after string) {
	ours := strings.HasPrefix(cursor, prefix) && len(cursor) < maxCursor
	if prefix == "" {
		ours = isNumber(cursor)
	}
	if cursor != "" && !ours {
		q.addRefusal("cursor", "it is not a cursor of this server", "the nextCursor of the previous page")
	}
	return q.readNumber("limit", limit, defaultLimit, 1, maxLimit), cursor
}

// readChoice requires the value to be one of those listed, or empty.
func (q *query) readChoice(name, value string, accepted ...string) string {
	if value != "" && !slices.Contains(accepted, value) {
		q.addRefusal(name, fmt.Sprintf("the %s %q does not exist", name, value), accepted...)
	}
	return value
}

// checkSpan requires from to be before to, if both are given.
func (q *query) checkSpan(from, to time.Time) (time.Time, time.Time) {
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		q.addRefusal("to", "it is not after from", "a later time")
	}
	return from, to
}

// refusals returns everything that was wrong, or nil.
func (q *query) refusals() error {
	if len(q.wrong) == 0 {
		return nil
	}
	return &malformed{app.Error{Kind: app.Invalid, Message: "The request has invalid parameters.", Fields: q.wrong}}
}

// readFilter reads a filter for the principal of the request. An error: it could not be tried.
func (s *server) readFilter(q *query, text string) (filter.Query, error) {
	found, err := s.App.ReadFilter(q.r.Context(), principal(q.r), text)
	var refused *app.Error
	if errors.As(err, &refused) {
		q.wrong = append(q.wrong, refused.Fields...)
		err = nil
	}
	return found, err
}

const (
	defaultLimit = 50
	maxLimit     = 500
	maxCursor    = 64
)

func isNumber(s string) bool {
	return len(s) < 19 && strings.Trim(s, "0123456789") == ""
}
