package command

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// showAnswer returns a function that shows the response of a call: names is what -o name prints of it, and write is what people see.
func showAnswer[T any](a *app, names func(T) []string, write func(*table.Screen, T)) func(*http.Response, error) error {
	return func(res *http.Response, err error) error {
		answer, err := connect.Read[T](res, err)
		if err != nil {
			return err
		}
		return a.printAnswer(answer.Raw, names(answer.Value), func(s *table.Screen) { write(s, answer.Value) })
	}
}

// listOf is how items of one kind are shown.
type listOf[I any] struct {
	name  func(I) string // what -o name prints
	heads []string       // see table.Screen.Columns
	row   func(s *table.Screen, one I) []any
	none  string                   // what people see instead of an empty table
	after func(*table.Screen, []I) // writes more below the table; nil: nothing
}

// page is the form of every response with a list.
type page[I any] struct {
	Items      []I
	NextCursor string
}

// showAnswer returns a function that shows the response of a call that returns all items.
func (l listOf[I]) showAnswer(a *app) func(*http.Response, error) error {
	return func(res *http.Response, err error) error {
		answer, err := connect.Read[page[I]](res, err)
		if err != nil {
			return err
		}
		return l.printItems(a, answer.Raw, answer.Value.Items)
	}
}

// showPages shows the requested number of items of a call that returns them page by page; 0: all.
func (l listOf[I]) showPages(a *app, most int, get func(limit int, cursor string) (*http.Response, error)) error {
	raw, items, err := readPages[I](most, get)
	if err != nil {
		return err
	}
	return l.printItems(a, raw, items)
}

func (l listOf[I]) printItems(a *app, raw []byte, items []I) error {
	return a.printAnswer(raw, namesOf(items, l.name), func(s *table.Screen) {
		l.writeItems(s, items)
		if l.after != nil {
			l.after(s, items)
		}
	})
}

// writeItems writes the table.
func (l listOf[I]) writeItems(s *table.Screen, items []I) {
	writeTable(s, l.none, l.heads, items, l.row)
}

// writeWithTotal writes the table with a last line for all items, if there are several.
func (l listOf[I]) writeWithTotal(s *table.Screen, items []I, total I) {
	if len(items) > 1 {
		items = append(slices.Clip(items), total)
	}
	l.writeItems(s, items)
}

// writeTable writes a table with one row for each item; none is what it says without items.
func writeTable[I any](s *table.Screen, none string, heads []string, items []I, row func(*table.Screen, I) []any) {
	t := s.Columns(heads...)
	for _, one := range items {
		t.Row(row(s, one)...)
	}
	t.Write(none)
}

// readPages reads page after page until it has the requested number of items; 0: all. Several pages become one document with all items.
func readPages[I any](most int, get func(limit int, cursor string) (*http.Response, error)) (raw []byte, items []I, err error) {
	var all []json.RawMessage
	for cursor := ""; ; {
		limit := pageSize
		if most > 0 {
			limit = min(pageSize, most-len(items))
		}
		answer, err := connect.Read[page[I]](get(limit, cursor))
		if err != nil {
			return nil, nil, err
		}
		var unread page[json.RawMessage]
		if err := json.Unmarshal(answer.Raw, &unread); err != nil {
			return nil, nil, err
		}
		items, all = append(items, answer.Value.Items...), append(all, unread.Items...)
		if cursor = answer.Value.NextCursor; cursor == "" || most > 0 && len(items) >= most {
			if len(items) == len(unread.Items) {
				return answer.Raw, items, nil
			}
			raw, err := json.Marshal(map[string]any{"items": all})
			return raw, items, err
		}
	}
}

// namesOf returns what -o name prints of some items.
func namesOf[I any](items []I, name func(I) string) []string {
	names := make([]string, len(items))
	for i, one := range items {
		names[i] = name(one)
	}
	return names
}
