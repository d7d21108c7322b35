package matrix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTablesHaveAnAnswerForEveryPrincipal(t *testing.T) {
	for name, table := range map[string]func() (map[string]Row, error){"operations": Operations, "pages": Pages} {
		rows, err := table()
		require.NoError(t, err, name)
		require.Greater(t, len(rows), 30)
		for key, row := range rows {
			for _, who := range Principals {
				require.NotEmpty(t, row.For(who), "%s by %s", key, who)
			}
			if row.Live == "" {
				require.True(t, Refused(row.For(Nobody)) && Refused(row.For(Expired)), "%s is open to who proves nothing", key)
			}
		}
	}
}

func TestATableThatIsNotWholeIsRefused(t *testing.T) {
	full := strings.Repeat("200 ", len(Principals))
	for raw, words := range map[string]string{
		`x: {want: "200"}`:                          "x has 1 columns",
		`x: {want: "` + full + `200"}`:              "columns",
		`x: {wants: "` + full + `"}`:                "wants not found",
		`x: {want: "` + full + `", path: [a, b]}`:   "cannot unmarshal",
		"x: {want: \"" + full + "\"}\nx: {want: a}": "already defined",
	} {
		_, err := read("table", []byte(raw))
		require.ErrorContains(t, err, words, raw)
	}
}

func TestWhatHasNoRowAndWhatIsNotThereIsNamed(t *testing.T) {
	rows := map[string]Row{"listClusters": {}, "gone": {}}
	require.Equal(t, []string{"gone has a row and is not there", "new has no row"}, Missing(rows, []string{"listClusters", "new"}))
	require.Empty(t, Missing(rows, []string{"gone", "listClusters"}))
}
