package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const output = `cores: 2
commit: v0.1.0
goos: linux
pkg: github.com/ocpctl/ocpctl/store
cpu: AMD EPYC
BenchmarkGrowth/list_page-2  7  12000000 ns/op  0.86 ms-at-1000  1.07 x-per-doubling
BenchmarkSaveDelivery/saved-2  7  120 ns/op  2090 ops/s
pkg: github.com/ocpctl/ocpctl/app/hooks
BenchmarkSaveDelivery/saved-2  7  120 ns/op  4180 ops/s
PASS
`

func TestThePageIsFilledInFromTheOutput(t *testing.T) {
	page, err := renderPage(`{{fact "commit"}} on {{fact "cores"}} cores, {{fact "cpu"}}: {{ms "store" "Growth/list_page" "ns/op"}}, {{ms "store" "Growth/list_page" "ms-at-1000"}}, `+
		`{{num "store" "Growth/list_page" "x-per-doubling"}}, {{num "app/hooks" "SaveDelivery/saved" "ops/s"}}`, strings.NewReader(output))
	require.NoError(t, err)
	require.Equal(t, "v0.1.0 on 2 cores, AMD EPYC: 12 ms, 0.86 ms, 1.1, 4,180", string(page))
}

func TestThePageNamesWhatWasNotMeasured(t *testing.T) {
	raw, err := os.ReadFile("performance.md.tmpl")
	require.NoError(t, err)
	_, err = renderPage(string(raw), strings.NewReader(output))
	require.ErrorContains(t, err, "the page needs what was not measured:\n  app/api Create/fifty_callers_of_fifty_teams cpu-ms/op\n")
	require.NotContains(t, err.Error(), "store Growth/list_page ms-at-1000\n")
}

func TestDurationsAndNumbersHaveTwoDigits(t *testing.T) {
	for value, want := range map[float64]string{0.0432: "43 µs", 0.86: "0.86 ms", 5.24: "5.2 ms", 102.3: "102 ms", 2721: "2.7 s", 81_000: "81 s"} {
		require.Equal(t, want, formatDuration(value))
	}
	for value, want := range map[float64]string{0: "0", 0.371: "0.37", 1.07: "1.1", 2090: "2,090", 1_234_567: "1,234,567"} {
		require.Equal(t, want, formatNumber(value))
	}
}
