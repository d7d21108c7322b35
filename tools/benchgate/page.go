package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/perf/benchfmt"
)

// The page's words stand in a template, its figures come from the output of benchmarks.
const (
	pageRuns     = "tools/benchgate/performance.yaml"
	pageTemplate = "tools/benchgate/performance.md.tmpl"
	pagePath     = "docs/performance.md"
)

// writePage runs the benchmarks of the page, unless their output is given, and writes the page.
func (g *gate) writePage(ctx context.Context, from string) error {
	if from == "" {
		from = filepath.Join(g.work, "performance.txt")
		if err := g.runForPage(ctx, from); err != nil {
			return err
		}
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(g.root, pageTemplate))
	if err != nil {
		return err
	}
	page, err := renderPage(string(text), bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%w\nThe output of the benchmarks is in %s; after a correction run: make performance FROM=%s", err, from, from)
	}
	return os.WriteFile(filepath.Join(g.root, pagePath), page, 0o644)
}

// runForPage runs the benchmarks one after the other and keeps their output. A failed one is only missed where the page names it.
func (g *gate) runForPage(ctx context.Context, path string) (err error) {
	plan, err := readPlan(filepath.Join(g.root, pageRuns))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.work, 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	commit, err := g.git(ctx, "describe", "--always", "--dirty", "--match", "v*.*.*")
	if err != nil {
		return err
	}
	out := io.MultiWriter(file, g.out)
	fmt.Fprintf(out, "cores: %d\ncommit: %s\n", runtime.NumCPU(), commit)
	for _, r := range plan.Runs {
		cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-timeout=60m", "-run=^$", "-bench="+r.Bench, "-benchtime="+r.Times, "-benchmem", r.Package)
		cmd.Dir, cmd.Stdout, cmd.Stderr = g.root, out, out
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(g.out, "%s %s: %v\n", r.Package, r.Bench, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// figures are the values of benchmarks: package, benchmark and unit lead to one.
type figures struct {
	values  map[string]float64
	facts   map[string]string // of the machine
	missing []string
}

// renderPage fills the template in. Its functions take a package below the module, a benchmark and a unit as printed; a benchmark that was
// not run is an error.
func renderPage(text string, output io.Reader) ([]byte, error) {
	f, err := readFigures(output)
	if err != nil {
		return nil, err
	}
	page, err := template.New("performance").Funcs(template.FuncMap{
		"ms":  func(pkg, name, unit string) string { return formatDuration(f.find(pkg, name, unit)) },
		"num": func(pkg, name, unit string) string { return formatNumber(f.find(pkg, name, unit)) },
		"part": func(pkg, name, other, unit string) string {
			return formatNumber(f.find(pkg, name, unit) / f.find(pkg, other, unit))
		},
		"growth": f.growth, // the cells of a row
		"fact":   func(key string) string { return f.facts[key] },
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := page.Execute(&out, nil); err != nil {
		return nil, err
	}
	if len(f.missing) > 0 {
		slices.Sort(f.missing)
		return nil, errors.New("the page needs what was not measured:\n  " + strings.Join(slices.Compact(f.missing), "\n  "))
	}
	return out.Bytes(), nil
}

func (f *figures) growth(name string) string {
	var cells []string
	for _, size := range []string{"1000", "10000", "100000"} {
		cells = append(cells, formatDuration(f.find("store", "Growth/"+name, "ms-at-"+size)))
	}
	return strings.Join(append(cells, fmt.Sprintf("%.2f", f.find("store", "Growth/"+name, "x-per-doubling"))), " | ")
}

func readFigures(output io.Reader) (*figures, error) {
	f := &figures{values: map[string]float64{}, facts: map[string]string{}}
	reader := benchfmt.NewReader(output, "output")
	for reader.Scan() {
		result, isResult := reader.Result().(*benchfmt.Result)
		if !isResult {
			continue
		}
		for _, fact := range []string{"cpu", "cores", "commit"} {
			if value := result.GetConfig(fact); value != "" {
				f.facts[fact] = value
			}
		}
		pkg := strings.TrimPrefix(result.GetConfig("pkg"), "github.com/ocpctl/ocpctl/")
		for _, v := range result.Values {
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" { // benchfmt turns ns into sec
				value, unit = v.OrigValue, v.OrigUnit
			}
			f.values[figureKey(pkg, operationName(result.Name), unit)] = value
		}
	}
	return f, reader.Err()
}

func (f *figures) find(pkg, name, unit string) float64 {
	key := figureKey(pkg, name, unit)
	value, isMeasured := f.values[key]
	if !isMeasured {
		f.missing = append(f.missing, key)
	}
	if unit == "ns/op" {
		return value / 1e6 // as milliseconds
	}
	return value
}

func figureKey(pkg, name, unit string) string { return pkg + " " + name + " " + unit }

// formatDuration writes milliseconds with two digits and the usual unit.
func formatDuration(ms float64) string {
	switch {
	case ms >= 995:
		return formatNumber(ms/1000) + " s"
	case ms < 0.0995:
		return formatNumber(ms*1000) + " µs"
	}
	return formatNumber(ms) + " ms"
}

// formatNumber rounds to two digits, and to whole numbers above that.
func formatNumber(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Abs(v)))))
	if math.Abs(v) >= 10 {
		digits = 0
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	whole, _, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if _, fraction, isFraction := strings.Cut(text, "."); isFraction {
		return whole + "." + fraction
	}
	return whole
}
