// Package plot draws small charts as SVG: bars, and lines over time.
//
// A chart carries its title and all of its values as text, for people who do not see it and for the pointer. It has no script and no
// style of its own: the page's style sheet gives it colors by class, also dark ones. It must never ask anybody for values: the same
// values give the same chart.
package plot

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Chart is what a chart shows.
type Chart struct {
	ID     string // unique on the page: lowercase letters, digits and dashes
	Title  string
	Labels []string // of the places on the horizontal axis, from left to right
	Series []Series // at most as many as there are colors in the style sheet: 6
	Unit   string   // behind a value, e.g. min; empty: none
	Joined bool     // Bars: they touch each other, as in a histogram

	Unnamed bool // the page names the series itself
}

// Series is one row of values, one for each label. A value that is not a number (NaN) is missing, and so is one without a label; one
// below zero counts as zero.
type Series struct {
	Name   string
	Values []float64
}

// The size of a chart in its own units; the page scales it. Text is 12 units high.
const (
	width, height = 440.0, 230.0
	left, right   = 42.0, 8.0 // for the values of the vertical axis
	top, bottom   = 34.0, 24.0
	mostTicks     = 5
	charWidth     = 6.4 // of text, about
)

// Bars draws a bar for each value. The bars of one label stand side by side.
func Bars(c Chart) template.HTML {
	p := newPicture(c)
	gap := 0.2
	if c.Joined {
		gap = 0.03
	}
	step := p.stepWidth()
	bar := step * (1 - gap) / float64(max(1, len(c.Series)))
	for s, series := range c.Series {
		for i := range c.Labels {
			value, there := series.valueAt(i)
			if !there {
				continue
			}
			x, y := left+step*float64(i)+step*gap/2+bar*float64(s), p.heightOf(value)
			p.printf(`<rect class="s%d" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`,
				s, formatNumber(x), formatNumber(y), formatNumber(bar), formatNumber(height-bottom-y), p.describeValue(series, i, value))
			if len(c.Series) == 1 && value > 0 && bar > charWidth*float64(len(formatNumber(value))) {
				p.addText(x+bar/2, y-4, "middle", formatNumber(value))
			}
		}
	}
	return p.toHTML()
}

// Lines draws a line for each series, with a gap where values are missing.
func Lines(c Chart) template.HTML {
	p := newPicture(c)
	step := p.stepWidth()
	for s, series := range c.Series {
		var path, points strings.Builder
		begun := false
		for i := range c.Labels {
			value, there := series.valueAt(i)
			if !there {
				begun = false
				continue
			}
			command := 'M'
			if begun {
				command = 'L'
			}
			begun = true
			x, y := left+step*(float64(i)+0.5), p.heightOf(value)
			fmt.Fprintf(&path, "%c%s %s", command, formatNumber(x), formatNumber(y))
			fmt.Fprintf(&points, `<circle class="s%d" cx="%s" cy="%s" r="3"><title>%s</title></circle>`, s, formatNumber(x), formatNumber(y), p.describeValue(series, i, value))
		}
		p.printf(`<path class="line s%d" d="%s"/>%s`, s, path.String(), points.String())
	}
	return p.toHTML()
}

func (s Series) valueAt(i int) (value float64, there bool) {
	if i >= len(s.Values) || math.IsNaN(s.Values[i]) || math.IsInf(s.Values[i], 0) {
		return 0, false
	}
	return max(0, s.Values[i]), true
}

// formatNumber writes a number with at most one digit behind the point.
func formatNumber(f float64) string {
	return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64)
}
