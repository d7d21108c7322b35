package metrics

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// scrape is the answer to a scrape with this header.
func scrape(t *testing.T, h http.Handler, authorization string) (code int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

func TestMetricsNameNobodyWithoutTheToken(t *testing.T) {
	registry := prometheus.NewRegistry()
	active := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "ocpctl_clusters_active", Help: "x"}, []string{"team", "profile", "status"})
	events := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ocpctl_events_total", Help: "x"}, []string{"repository", "event"})
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ocpctl_took_seconds", Help: "x", Buckets: []float64{1, 10}}, []string{"profile"})
	registry.MustRegister(active, events, took)
	active.WithLabelValues("payments", "secret-project", "READY").Set(2)
	active.WithLabelValues("platform", "aws-standard", "READY").Set(3)
	active.WithLabelValues("platform", "aws-standard", "FAILED").Set(1)
	events.WithLabelValues("acme/merger", "asked").Add(4)
	events.WithLabelValues("acme/shop", "asked").Add(5)
	took.WithLabelValues("secret-project").Observe(0.5)
	took.WithLabelValues("aws-standard").Observe(5)

	for name, c := range map[string]struct {
		token, header string
		code          int
		named         bool
	}{
		"nothing is configured":        {code: http.StatusOK},
		"no token is sent":             {token: "s3cr3t", code: http.StatusOK},
		"the token":                    {token: "s3cr3t", header: "Bearer s3cr3t", code: http.StatusOK, named: true},
		"another token":                {token: "s3cr3t", header: "Bearer s3cr3", code: http.StatusUnauthorized},
		"an empty token":               {token: "s3cr3t", header: "Bearer ", code: http.StatusUnauthorized},
		"an empty token with none set": {header: "Bearer ", code: http.StatusUnauthorized},
		"another scheme":               {token: "s3cr3t", header: "Basic s3cr3t", code: http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := scrape(t, newHandler(registry, secret.New(c.token)), c.header)
			require.Equal(t, c.code, code, body)
			for _, text := range []string{"payments", "platform", "secret-project", "aws-standard", "acme/"} {
				require.Equal(t, c.named, strings.Contains(body, text), text)
			}
			if c.code != http.StatusOK || c.named {
				return
			}
			for _, line := range []string{
				`ocpctl_clusters_active{status="READY"} 5`, `ocpctl_clusters_active{status="FAILED"} 1`, `ocpctl_events_total{event="asked"} 9`,
				`ocpctl_took_seconds_bucket{le="1"} 1`, `ocpctl_took_seconds_bucket{le="10"} 2`, `ocpctl_took_seconds_sum 5.5`, `ocpctl_took_seconds_count 2`,
			} {
				require.Contains(t, body, line+"\n")
			}
		})
	}
}

// A new label is decided on here: it is open only if its values are words of the product.
func TestTheLabelsThatAreNotOpenAreNamesThatPeopleChose(t *testing.T) {
	hidden := map[string]bool{}
	for _, labels := range described(t) {
		for label := range strings.SplitSeq(labels, ", ") {
			hidden[label] = label != "" && !slices.Contains(openLabels, label)
		}
	}
	for label, is := range hidden {
		require.Equal(t, slices.Contains([]string{"team", "profile", "pool", "account", "region"}, label), is, label)
	}
}

func TestAnAccountIsShownAsItStandsToWhoHasTheToken(t *testing.T) {
	r := newRows(Config{})
	r.clouds = []AccountLevel{
		{Account: "platform-own", Clusters: 2, Cap: 3, Unproven: true, Failed: true, Room: []AccountRoom{{"us-east-1", "small", 4}}},
		{Account: "shared", Clusters: 1},
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(shown{r})
	_, named := scrape(t, newHandler(registry, secret.New("s3cr3t")), "Bearer s3cr3t")
	for _, line := range []string{
		`ocpctl_account_clusters{account="platform-own"} 2`, `ocpctl_account_cap{account="platform-own"} 3`, `ocpctl_account_room{account="platform-own",profile="small",region="us-east-1"} 4`,
		`ocpctl_account_unproven{account="platform-own"} 1`, `ocpctl_account_proof_failed{account="platform-own"} 1`, `ocpctl_account_unproven{account="shared"} 0`,
	} {
		require.Contains(t, named, line+"\n")
	}
	_, sums := scrape(t, newHandler(registry, secret.New("s3cr3t")), "")
	require.NotContains(t, sums, "platform-own")
	require.Contains(t, sums, "ocpctl_account_clusters 3\n")
	require.Contains(t, sums, "ocpctl_account_unproven 1\n")
}

// shown shows the rows that a test sets.
type shown struct{ *rows }

func (s shown) Collect(out chan<- prometheus.Metric) {
	s.showCensus(func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	})
}
