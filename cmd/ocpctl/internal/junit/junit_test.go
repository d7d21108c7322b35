package junit_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/junit"
)

var update = flag.Bool("update", false, "write the golden files")

func TestEachDialectIsSummedUp(t *testing.T) {
	reports, err := filepath.Glob("testdata/*.xml")
	require.NoError(t, err)
	require.Len(t, reports, 5)
	var all junit.Summary
	for _, path := range reports {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var s junit.Summary
		require.NoError(t, s.Read(bytes.NewReader(raw)), path)
		require.NoError(t, all.Read(bytes.NewReader(raw)), path)
		golden(t, strings.TrimSuffix(path, ".xml")+".yaml", s)
	}
	golden(t, "testdata/all.yaml", all)
}

func golden(t *testing.T, path string, s junit.Summary) {
	got, err := yaml.Marshal(s)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	require.Equal(t, string(want), string(got), path)
}

func TestAReportThatIsBrokenAddsNothing(t *testing.T) {
	for report, why := range map[string]string{
		"":                                   "it has no XML element",
		"\n ":                                "it has no XML element",
		`<?xml version="1.0"?>`:              "it has no XML element",
		"<html><body/></html>":               "it is not a JUnit report: it begins with <html>",
		`{"tests": 3}`:                       "it has no XML element",
		`<testsuite><testcase name="a"/>`:    "unexpected EOF",
		`<testsuite><testcase name="a"/></x`: "unexpected EOF",
		`<testsuite><testcase name=a/></testsuite>`:                                             "unquoted",
		`<?xml version="1.0" encoding="EBCDIC"?><testsuite/>`:                                   `its encoding "ebcdic" is not supported; have the tests write UTF-8`,
		strings.Repeat("<testsuite>", 101):                                                      "more than 100 deep",
		`<testsuite><testcase name="a"/></testsuite><testsuite><testcase name="b"></testsuite>`: "closed by",
	} {
		var s junit.Summary
		require.ErrorContains(t, s.Read(strings.NewReader(report)), why, report)
		require.Equal(t, junit.Summary{}, s, report)
	}
}

func TestAReportIsReadWhateverItsEncoding(t *testing.T) {
	const body = `<testsuite name="s"><testcase name="größe"><failure message="x">` + "\x1b[31mrot\x1b[0m\x00 &#x1B;&#0;&#27;&amp;&#x41;&#bad;" + `</failure></testcase></testsuite>`
	plain := strings.ReplaceAll(body, "&#bad;", "")
	latin := strings.ReplaceAll(strings.ReplaceAll(plain, "ö", "\xf6"), "ß", "\xdf")
	chinese, err := simplifiedchinese.GB18030.NewEncoder().String(plain)
	require.NoError(t, err)
	wide := []byte{0xFE, 0xFF}
	for _, unit := range utf16.Encode([]rune(plain)) {
		wide = append(wide, byte(unit>>8), byte(unit))
	}
	for name, report := range map[string]string{
		"UTF-8":                 plain,
		"UTF-8 with a mark":     "\xef\xbb\xbf" + `<?xml version="1.0" encoding="utf-8"?>` + plain,
		"ISO-8859-1":            `<?xml version='1.0' encoding='ISO-8859-1'?>` + latin,
		"Windows-1252":          `<?xml version="1.0"  encoding = "windows-1252" standalone="yes"?>` + latin,
		"UTF-16":                string(wide),
		"UTF-16 without a mark": string(wide[2:]),
		"UTF-8 declared UTF-16": `<?xml version="1.0" encoding="utf-16"?>` + plain,
		"behind an empty line":  "\n" + `<?xml version='1.1' encoding='ISO-8859-1'?>` + latin,
		"GB18030":               `<?xml version="1.0" encoding="GB18030"?>` + chinese,
		"one byte after other":  plain,
	} {
		var s junit.Summary
		from := io.Reader(strings.NewReader(report))
		if name == "one byte after other" {
			from = &dripping{from}
		}
		require.NoError(t, s.Read(from), name)
		require.Equal(t, []junit.Failure{{Suite: "s", Name: "größe", Message: "x", Details: "rot &A"}}, s.Failures, name)
	}
	var s junit.Summary
	require.NoError(t, s.Read(strings.NewReader("<testsuite><testcase name=\"a\xff\" time=\"1\"/></testsuite>")), "a byte that is no UTF-8")
	require.Equal(t, "a\uFFFD", s.Slowest[0].Name)
	require.Error(t, s.Read(strings.NewReader(body)), "a reference that means nothing is an error of the report")
}

// dripping gives one byte at a time.
type dripping struct{ from io.Reader }

func (d *dripping) Read(p []byte) (int, error) { return d.from.Read(p[:min(1, len(p))]) }

func TestALargeReportTakesLittleMemory(t *testing.T) {
	const size = 50 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	most := uint64(0)
	report := &long{left: size, every: func() {
		runtime.ReadMemStats(&after)
		most = max(most, after.HeapAlloc)
	}}
	var s junit.Summary
	require.NoError(t, s.Read(report))
	require.Equal(t, report.tests, s.Total)
	require.Equal(t, s.Total, s.Failed)
	require.Len(t, s.Failures, junit.MostFailures)
	require.Len(t, s.Failures[0].Details, 30*len("a line <x>\n")-1)
	require.Len(t, s.Slowest, junit.MostSlowest)
	require.Less(t, most-min(most, before.HeapAlloc), uint64(32<<20))
}

// long is a report of some size.
type long struct {
	left, tests int
	every       func()
	buffer      bytes.Buffer
	ended       bool
}

func (l *long) Read(p []byte) (int, error) {
	if l.buffer.Len() == 0 {
		switch {
		case l.ended:
			return 0, io.EOF
		case l.tests == 0:
			l.buffer.WriteString("<testsuites>")
		}
		if l.left <= 0 {
			l.ended = true
			l.buffer.WriteString("</testsuites>")
		} else {
			for range 100 {
				fmt.Fprintf(&l.buffer, `<testcase classname="c" name="t%d" time="0.25"><failure message="m">%s</failure></testcase>`, l.tests, strings.Repeat("a line &lt;x&gt;\n", 30))
				l.tests++
			}
			l.left -= l.buffer.Len()
			if l.tests%10000 == 0 {
				l.every()
			}
		}
	}
	return l.buffer.Read(p)
}
