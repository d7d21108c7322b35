package plot

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

func TestChartsLookTheSameAsLastTime(t *testing.T) {
	none := math.NaN()
	weeks := []string{"2 Nov", "9 Nov", "16 Nov", "23 Nov"}
	for name, svg := range map[string]template.HTML{
		"bars": Bars(Chart{ID: "weeks", Title: "Clusters by week", Labels: weeks, Series: []Series{
			{"accepted", []float64{4, 7, 0, 12}}, {"ready", []float64{4, 6, 0, 9}}}}),
		"histogram": Bars(Chart{ID: "ages", Title: "Ages", Joined: true, Labels: []string{"< 1 h", "< 4 h", "longer"}, Series: []Series{{"clusters", []float64{3, 120, 0}}}}),
		"lines": Lines(Chart{ID: "ready", Title: "Time until ready <by week>", Unit: "min", Labels: weeks, Series: []Series{
			{"half of them", []float64{41.2, none, 38, 44}}, {"90 %", []float64{55, none, 52.5, 71.8}}}}),
		"empty": Lines(Chart{ID: "none", Title: "Nothing"}),
	} {
		path := filepath.Join("testdata", name+".svg")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(svg), "><", ">\n<")+"\n"), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), strings.ReplaceAll(string(svg), "><", ">\n<")+"\n", name)
	}
}

// Whatever the values are, a chart is well-formed, keeps within its frame, shows every value and says it as text.
func TestAChartShowsEveryValueWithinItsFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune(`abc <&"'>é7-`)), 0, 12, -1)
		c := Chart{ID: "x-1", Title: text.Draw(t, "title"), Unit: rapid.SampledFrom([]string{"", "min"}).Draw(t, "unit"), Joined: rapid.Bool().Draw(t, "joined")}
		c.Labels = rapid.SliceOfN(text, 0, 60).Draw(t, "labels")
		value := rapid.OneOf(rapid.Float64Range(0, 1e7), rapid.Float64Range(0, 2), rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), 1, 3600}))
		shown := 0
		for range rapid.IntRange(0, 4).Draw(t, "series") {
			s := Series{Name: text.Draw(t, "name"), Values: rapid.SliceOfN(value, 0, 60).Draw(t, "values")}
			c.Series = append(c.Series, s)
			for i, v := range s.Values {
				if i < len(c.Labels) && !math.IsNaN(v) && !math.IsInf(v, 0) {
					shown++
				}
			}
		}
		for element, svg := range map[string]template.HTML{"rect": Bars(c), "circle": Lines(c)} {
			titles, texts := read(t, string(svg), element)
			require.Len(t, titles, shown, element)
			require.Equal(t, c.Title, texts["title"])
			for i, label := range c.Labels {
				require.Contains(t, texts["desc"], label+":", i)
			}
		}
	})
}

// read parses a chart, checks its coordinates, and returns the titles of its elements of a kind, and its own title and values.
func read(t require.TestingT, svg, kind string) (titles []string, texts map[string]string) {
	texts = map[string]string{}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	var path []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			require.Empty(t, path)
			return titles, texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			within(t, token)
			if len(path) > 2 && path[len(path)-2] == kind {
				titles = append(titles, "")
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			switch {
			case len(path) == 2 && (path[1] == "title" || path[1] == "desc"):
				texts[path[1]] += string(token)
			case len(path) > 2 && path[len(path)-2] == kind:
				titles[len(titles)-1] += string(token)
			}
		}
	}
}

// within requires an element to stand within the frame.
func within(t require.TestingT, e xml.StartElement) {
	at := map[string]float64{}
	for _, a := range e.Attr {
		if n, err := strconv.ParseFloat(a.Value, 64); err == nil {
			require.False(t, math.IsNaN(n) || math.IsInf(n, 0), fmt.Sprint(e))
			at[a.Name.Local] = n
		}
	}
	for _, x := range []float64{at["x"], at["x"] + at["width"], at["cx"]} {
		require.True(t, x >= 0 && x <= width, fmt.Sprint(e))
	}
	for _, y := range []float64{at["y"], at["y"] + at["height"], at["cy"]} {
		require.True(t, y >= 0 && y <= height+0.1, fmt.Sprint(e))
	}
	require.True(t, at["width"] >= 0 && at["height"] >= 0, fmt.Sprint(e))
}

func TestTheVerticalAxisHasRoundSteps(t *testing.T) {
	for largest, want := range map[float64][]float64{
		0: {0, 1}, 1: {0, 1}, 3: {0, 1, 2, 3}, 7: {0, 2, 4, 6, 8}, 12: {0, 5, 10, 15}, 100: {0, 20, 40, 60, 80, 100}, 0.5: {0, 0.1, 0.2, 0.3, 0.4, 0.5}, 43.5: {0, 10, 20, 30, 40, 50},
	} {
		p := &picture{Chart: Chart{Labels: []string{"a"}, Series: []Series{{"s", []float64{largest}}}}}
		require.InDeltaSlice(t, want, p.chooseTicks(), 1e-9, largest)
	}
}
