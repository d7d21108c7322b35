// Command rules tests Prometheus rules: rules TEST-FILE. The file has the format of "promtool test rules", of which it supports
// input_series and promql_expr_test, and promtool reads it too. It uses Prometheus' parser and query engine; promtool itself brings every
// cloud's service discovery along and takes minutes to build.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

type testFile struct {
	RuleFiles []string       `yaml:"rule_files"`
	Every     model.Duration `yaml:"evaluation_interval"`
	Tests     []testCase     `yaml:"tests"`
}

type testCase struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Series   []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Expressions []struct {
		Expr    string         `yaml:"expr"`
		At      model.Duration `yaml:"eval_time"`
		Samples []struct {
			Labels string  `yaml:"labels"`
			Value  float64 `yaml:"value"`
		} `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rules TEST-FILE")
		os.Exit(2)
	}
	failed, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rules:", err)
		os.Exit(1)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func run(path string) (failed int, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var file testFile
	decoder := yaml.NewDecoder(strings.NewReader(string(raw)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	var groups []rulefmt.RuleGroup
	for _, name := range file.RuleFiles {
		parsed, errs := rulefmt.ParseFile(filepath.Join(filepath.Dir(path), name), false, model.UTF8Validation)
		if len(errs) > 0 {
			return 0, fmt.Errorf("read %s: %w", name, errs[0])
		}
		groups = append(groups, parsed.Groups...)
	}
	for _, test := range file.Tests {
		problems, err := test.run(groups, time.Duration(file.Every))
		if err != nil {
			return failed, fmt.Errorf("%s: %w", test.Name, err)
		}
		for _, p := range problems {
			fmt.Printf("FAIL %s: %s\n", test.Name, p)
		}
		if len(problems) > 0 {
			failed++
		}
	}
	fmt.Printf("%d of %d tests of %s succeeded\n", len(file.Tests)-failed, len(file.Tests), strings.Join(file.RuleFiles, ", "))
	return failed, nil
}

// run evaluates the rules up to the last time that is asked about, and compares on the way.
func (c testCase) run(groups []rulefmt.RuleGroup, every time.Duration) (problems []string, err error) {
	e := newEvaluation(groups)
	for _, s := range c.Series {
		series, values, err := parser.ParseSeriesDesc(s.Series + " " + s.Values)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if !v.Omitted {
				e.data.add(series, time.Duration(i)*time.Duration(c.Interval), v.Value)
			}
		}
	}
	var end time.Duration
	for _, x := range c.Expressions {
		end = max(end, time.Duration(x.At))
	}
	for at := time.Duration(0); at <= end; at += every {
		if err := e.step(context.Background(), at); err != nil {
			return nil, err
		}
		for _, x := range c.Expressions {
			if time.Duration(x.At) != at {
				continue
			}
			found, err := e.ask(context.Background(), x.Expr, at)
			if err != nil {
				return nil, err
			}
			var got, want []string
			for _, s := range found {
				got = append(got, fmt.Sprintf("%s %.4g", s.Metric, s.F))
			}
			for _, s := range x.Samples {
				l, err := parser.ParseMetric(s.Labels)
				if err != nil {
					return nil, err
				}
				want = append(want, fmt.Sprintf("%s %.4g", l, s.Value))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				problems = append(problems, fmt.Sprintf("%s at %s:\n  expected %v\n  found    %v", x.Expr, x.At, want, got))
			}
		}
	}
	return problems, nil
}
