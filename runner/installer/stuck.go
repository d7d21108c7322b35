package installer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Refused is a resource the destroyer does not know how to remove.
type Refused struct {
	ARN   string // or, where the destroyer named none, its words
	Words string // why, as the destroyer says it
	times int
}

// Refusals looks for resources the destroyer finds by the cluster's tag and knows no way to remove. It asks for each of
// them every ten seconds, for ever, and says so at debug level alone (openshift.md §2). It belongs to one goroutine.
type Refusals struct {
	times int
	seen  map[string]Refused
}

// NewRefusals returns a Refusals that speaks once the same resource was refused that many times while nothing was removed.
func NewRefusals(times int) *Refusals { return &Refusals{times: times, seen: map[string]Refused{}} }

var (
	refusal = regexp.MustCompile(`(?i)unrecognized (?:ARN|EC2|IAM|elastic|load|route ?53|S3|EFS|resource)[^(]*`)
	namedBy = regexp.MustCompile(`arn:aws[\w-]*:[^\s"',()\\]+`)
	removal = regexp.MustCompile(`msg="?(?:Deleted|Terminating|Terminated|Released|Disassociated|Detached|Emptied|Revoked)\b`)
)

// Line takes a line of the destroyer's output. It returns true once there is no use in going on.
func (r *Refusals) Line(line string) bool {
	if removal.MatchString(line) {
		clear(r.seen) // what was just removed may have stood in the way
		return false
	}
	words := refusal.FindString(line)
	if words == "" {
		return false
	}
	words = strings.TrimRight(words, ` "`)
	arn := strings.TrimRight(cmp.Or(namedBy.FindString(line), words), ":.")
	one := r.seen[arn]
	one = Refused{ARN: arn, Words: words, times: one.times + 1}
	r.seen[arn] = one
	return one.times >= r.times
}

// All lists what is refused, in the order of the ARNs.
func (r *Refusals) All() []Refused {
	return slices.SortedFunc(maps.Values(r.seen), func(a, b Refused) int { return strings.Compare(a.ARN, b.ARN) })
}
