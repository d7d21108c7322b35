package metrics

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// openLabels are the labels of our own metrics that are shown without a token: their values are words of the product. A label that is not
// listed can hold a name that people chose, such as a team's or a profile's, and metrics are summed up without it.
var openLabels = []string{
	"class", "code", "commit", "event", "go", "installation", "kind", "method", "missing", "outcome", "phase", "place", "queue", "reason", "resource", "result",
	"role", "route", "source", "state", "status", "type", "version",
}

// newHandler answers scrapes: with the token, everything; without one, the sums without names; with a wrong one, a refusal.
func newHandler(from prometheus.Gatherer, token secret.Text) http.Handler {
	options := promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}
	all, sums := promhttp.HandlerFor(from, options), promhttp.HandlerFor(unnamed{from}, options)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		switch {
		case given == "":
			sums.ServeHTTP(w, r)
		case isToken(given, token):
			all.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "The token is not the one in metrics.token_ref. Send that one, or send none to read metrics without the names of teams and profiles.", http.StatusUnauthorized)
		}
	})
}

// isToken compares in constant time. Without a token nothing is one.
func isToken(header string, token secret.Text) bool {
	scheme, given, _ := strings.Cut(header, " ")
	want, got := sha256.Sum256([]byte(token.Reveal())), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return token.Reveal() != "" && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// unnamed sums up our own metrics over the labels that are not open.
type unnamed struct{ prometheus.Gatherer }

func (u unnamed) Gather() ([]*dto.MetricFamily, error) {
	families, err := u.Gatherer.Gather()
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "ocpctl_") {
			family.Metric = sumOpenLabels(family.Metric)
		}
	}
	return families, err
}

// sumOpenLabels removes labels that are not open, and adds up what is then the same.
func sumOpenLabels(metrics []*dto.Metric) []*dto.Metric {
	var out []*dto.Metric
	known := map[string]*dto.Metric{}
	for _, m := range metrics {
		// The collector still uses the labels.
		m.Label = slices.DeleteFunc(slices.Clone(m.Label), func(l *dto.LabelPair) bool { return !slices.Contains(openLabels, l.GetName()) })
		var key strings.Builder
		for _, l := range m.Label {
			key.WriteString(l.GetName() + "\x00" + l.GetValue() + "\x00")
		}
		before, again := known[key.String()]
		if !again {
			known[key.String()] = m
			out = append(out, m)
			continue
		}
		addTo(before, m)
	}
	return out
}

// addTo adds the values of a metric to another one of the same family.
func addTo(sum, m *dto.Metric) {
	switch {
	case sum.Counter != nil:
		*sum.Counter.Value += m.Counter.GetValue()
	case sum.Gauge != nil:
		*sum.Gauge.Value += m.Gauge.GetValue()
	case sum.Histogram != nil:
		*sum.Histogram.SampleCount += m.Histogram.GetSampleCount()
		*sum.Histogram.SampleSum += m.Histogram.GetSampleSum()
		for i, bucket := range sum.Histogram.Bucket { // all of a family have the same bounds
			*bucket.CumulativeCount += m.Histogram.Bucket[i].GetCumulativeCount()
		}
	}
}
