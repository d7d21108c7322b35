package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Read adds a report to the summary. Of a report that cannot be read to its end, nothing is added.
func (s *Summary) Read(report io.Reader) error {
	text, err := decodeReport(report)
	if err != nil {
		return err
	}
	decoder := xml.NewDecoder(text)
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	r := reader{decoder: decoder, sum: *s, results: map[uint64]result{}, seed: maphash.MakeSeed()}
	r.sum.Failures, r.sum.Slowest = slices.Clone(s.Failures), slices.Clone(s.Slowest)
	r.sum.Crashes, r.sum.FlakyTests = slices.Clone(s.Crashes), slices.Clone(s.FlakyTests)
	if err := r.readDocument(); err != nil {
		return err
	}
	for _, list := range [][]Failure{r.sum.Failures, r.sum.FlakyTests} {
		for i := range list {
			list[i].key = 0 // a test of that name in another report is another test
		}
	}
	*s = r.sum
	return nil
}

// reader walks through one report.
type reader struct {
	decoder *xml.Decoder
	sum     Summary
	depth   int
	read    counts
	results map[uint64]result // of the tests in this report
	seed    maphash.Seed
	apart   bool // test cases of one name are different tests, and not executions of one
}

// deepest is how deep suites may lie in each other.
const deepest = 100

// readDocument reads the whole report. Some tools write several top elements.
func (r *reader) readDocument() error {
	found := false
	for {
		token, err := r.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && found:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("it has no XML element")
		case err != nil:
			return err
		}
		if start, is := token.(xml.StartElement); is {
			if start.Name.Local != "testsuites" && start.Name.Local != "testsuite" && start.Name.Local != "testcase" {
				return fmt.Errorf("it is not a JUnit report: it begins with <%s>", start.Name.Local)
			}
			found = true
			if err := r.readElement(start, ""); err != nil {
				return err
			}
		}
	}
}

// readElement reads one element with everything in it, which belongs to a suite.
func (r *reader) readElement(start xml.StartElement, suite string) error {
	switch start.Name.Local {
	case "testcase":
		return r.readTestcase(start, suite)
	case "testsuite":
		suite = cmp.Or(attributeOf(start, "name"), suite)
		r.read.suites++
	case "failure", "error": // of the suite itself: it could not be run
		t := test{suite: suite, name: cmp.Or(suite, "the suite"), key: r.keyOf(start, suite, suite)}
		return r.readFailure(start, &t, true)
	case "testsuites":
		r.apart = slices.Contains(countedOnce, strings.ToLower(attributeOf(start, "name")))
	default:
		return r.decoder.Skip()
	}
	if r.depth++; r.depth > deepest {
		return fmt.Errorf("its suites lie more than %d deep in each other", deepest)
	}
	defer func() { r.depth-- }()
	before := r.read
	if err := r.readChildren(func(child xml.StartElement) error { return r.readElement(child, suite) }); err != nil {
		return err
	}
	r.compareClaims(start, suite, before)
	return nil
}

// countedOnce are the names of the reports of writers that tell of the last execution of a test alone. There, two test cases of one name
// are two tests.
var countedOnce = []string{"jest tests", "mocha tests", "vitest tests"}

// readChildren calls read for each child, which must read it to its end, and returns at the end of the element.
func (r *reader) readChildren(read func(xml.StartElement) error) error {
	for {
		token, err := r.decoder.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := read(token); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

func (r *reader) readTestcase(start xml.StartElement, suite string) error {
	t := test{
		suite: cmp.Or(attributeOf(start, "classname"), suite), name: cmp.Or(attributeOf(start, "name"), "a test without a name"),
		result: passed, seconds: parseSeconds(attributeOf(start, "time")), key: r.keyOf(start, suite, attributeOf(start, "name")),
	}
	status := cmp.Or(attributeOf(start, "status"), attributeOf(start, "result"))
	said := cmp.Or(string(statuses[strings.ToLower(attributeOf(start, "status"))]), string(statuses[strings.ToLower(attributeOf(start, "result"))]))
	if result(said) == skipped {
		t.result = skipped
	}
	r.read.cases++
	r.read.executions++
	err := r.readChildren(func(child xml.StartElement) error {
		switch child.Name.Local {
		case "failure", "error":
			r.read.failures++
			return r.readFailure(child, &t, false)
		case "flakyFailure", "flakyError", "rerunFailure", "rerunError": // Surefire, cargo-nextest, Playwright: another execution, which failed
			r.read.executions++
			r.read.failures++
			return r.readFailure(child, &t, false)
		case "skipped", "disabled", "ignored":
			if t.result != failed {
				t.result = skipped
			}
		}
		return r.decoder.Skip()
	})
	if err != nil {
		return err
	}
	if result(said) == failed && t.result == passed {
		t.result, t.message = failed, fmt.Sprintf("Its status is %q.", status)
		r.read.failures++
	}
	if t.result == skipped {
		r.read.skipped++
	}
	r.addExecution(t, suite)
	return nil
}

// keyOf returns what tells a test from others of the report.
func (r *reader) keyOf(e xml.StartElement, suite, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, part := range []string{suite, name, attributeOf(e, "classname"), attributeOf(e, "file"), attributeOf(e, "line"), attributeOf(e, "id")} {
		_, _ = h.WriteString(part + "\x00")
	}
	return h.Sum64()
}

// addExecution counts an execution of a test.
func (r *reader) addExecution(t test, suite string) {
	before := r.results[t.key]
	if r.apart || t.name == "a test without a name" {
		before = ""
	}
	r.results[t.key] = r.sum.addTest(t, before, strings.HasPrefix(suite, "openshift-tests")) // which writes both executions of a flaky test, in no fixed order
}

// readFailure reads why a test failed; the first reason counts. alone: it is not part of a test case.
func (r *reader) readFailure(start xml.StartElement, t *test, alone bool) error {
	text, err := r.readText()
	if err != nil {
		return err
	}
	if t.message == "" && t.details == "" {
		t.details = tidyText(text)
		line, _, _ := strings.Cut(t.details, "\n")
		if t.message = tidyText(attributeOf(start, "message")); t.message == "" || t.message == "Failed" { // Go's converters always write this
			t.message = strings.TrimSpace(line)
		}
		t.message = cmp.Or(t.message, attributeOf(start, "type"), "no reason given")
	}
	switch {
	case !strings.HasPrefix(start.Name.Local, "flaky") && !strings.HasPrefix(start.Name.Local, "rerun"):
		t.result = failed
	case t.result == passed && strings.HasPrefix(start.Name.Local, "flaky"):
		t.result = flaky
	}
	if alone {
		r.read.failures++
		r.addExecution(*t, t.suite)
	}
	return nil
}

// readText reads an element's text up to what is kept, to the end of the element.
func (r *reader) readText() (string, error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		token, err := r.decoder.Token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "system-out" || token.Name.Local == "system-err" { // Surefire and cargo-nextest put them into a failure
				if err := r.decoder.Skip(); err != nil {
					return "", err
				}
				continue
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			b.Write(token[:min(len(token), MostText-b.Len())])
		}
	}
	return b.String(), nil
}

// colours are a terminal's, without the character before them that XML does not allow.
var colours = regexp.MustCompile(`\[[0-9;]{1,12}m`)

// tidyText shortens a text, and removes the colours and the space around it.
func tidyText(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), MostText)], "")
	return strings.TrimSpace(colours.ReplaceAllString(text, ""))
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}
