package plot

import "html/template"

// Stacks draws the values of each label as one bar, the first series at the bottom.
func Stacks(c Chart) template.HTML {
	sums := Series{Values: make([]float64, len(c.Labels))}
	for i := range c.Labels {
		for _, s := range c.Series {
			value, _ := s.valueAt(i)
			sums.Values[i] += value
		}
	}
	p := newPictureFor(c, sums)
	step := p.stepWidth()
	bar := step * 0.8
	for i := range c.Labels {
		from := 0.0
		for s, series := range c.Series {
			value, there := series.valueAt(i)
			if !there || value == 0 {
				continue
			}
			low, high := p.heightOf(from), p.heightOf(from+value)
			p.printf(`<rect class="s%d" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`,
				s, formatNumber(left+step*(float64(i)+0.1)), formatNumber(high), formatNumber(bar), formatNumber(low-high), p.describeValue(series, i, value))
			from += value
		}
	}
	return p.toHTML()
}
