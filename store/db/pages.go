package db

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	defaultPage = 50
	largestPage = 500
)

// Conditions collects a query's filters, and only those in use, so that the planner sees which index serves.
type Conditions struct {
	all  []string
	Args pgx.NamedArgs
}

// Add adds a condition and its argument, if it is wanted.
func (w *Conditions) Add(wanted bool, condition, name string, value any) {
	if !wanted {
		return
	}
	w.all = append(w.all, condition)
	if name != "" {
		w.Args[name] = value
	}
}

func (w *Conditions) Where() string {
	if len(w.all) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(w.all, " AND ")
}

// PageOf returns the number of rows of a page: the default for 0 or less, else limit up to the maximum.
func PageOf(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, largestPage)
}

// Cursor parses the number that a page ended with. ErrConflict: it is not a number.
func Cursor(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is the end of no page", ErrConflict, text)
	}
	return n, nil
}
