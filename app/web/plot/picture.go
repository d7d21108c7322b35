package plot

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// picture is a chart that is being drawn.
type picture struct {
	Chart
	svg strings.Builder
	top float64 // the value at the upper end of the vertical axis

	tallest []Series // that the vertical axis has room for, too
}

// newPicture begins a chart: title, values as text, axes and legend.
func newPicture(c Chart) *picture { return newPictureFor(c) }

// newPictureFor is newPicture with what the vertical axis has to have room for besides its series.
func newPictureFor(c Chart, tallest ...Series) *picture {
	p := &picture{Chart: c, tallest: tallest}
	ticks := p.chooseTicks()
	id := template.HTMLEscapeString(c.ID)
	p.printf(`<svg class="plot" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-values"><title id="%s-title">%s</title><desc id="%s-values">%s</desc>`,
		formatNumber(width), formatNumber(height), id, id, id, template.HTMLEscapeString(c.Title), id, template.HTMLEscapeString(p.describeValues()))
	for _, tick := range ticks {
		y := p.heightOf(tick)
		p.printf(`<path class="grid" d="M%s %sH%s"/>`, formatNumber(left), formatNumber(y), formatNumber(width-right))
		p.addText(left-5, y+4, "end", formatNumber(tick))
	}
	p.addLabels()
	p.addLegend()
	return p
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(&p.svg, format, args...) }

func (p *picture) addText(x, y float64, anchor, text string) {
	p.printf(`<text x="%s" y="%s" text-anchor="%s">%s</text>`, formatNumber(x), formatNumber(y), anchor, template.HTMLEscapeString(text))
}

func (p *picture) toHTML() template.HTML {
	p.printf(`</svg>`)
	return template.HTML(p.svg.String()) // numbers, and texts that were escaped above
}

// stepWidth is the width of a place on the horizontal axis.
func (p *picture) stepWidth() float64 { return (width - left - right) / float64(max(1, len(p.Labels))) }

// heightOf is where a value stands.
func (p *picture) heightOf(value float64) float64 {
	return height - bottom - (height-top-bottom)*value/p.top
}

// chooseTicks chooses the values at the vertical axis: steps of 1, 2 or 5 times a power of ten, in whole numbers if all values are.
func (p *picture) chooseTicks() (ticks []float64) {
	largest, whole := 0.0, true
	for _, s := range slices.Concat(p.Series, p.tallest) {
		for i := range p.Labels {
			value, _ := s.valueAt(i)
			largest, whole = max(largest, value), whole && value == math.Trunc(value)
		}
	}
	if largest == 0 {
		largest = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(largest/mostTicks)))
	for _, times := range []float64{1, 2, 5, 10} {
		if largest <= step*times*mostTicks {
			step *= times
			break
		}
	}
	if whole {
		step = max(1, step)
	}
	p.top = math.Ceil(largest/step) * step
	for tick := 0.0; tick <= p.top+step/2; tick += step {
		ticks = append(ticks, tick)
	}
	return ticks
}

// addLabels writes as many labels of the horizontal axis as fit.
func (p *picture) addLabels() {
	longest := 1
	for _, label := range p.Labels {
		longest = max(longest, len([]rune(label)))
	}
	step := p.stepWidth()
	every := int(math.Ceil((float64(longest) + 1) * charWidth / step))
	for i, label := range p.Labels {
		if i%every != 0 {
			continue
		}
		x, half := left+step*(float64(i)+0.5), float64(len([]rune(label)))*charWidth/2
		p.addText(min(max(x, half), width-half), height-bottom+16, "middle", label)
	}
}

// addLegend names the series, and the unit.
func (p *picture) addLegend() {
	x := left
	for i, s := range p.Series {
		if len(p.Series) > 1 && !p.Unnamed {
			p.printf(`<rect class="s%d" x="%s" y="8" width="10" height="10"/>`, i, formatNumber(x))
			p.addText(x+14, 17, "start", s.Name)
			x += 14 + float64(len([]rune(s.Name))+2)*charWidth
		}
	}
	if p.Unit != "" {
		p.addText(left-5, 17, "end", p.Unit)
	}
}

// describeValue is one value as text, escaped.
func (p *picture) describeValue(s Series, i int, value float64) string {
	return template.HTMLEscapeString(fmt.Sprintf("%s, %s: %s", p.Labels[i], s.Name, p.formatAmount(value)))
}

func (p *picture) formatAmount(value float64) string {
	return strings.TrimSpace(formatNumber(value) + " " + p.Unit)
}

// describeValues are all values as text.
func (p *picture) describeValues() string {
	if len(p.Labels) == 0 {
		return "There is nothing to show."
	}
	var all []string
	for i, label := range p.Labels {
		var here []string
		for _, s := range p.Series {
			said := "none"
			if value, there := s.valueAt(i); there {
				said = p.formatAmount(value)
			}
			here = append(here, s.Name+" "+said)
		}
		all = append(all, label+": "+strings.Join(here, ", "))
	}
	return strings.Join(all, "; ") + "."
}
