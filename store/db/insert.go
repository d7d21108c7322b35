package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// Insert is a statement that inserts rows. PostgreSQL prepares a table's checks anew for each statement, so a batch sends all rows of an
// Insert in one.
type Insert struct{ what, one, many string }

// NewInsert returns a statement whose sql inserts what it selects from "given". columns are given's, with their types: "id text, at timestamptz".
// A list is given as text, see ListText.
func NewInsert(what, columns, sql string) Insert {
	var names, values, lists []string
	for i, column := range strings.Split(columns, ", ") {
		name, kind, _ := strings.Cut(column, " ")
		names, values, lists = append(names, name), append(values, fmt.Sprintf("$%d::%s", i+1, kind)), append(lists, fmt.Sprintf("$%d::%s[]", i+1, kind))
	}
	given := "WITH given (" + strings.Join(names, ", ") + ") AS ("
	return Insert{what, given + "VALUES (" + strings.Join(values, ", ") + ")) " + sql, given + "SELECT * FROM unnest(" + strings.Join(lists, ", ") + ")) " + sql}
}

// Insert adds a row, with a value for each of given's columns. It is sent where the batch's first row of the statement is.
func (b *Batch) Insert(into Insert, values ...any) {
	q := b.inserts[into.one]
	if q == nil {
		if b.inserts == nil {
			b.inserts = map[string]*queuedQuery{}
		}
		b.inserts[into.one] = b.Queue(into.one, values...)
		b.statements = append(b.statements, statement{what: into.what})
		return
	}
	for i, v := range values {
		column, several := q.Arguments[i].(pgtype.FlatArray[any])
		if !several {
			column = pgtype.FlatArray[any]{q.Arguments[i]}
		}
		q.Arguments[i] = append(column, v)
	}
	q.SQL = into.many
}

// Insert inserts one row.
func (c *Tx) Insert(ctx context.Context, into Insert, values ...any) error {
	var b Batch
	b.Insert(into, values...)
	return c.Send(ctx, &b)
}

// InsertLast is Batch.Insert for a row that the change does not read. It is sent with the commit.
func (c *Tx) InsertLast(into Insert, values ...any) { c.last.Insert(into, values...) }

// ListText returns a list as PostgreSQL reads it from a text; nil: there is none.
func ListText(list []string) *string {
	if list == nil {
		return nil
	}
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	text := "{" + strings.Join(quoted, ",") + "}"
	return &text
}
