package plot

import (
	"fmt"
	"html/template"
	"strings"
)

// Strip is a row of bars, each with a state.
type Strip struct {
	ID, Title string
	Bars      []StripBar // from left to right
	Room      int        // for how many bars there is room; fewer stand at the right
}

// StripBar is a bar. Its state shows in its color and in a mark of its own above it.
type StripBar struct {
	State string // a class of the style sheet
	Mark  string // a character; empty: none
	Text  string // what the bar says
	Value float64
}

// The size of a strip in its own units.
const (
	stripHeight = 64.0
	stripStep   = 14.0
	stripBar    = 10.0
	stripTop    = 16.0 // for the marks
	stripLeast  = 3.0  // of a bar, so that it is seen
)

// Draw draws the strip.
func (s Strip) Draw() template.HTML {
	largest := 1.0
	texts := make([]string, len(s.Bars))
	for i, bar := range s.Bars {
		largest, texts[i] = max(largest, bar.Value), bar.Text
	}
	room := max(s.Room, len(s.Bars), 1)
	id := template.HTMLEscapeString(s.ID)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="strip" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-values"><title id="%s-title">%s</title><desc id="%s-values">%s</desc>`,
		formatNumber(stripStep*float64(room)), formatNumber(stripHeight), id, id, id, template.HTMLEscapeString(s.Title), id, template.HTMLEscapeString(strings.Join(texts, "; ")))
	for i, bar := range s.Bars {
		x := stripStep * float64(room-len(s.Bars)+i)
		tall := max(stripLeast, (stripHeight-stripTop)*bar.Value/largest)
		fmt.Fprintf(&out, `<g class="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s" rx="1.5"/>`, template.HTMLEscapeString(bar.State), template.HTMLEscapeString(bar.Text),
			formatNumber(x+(stripStep-stripBar)/2), formatNumber(stripHeight-tall), formatNumber(stripBar), formatNumber(tall))
		if bar.Mark != "" {
			fmt.Fprintf(&out, `<text x="%s" y="%s" text-anchor="middle">%s</text>`, formatNumber(x+stripStep/2), formatNumber(stripHeight-tall-4), template.HTMLEscapeString(bar.Mark))
		}
		out.WriteString(`</g>`)
	}
	fmt.Fprintf(&out, `<path class="grid" d="M0 %sH%s"/></svg>`, formatNumber(stripHeight), formatNumber(stripStep*float64(room)))
	return template.HTML(out.String()) // numbers, and texts that were escaped above
}
