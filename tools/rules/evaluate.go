package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// evaluation evaluates rules step by step, as Prometheus does: recording rules write series, alerts wait for their "for".
type evaluation struct {
	groups []rulefmt.RuleGroup
	engine *promql.Engine
	data   *data
	since  map[string]time.Duration // since when each alert's series is there
}

func newEvaluation(groups []rulefmt.RuleGroup) *evaluation {
	return &evaluation{
		groups: groups, data: &data{series: map[string]*oneSeries{}}, since: map[string]time.Duration{},
		engine: promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute}),
	}
}

func (e *evaluation) ask(ctx context.Context, expr string, at time.Duration) (promql.Vector, error) {
	query, err := e.engine.NewInstantQuery(ctx, e.data, nil, expr, time.UnixMilli(at.Milliseconds()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	defer query.Close()
	result := query.Exec(ctx)
	if result.Err != nil {
		return nil, fmt.Errorf("%s: %w", expr, result.Err)
	}
	return result.Vector()
}

func (e *evaluation) step(ctx context.Context, at time.Duration) error {
	for _, group := range e.groups {
		for _, rule := range group.Rules {
			found, err := e.ask(ctx, rule.Expr, at)
			if err != nil {
				return err
			}
			if rule.Record != "" {
				for _, s := range found {
					e.data.add(named(s.Metric, rule.Labels, labels.MetricName, rule.Record), at, s.F)
				}
				continue
			}
			e.alert(rule, found, at)
		}
	}
	return nil
}

// alert writes the series ALERTS, as Prometheus does. An alert that is over ends at once: a stale marker follows its last sample.
func (e *evaluation) alert(rule rulefmt.Rule, found promql.Vector, at time.Duration) {
	now := map[string]bool{}
	for _, s := range found {
		set := named(s.Metric, rule.Labels, "alertname", rule.Alert)
		key := rule.Expr + set.String()
		now[key] = true
		if _, known := e.since[key]; !known {
			e.since[key] = at
		}
		state := "pending"
		if at-e.since[key] >= time.Duration(rule.For) {
			state = "firing"
			e.data.end(alerts(set, "pending"), at)
		}
		e.data.add(alerts(set, state), at, 1)
	}
	for _, set := range e.data.of(rule.Alert) {
		kept := labels.NewBuilder(set).Del(labels.MetricName, "alertstate").Labels()
		key := rule.Expr + kept.String()
		if _, known := e.since[key]; known && !now[key] {
			delete(e.since, key)
			e.data.end(alerts(kept, "pending"), at)
			e.data.end(alerts(kept, "firing"), at)
		}
	}
}

func alerts(set labels.Labels, state string) labels.Labels {
	return labels.NewBuilder(set).Set(labels.MetricName, "ALERTS").Set("alertstate", state).Labels()
}

func named(metric labels.Labels, more map[string]string, name, value string) labels.Labels {
	b := labels.NewBuilder(metric).Del(labels.MetricName)
	for k, v := range more {
		b.Set(k, v)
	}
	return b.Set(name, value).Labels()
}

// stale marks the end of a series.
var stale = math.Float64frombits(value.StaleNaN)

// data is a storage in memory.
type data struct{ series map[string]*oneSeries }

type oneSeries struct {
	labels  labels.Labels
	samples []chunks.Sample
}

func (d *data) add(set labels.Labels, at time.Duration, f float64) {
	s, known := d.series[set.String()]
	if !known {
		s = &oneSeries{labels: set}
		d.series[set.String()] = s
	}
	s.samples = append(s.samples, sample{at.Milliseconds(), f})
}

// end makes a series stale, if it is there.
func (d *data) end(set labels.Labels, at time.Duration) {
	if s, known := d.series[set.String()]; known {
		s.samples = append(s.samples, sample{at.Milliseconds(), stale})
	}
}

// of returns the series ALERTS of one alert.
func (d *data) of(alert string) (sets []labels.Labels) {
	for _, s := range d.series {
		if s.labels.Get(labels.MetricName) == "ALERTS" && s.labels.Get("alertname") == alert {
			sets = append(sets, s.labels)
		}
	}
	return sets
}

// Querier implements storage.Queryable.
func (d *data) Querier(from, to int64) (storage.Querier, error) {
	return querier{storage.NoopQuerier(), d, from, to}, nil
}

type querier struct {
	storage.Querier
	data     *data
	from, to int64
}

// Select implements storage.Querier.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{}
	for _, s := range q.data.series {
		if !matches(s.labels, matchers) {
			continue
		}
		var within []chunks.Sample
		for _, each := range s.samples {
			if each.T() >= q.from && each.T() <= q.to {
				within = append(within, each)
			}
		}
		set.list = append(set.list, storage.NewListSeries(s.labels, within))
	}
	return set
}

func matches(set labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(set.Get(m.Name)) {
			return false
		}
	}
	return true
}

type seriesSet struct {
	list []storage.Series
	at   storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.list) == 0 {
		return false
	}
	s.at, s.list = s.list[0], s.list[1:]
	return true
}
func (s *seriesSet) At() storage.Series                { return s.at }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// sample is a value at a time in milliseconds.
type sample struct {
	t int64
	f float64
}

func (s sample) T() int64                      { return s.t }
func (s sample) F() float64                    { return s.f }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }
