package plot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStripShowsEachStateByShapeAndText(t *testing.T) {
	got := string(Strip{ID: "x", Title: "Creates", Room: 4, Bars: []StripBar{{State: "ready", Text: "ready in <1 min>", Value: 1}, {State: "failed", Mark: "✕", Text: "failed", Value: 2}}}.Draw())
	require.Contains(t, got, `<desc id="x-values">ready in &lt;1 min&gt;; failed</desc>`)
	require.Contains(t, got, `<g class="failed"><title>failed</title><rect x="44" y="16"`)
	require.Contains(t, got, ">✕</text>")
	require.Contains(t, string(Strip{}.Draw()), "</svg>", "nothing is drawn of nothing")
}

func TestStacksStandOnEachOther(t *testing.T) {
	c := Chart{ID: "x", Title: "Cost", Labels: []string{"1"}, Unnamed: true, Series: []Series{{Name: "a", Values: []float64{3}}, {Name: "b", Values: []float64{2}}}}
	got := string(Stacks(c))
	require.Equal(t, 2, strings.Count(got, "<rect"), "the page has the legend")
	require.Contains(t, got, ">5</text>", "the axis has room for the sum")
	require.Contains(t, got, "1: a 3, b 2.")
}
