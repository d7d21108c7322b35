package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Read adds a report to the summary. Of a report that cannot be read to its end, nothing is added.
func (s *Summary) Read(report io.Reader) error {
	text, err := decoded(report)
	if err != nil {
		return err
	}
	decoder := xml.NewDecoder(text)
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	r := reader{decoder: decoder, sum: *s}
	r.sum.Failures, r.sum.Slowest = slices.Clone(s.Failures), slices.Clone(s.Slowest)
	if err := r.document(); err != nil {
		return err
	}
	*s = r.sum
	return nil
}

// reader walks through one report.
type reader struct {
	decoder *xml.Decoder
	sum     Summary
	depth   int
}

// deepest is how deep suites may lie in each other.
const deepest = 100

// document reads the whole report. Some tools write several top elements.
func (r *reader) document() error {
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
			if err := r.element(start, ""); err != nil {
				return err
			}
		}
	}
}

// element reads one element with everything in it, which belongs to a suite.
func (r *reader) element(start xml.StartElement, suite string) error {
	switch start.Name.Local {
	case "testcase":
		return r.testcase(start, suite)
	case "testsuite":
		suite = first(attribute(start, "name"), suite)
	case "failure", "error": // of the suite itself: it could not be run
		t := test{suite: suite, name: first(suite, "the suite"), result: failed}
		return r.failure(start, &t, true)
	case "testsuites":
	default:
		return r.decoder.Skip()
	}
	if r.depth++; r.depth > deepest {
		return fmt.Errorf("its suites lie more than %d deep in each other", deepest)
	}
	defer func() { r.depth-- }()
	return r.children(func(child xml.StartElement) error { return r.element(child, suite) })
}

// children calls read for each child, which must read it to its end, and returns at the end of the element.
func (r *reader) children(read func(xml.StartElement) error) error {
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

func (r *reader) testcase(start xml.StartElement, suite string) error {
	t := test{
		suite: first(attribute(start, "classname"), suite), name: first(attribute(start, "name"), "a test without a name"),
		result: passed, seconds: seconds(attribute(start, "time")),
	}
	switch attribute(start, "status") { // GoogleTest, and some others
	case "skipped", "disabled", "notrun", "ignored":
		t.result = skipped
	}
	err := r.children(func(child xml.StartElement) error {
		switch child.Name.Local {
		case "failure", "error":
			return r.failure(child, &t, false)
		case "skipped", "disabled", "ignored":
			if t.result != failed {
				t.result = skipped
			}
		}
		return r.decoder.Skip() // Surefire's flakyFailure too: in the end, the test passed
	})
	if err == nil {
		r.sum.add(t)
	}
	return err
}

// failure reads why a test failed; the first reason counts. alone: it is not part of a test case.
func (r *reader) failure(start xml.StartElement, t *test, alone bool) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if t.message == "" && t.details == "" {
		t.details = tidy(text)
		line, _, _ := strings.Cut(t.details, "\n")
		if t.message = tidy(attribute(start, "message")); t.message == "" || t.message == "Failed" { // Go's converters always write this
			t.message = strings.TrimSpace(line)
		}
		t.message = first(t.message, attribute(start, "type"), "no reason given")
	}
	t.result = failed
	if alone {
		r.sum.add(*t)
	}
	return nil
}

// text reads an element's text up to what is kept, to the end of the element.
func (r *reader) text() (string, error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		token, err := r.decoder.Token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
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

// tidy shortens a text, and removes the colours and the space around it.
func tidy(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), MostText)], "")
	return strings.TrimSpace(colours.ReplaceAllString(text, ""))
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// seconds reads a time: 1.5, or 1,234.5. What is no time counts as none.
func seconds(text string) float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
