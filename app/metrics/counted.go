package metrics

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ocpctl/ocpctl/store/measures"
)

// counted is one histogram or counter, added up from rows. Every process adds up all of them, so that all report the same, and a
// restart begins with the same figures.
type counted struct {
	measures.Measure
	desc   *prometheus.Desc
	until  time.Time // what happened before is counted
	groups map[string]*group
}

// group is the figures of one combination of labels.
type group struct {
	labels  []string
	n       uint64
	seconds float64
	below   []uint64 // by bucket, not cumulative; the last one is above all bounds
}

func newCounted(m measures.Measure) *counted {
	c := &counted{Measure: m, desc: prometheus.NewDesc(m.Name, m.Help, m.Labels, nil), groups: map[string]*group{}}
	for _, labels := range m.Zero {
		c.groupOf(labels)
	}
	return c
}

// refreshCounts adds what happened since the last time.
func (c *counted) refreshCounts(ctx context.Context, from *measures.Store) error {
	if c.Fresh && c.until.IsZero() {
		now, err := from.Now(ctx)
		if err != nil {
			return err
		}
		c.until = now
	}
	counts, until, err := from.Counted(ctx, c.Measure, c.until)
	if err != nil {
		return err
	}
	for _, n := range counts {
		g := c.groupOf(n.Labels)
		g.n += uint64(n.N)
		g.seconds += n.Seconds
		g.below[n.Bucket] += uint64(n.N)
	}
	c.until = until
	return nil
}

// mostGroups bounds the series of a metric. Reasons are the words of runners, and a hostile one could invent many.
const mostGroups = 2000

// other stands in the place of the last label once there are too many groups.
const other = "other"

func (c *counted) groupOf(labels []string) *group {
	key := strings.Join(labels, "\x00")
	if g, known := c.groups[key]; known {
		return g
	}
	if len(c.groups) >= mostGroups && len(labels) > 0 && labels[len(labels)-1] != other {
		labels = slices.Clone(labels)
		labels[len(labels)-1] = other
		return c.groupOf(labels)
	}
	g := &group{labels: labels, below: make([]uint64, len(c.Buckets)+1)}
	c.groups[key] = g
	return g
}

func (c *counted) collectMetrics(out chan<- prometheus.Metric) {
	for _, g := range c.groups {
		if c.Buckets == nil {
			out <- prometheus.MustNewConstMetric(c.desc, prometheus.CounterValue, float64(g.n), g.labels...)
			continue
		}
		buckets, sum := make(map[float64]uint64, len(c.Buckets)), uint64(0)
		for i, bound := range c.Buckets {
			sum += g.below[i]
			buckets[bound] = sum
		}
		out <- prometheus.MustNewConstHistogram(c.desc, g.n, g.seconds, buckets, g.labels...)
	}
}
