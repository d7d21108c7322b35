package metrics

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/measures"
)

func TestAWordThatIsNoMethodMakesNoSeries(t *testing.T) {
	m := New(Config{})
	for _, method := range []string{"GET", "BREW", "A", "B", "C", strings.Repeat("X", 1000)} {
		m.Request(method, "none", 405, time.Millisecond)
	}
	series := make(chan prometheus.Metric, 100)
	m.requests.Collect(series)
	require.Len(t, series, 2, "GET, and all others together")
}

func TestReasonsWithoutEndMakeNoSeriesWithoutEnd(t *testing.T) {
	c := newCounted(measures.Measure{Name: "x", Labels: []string{"kind", "reason"}})
	for i := range 3 * mostGroups {
		c.groupOf([]string{"create", strings.Repeat("x", i+1)}).n++
	}
	require.Len(t, c.groups, mostGroups+1)
	require.EqualValues(t, 2*mostGroups, c.groupOf([]string{"create", other}).n)
}

// described are the metrics of ours and their labels, as the collectors describe them.
func described(t *testing.T) map[string]string {
	t.Helper()
	m := New(Config{})
	descriptions := make(chan *prometheus.Desc, 200)
	m.requests.Describe(descriptions)
	m.jobErrors.Describe(descriptions)
	m.slack.Describe(descriptions)
	m.hooks.refused.Describe(descriptions)
	m.hooks.undescribed.Describe(descriptions)
	process{}.Describe(descriptions)
	newRows(Config{}).Describe(descriptions)
	close(descriptions)
	out := map[string]string{}
	for d := range descriptions {
		found := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([^}]*)\}`).FindStringSubmatch(d.String())
		require.NotNil(t, found, d)
		labels := strings.Split(strings.ReplaceAll(found[2], " ", ""), ",")
		slices.Sort(labels)
		out[found[1]] = strings.Join(labels, ", ")
	}
	return out
}

func TestThePageOfMetricsListsExactlyThoseThereAre(t *testing.T) {
	raw, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(ocpctl_\\w+)` \\| \\w+ \\| ([^|]*) \\|").FindAllStringSubmatch(string(raw), -1) {
		labels := strings.Split(strings.NewReplacer("`", "", " ", "", "–", "").Replace(row[2]), ",")
		slices.Sort(labels)
		listed[row[1]] = strings.Join(labels, ", ")
	}
	require.Equal(t, described(t), listed)
}

func TestAScrapeWithoutADatabaseSaysSo(t *testing.T) {
	m := New(Config{Catalogue: func() (time.Time, error) { return time.Time{}, os.ErrNotExist }})
	answer := httptest.NewRecorder()
	require.NotPanics(t, func() { m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil)) })
	require.Contains(t, answer.Body.String(), "ocpctl_catalogue_valid 0")
	require.Contains(t, answer.Body.String(), "ocpctl_database_up 0")
}
