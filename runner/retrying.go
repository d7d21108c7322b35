package runner

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// maxReason limits the reason of one retried step: the server stores about 500 bytes of a step, and two may be retried at once.
const maxReason = 200

// requestIDs are what AWS adds to its errors and what differs in every response: with them every try would look new.
var requestIDs = regexp.MustCompile(`,? ?\b(RequestID|HostID|request id|host id): [^\s,]*,?`)

// Retrying reports that a step failed and is retried, and why. People see it until Recovered or another reason replaces it. Repeating
// the same reason changes nothing.
func (r *reporter) Retrying(what string, err error) {
	reason := strings.Join(strings.Fields(requestIDs.ReplaceAllString(r.redact.Text(err.Error()), "")), " ")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	r.updateReport(func(*contract.Report) { r.retried[what] = what + " failed, retrying: " + reason })
}

// Recovered reports that a step is no longer retried.
func (r *reporter) Recovered(what string) {
	r.updateReport(func(*contract.Report) { delete(r.retried, what) })
}

// stepText returns the step with the reasons of what is being retried.
func (r *reporter) stepText() string {
	steps := make([]string, 0, len(r.retried)+1)
	if r.step != "" {
		steps = append(steps, r.step)
	}
	for _, what := range slices.Sorted(maps.Keys(r.retried)) {
		steps = append(steps, r.retried[what])
	}
	return strings.Join(steps, "; ")
}
