package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is a module with one operation in a Git repository, of which the last commit can be changed.
type repository struct {
	*testing.T
	dir string
}

const ranges = `turns: 1
runs:
  - package: ./work
    bench: ^Benchmark
    times: 200x
    ranges:
      Copy: {allocs/op: 10, B/op: 10}
      Old: {allocs/op: 10, B/op: 10}
`

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	r.write("ranges.yaml", ranges)
	r.write(".gitignore", "/.demo/\n")
	r.writeBenchmarks(10, "Old")
	r.git("init", "-q", "-b", "main")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	r.git("tag", "v0.1.0")
	return r
}

// writeBenchmarks makes Copy allocate that often; another benchmark has the given name.
func (r repository) writeBenchmarks(times int, other string) {
	r.write("work/work_test.go", fmt.Sprintf(`package work

import "testing"

var kept []byte

func BenchmarkCopy(b *testing.B) {
	for b.Loop() {
		for range %d {
			kept = make([]byte, 1024)
		}
	}
}

func Benchmark%s(b *testing.B) {
	for b.Loop() {
		kept = make([]byte, 1024)
	}
}
`, times, other))
}

func (r repository) write(path, text string) {
	r.Helper()
	full := filepath.Join(r.dir, path)
	require.NoError(r, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(r, os.WriteFile(full, []byte(text), 0o644))
}

func (r repository) git(args ...string) {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	require.NoError(r, err, string(out))
}

func (r repository) compare(args ...string) (string, error) {
	var out bytes.Buffer
	err := run(context.Background(), append([]string{"compare", "-root", r.dir, "-plan", "ranges.yaml"}, args...), &out)
	return out.String(), err
}

func TestAnEqualCommitPassesAndAnOperationThatCostsMoreIsNamed(t *testing.T) {
	r := newRepository(t)
	for range 3 {
		out, err := r.compare()
		require.NoError(t, err)
		require.Contains(t, out, "v0.1.0, the last tag")
		require.Contains(t, out, "2 operations were compared.")
	}
	r.writeBenchmarks(13, "New")
	out, err := r.compare()
	require.ErrorContains(t, err, "work Copy costs more than in the base:\n  13 allocs/op, and 10 in the base (+30 %, at most +10 % is noise)\n")
	require.ErrorContains(t, err, "go test ./work -run '^$' -bench '^Benchmark' -benchtime 200x -memprofile")
	require.NotContains(t, err.Error(), "work Old")
	require.Contains(t, out, "1 of 1 runs seem to cost more and are measured again.")
	require.Contains(t, out, "work New is new: not compared (B/op, allocs/op).")
	require.Contains(t, out, "work Old is gone: not compared (B/op, allocs/op).")
	require.NoDirExists(t, filepath.Join(r.dir, ".demo", "bench", "base"))

	r.write("ranges.yaml", strings.Replace(ranges, "runs:", "accepted: {work Copy: a list is copied for each reader}\nruns:", 1))
	out, err = r.compare()
	require.NoError(t, err)
	require.Contains(t, out, "accepted: a list is copied for each reader")
}

func TestWithoutATagTheCommitBeforeIsTheBase(t *testing.T) {
	r := newRepository(t)
	r.git("tag", "-d", "v0.1.0")
	r.git("commit", "-q", "--allow-empty", "-m", "second")
	out, err := r.compare()
	require.NoError(t, err)
	require.Contains(t, out, "the commit before; there is no tag")
	r.git("switch", "-q", "-c", "branch")
	r.git("commit", "-q", "--allow-empty", "-m", "third")
	out, err = r.compare()
	require.NoError(t, err)
	require.Contains(t, out, "where this branch left main")
	_, err = r.compare("-base", "nothing")
	require.Error(t, err)
}

func TestTheLeastOfAllTurnsIsCompared(t *testing.T) {
	p := plan{Turns: 3, Runs: []benchRun{{Package: "./store", Ranges: map[string]percents{"List": {ownUnit: 15, databaseUnit: 15}}}}}
	of := func(unit string) quantity { return quantity{0, "List", unit} }
	s := newSamples()
	s.base[of(ownUnit)], s.head[of(ownUnit)] = []float64{1.9, 1.0, 1.2}, []float64{1.1, 2.4, 1.5} // a busy machine
	s.base[of(databaseUnit)], s.head[of(databaseUnit)] = []float64{2.0, 2.6, 2.1}, []float64{2.7, 2.6, 3.4}
	var names []string
	for _, c := range compareSamples(p, s) {
		if c.costsMore() {
			names = append(names, c.unit)
		}
	}
	require.Equal(t, []string{databaseUnit}, names)
	var out bytes.Buffer
	err := (&gate{plan: p, out: &out}).report(s)
	require.ErrorContains(t, err, "store List costs more than in the base:\n  2.6 pg-ms/op, and 2 in the base (+30 %, at most +15 % is noise)\n  Look")

	delete(p.Runs[0].Ranges["List"], databaseUnit)
	require.ErrorContains(t, (&gate{plan: p, out: &out}).report(s), "store List has no range for pg-ms/op")
}

func TestRangesFollowFromTheNoise(t *testing.T) {
	p := plan{Turns: 1, Runs: []benchRun{{Package: "./store"}}}
	setRanges(&p, []int{0}, map[quantity]float64{{0, "List", ownUnit}: 18.2, {0, "List", databaseUnit}: 1, {0, "List", countUnit}: 0})
	require.Equal(t, percents{ownUnit: 28, databaseUnit: 25, countUnit: 2}, p.Runs[0].Ranges["List"])
	path := filepath.Join(t.TempDir(), "ranges.yaml")
	require.NoError(t, os.WriteFile(path, []byte("# What this is.\nturns: 2\n"), 0o600))
	require.NoError(t, writeRanges(path, p))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(raw), "# What this is.\nturns: 1\n"))
	require.Contains(t, string(raw), "      List: {allocs/op: 2, cpu-ms/op: 28, pg-ms/op: 25}\n")
	again, err := readPlan(path)
	require.NoError(t, err)
	require.Equal(t, p, again)
}

func TestTheGateSeesThirtyPercentOfTwentyFiveOperations(t *testing.T) {
	p, err := readPlan("ranges.yaml")
	require.NoError(t, err)
	operations := 0
	for _, r := range p.Runs {
		for _, of := range r.Ranges {
			if of[ownUnit] > 0 && of[ownUnit] < 30 {
				operations++
			}
		}
	}
	require.GreaterOrEqual(t, operations, 25)
}
