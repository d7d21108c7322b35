package runner

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// maxReason bounds the reason of one retried step: the server keeps 500 bytes of a step or so, and two may be retried at once.
const maxReason = 200

// requestIDs are what AWS adds to its errors and what differs in every answer: with them every try would be news.
var requestIDs = regexp.MustCompile(`,? ?\b(RequestID|HostID|request id|host id): [^\s,]*,?`)

// Retrying says that a step failed and is tried again, and why. People see it until Recovered or another reason takes its
// place. The same reason again is no news.
func (r *reporter) Retrying(what string, err error) {
	reason := strings.Join(strings.Fields(requestIDs.ReplaceAllString(r.redact.Text(err.Error()), "")), " ")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	r.tell(func(*contract.Report) { r.retried[what] = what + " failed and is tried again: " + reason })
}

// Recovered says that a step is not tried again any more.
func (r *reporter) Recovered(what string) {
	r.tell(func(*contract.Report) { delete(r.retried, what) })
}

// stepWords is the step with the reasons of what is tried again.
func (r *reporter) stepWords() string {
	words := make([]string, 0, len(r.retried)+1)
	if r.step != "" {
		words = append(words, r.step)
	}
	for _, what := range slices.Sorted(maps.Keys(r.retried)) {
		words = append(words, r.retried[what])
	}
	return strings.Join(words, "; ")
}
