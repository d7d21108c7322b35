// Package table formats ocpctl's output for people: aligned columns, facts about one thing, and colours if wanted. It cleans texts
// from others before it shows them. encode.go has the unchanged answers for programs.
package table

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

// Paint is a colour; empty is the terminal's own.
type Paint string

// The colours by meaning.
const (
	Plain Paint = ""
	Good  Paint = "32"
	Busy  Paint = "36"
	Warn  Paint = "33"
	Bad   Paint = "31"
	Faint Paint = "2"
	Bold  Paint = "1"
)

// Cell is one text in a table.
type Cell struct {
	Text  string
	Paint Paint
}

// Screen is output for people.
type Screen struct {
	Out   io.Writer
	Color bool
	Wide  bool // show the columns that are rarely needed, too
	Now   time.Time
}

// Painted returns a text in a colour, if colours are wanted.
func (s *Screen) Painted(text string, p Paint) string {
	if !s.Color || p == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// Linef writes one line; control characters are removed.
func (s *Screen) Linef(format string, args ...any) {
	fmt.Fprintln(s.Out, humanize.Clean(fmt.Sprintf(format, args...)))
}

// Head writes a headline after an empty line.
func (s *Screen) Head(text string) {
	fmt.Fprintf(s.Out, "\n%s\n", s.Painted(humanize.Clean(text), Bold))
}

// Columns is a table that is being built.
type Columns struct {
	screen *Screen
	heads  []Cell
	wide   []bool // columns of the wide format only
	widths []int
	rows   [][]Cell
}

// Columns begins a table. A head that begins with + is a column of the wide format only.
func (s *Screen) Columns(heads ...string) *Columns {
	c := &Columns{screen: s, widths: make([]int, len(heads))}
	for _, head := range heads {
		name, wide := strings.CutPrefix(head, "+")
		c.heads, c.wide = append(c.heads, Cell{name, Bold}), append(c.wide, wide)
	}
	c.measureRow(c.heads)
	return c
}

// SetMinWidths sets minimum widths of the first columns, for later rows that are not known yet.
func (c *Columns) SetMinWidths(widths ...int) {
	for i, width := range widths {
		c.widths[i] = max(c.widths[i], width)
	}
}

// Row adds a row: strings and Cells, one for each head.
func (c *Columns) Row(cells ...any) {
	row := make([]Cell, 0, len(cells))
	for _, cell := range cells {
		made, ok := cell.(Cell)
		if !ok {
			made.Text = fmt.Sprint(cell)
		}
		made.Text = humanize.Line(made.Text)
		if made.Text == "" {
			made = Cell{"-", Faint}
		}
		row = append(row, made)
	}
	c.measureRow(row)
	c.rows = append(c.rows, row)
}

func (c *Columns) measureRow(row []Cell) {
	for i, cell := range row {
		c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell.Text))
	}
}

// Write writes the table; without rows it says that there are none.
func (c *Columns) Write(none string) {
	if len(c.rows) == 0 {
		c.screen.Linef("%s", none)
		return
	}
	c.writeRow(c.heads)
	c.WriteRows()
}

// WriteRows writes only the rows and forgets them. Later rows are aligned with them.
func (c *Columns) WriteRows() {
	for _, row := range c.rows {
		c.writeRow(row)
	}
	c.rows = nil
}

// writeRow puts two spaces between cells, and none after the last one.
func (c *Columns) writeRow(row []Cell) {
	var b strings.Builder
	gap := 0
	for i, cell := range row {
		if c.wide[i] && !c.screen.Wide {
			continue
		}
		b.WriteString(strings.Repeat(" ", gap) + c.screen.Painted(cell.Text, cell.Paint))
		gap = c.widths[i] - utf8.RuneCountInString(cell.Text) + 2
	}
	fmt.Fprintln(c.screen.Out, b.String())
}

// Facts is a list of properties, one line each.
type Facts struct {
	screen *Screen
	names  []string
	values []Cell
}

// Facts begins a list of properties.
func (s *Screen) Facts() *Facts { return &Facts{screen: s} }

// Add adds a property; one without a value is omitted.
func (f *Facts) Add(name, value string) { f.Paint(name, value, Plain) }

// Paint adds a property in a colour.
func (f *Facts) Paint(name, value string, p Paint) {
	if value = humanize.Line(value); value != "" {
		f.names, f.values = append(f.names, name), append(f.values, Cell{value, p})
	}
}

// Write writes the properties with aligned values.
func (f *Facts) Write() {
	widest := 0
	for _, name := range f.names {
		widest = max(widest, utf8.RuneCountInString(name))
	}
	for i, name := range f.names {
		gap := strings.Repeat(" ", widest-utf8.RuneCountInString(name)+2)
		fmt.Fprintf(f.screen.Out, "  %s%s%s\n", f.screen.Painted(name, Faint), gap, f.screen.Painted(f.values[i].Text, f.values[i].Paint))
	}
}
