package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Text returns a function that writes each result at once, and one that writes the summary.
func Text(w io.Writer) (report func(Result), end func() error) {
	counts := map[Status]int{}
	report = func(r Result) {
		counts[r.Status]++
		fmt.Fprintf(w, "%-8s%-38s %s\n", r.Status, r.Check, indentText(r.Found))
		if r.Next != "" {
			fmt.Fprintf(w, "%46s → %s\n", "", indentText(r.Next))
		}
	}
	return report, func() error {
		_, err := fmt.Fprintf(w, "\n%d ok, %d warn, %d fail, %d skipped\n", counts[OK], counts[Warn], counts[Fail], counts[Skipped])
		return err
	}
}

// indentText aligns the further lines of a text with its first.
func indentText(text string) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 49))
}

// JSON returns a function that collects the results, and one that writes them as one document.
func JSON(w io.Writer) (report func(Result), end func() error) {
	document := struct {
		Failed  int      `json:"failed"`
		Results []Result `json:"results"`
	}{Results: []Result{}}
	report = func(r Result) {
		document.Results = append(document.Results, r)
		if r.Status == Fail {
			document.Failed++
		}
	}
	return report, func() error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(document)
	}
}
