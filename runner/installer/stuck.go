package installer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Refused is a resource that the destroyer cannot remove.
type Refused struct {
	ARN     string // or, if the destroyer named none, its message
	Message string // why, in the destroyer's words
	// Blocked says that AWS refused the removal with DependencyViolation: another resource uses this one.
	Blocked bool
	times   int
}

// Refusals detects resources that the destroyer finds by the cluster's tag but cannot remove. The destroyer retries each of them
// every ten seconds, for ever, and says so only at debug level (openshift.md §2). It also counts the removals that AWS refuses with
// DependencyViolation. It belongs to one goroutine.
type Refusals struct {
	times        int
	blockedTimes int
	seen         map[string]Refused
}

// NewRefusals returns a Refusals that reports a stuck destroyer once it refused the same resource `times` times, or AWS answered
// DependencyViolation for the same resource `blockedTimes` times, while nothing else was removed. The second limit is higher because
// load balancers and NAT gateways release their network interfaces minutes after they are deleted.
func NewRefusals(times, blockedTimes int) *Refusals {
	return &Refusals{times: times, blockedTimes: blockedTimes, seen: map[string]Refused{}}
}

var (
	refusal = regexp.MustCompile(`(?i)unrecognized (?:ARN|EC2|IAM|elastic|load|route ?53|S3|EFS|resource)[^(]*`)
	blocked = regexp.MustCompile(`DependencyViolation: [^"\\(]*`) // ends before "\n\tstatus code", which differs each time
	namedBy = regexp.MustCompile(`arn:aws[\w-]*:[^\s"',()\\]+`)
	removal = regexp.MustCompile(`msg="?(?:Deleted|Terminating|Terminated|Released|Disassociated|Detached|Emptied|Revoked)\b`)
)

// Line processes a line of the destroyer's output. It returns true once continuing is useless.
func (r *Refusals) Line(line string) bool {
	if removal.MatchString(line) {
		clear(r.seen) // what was just removed may have been the obstacle
		return false
	}
	text, limit := refusal.FindString(line), r.times
	inUse := false
	if text == "" {
		text, limit, inUse = blocked.FindString(line), r.blockedTimes, true
	}
	if text == "" {
		return false
	}
	text = strings.TrimRight(text, ` "`)
	arn := strings.TrimRight(cmp.Or(namedBy.FindString(line), text), ":.")
	one := r.seen[arn]
	one = Refused{ARN: arn, Message: text, Blocked: inUse, times: one.times + 1}
	r.seen[arn] = one
	return one.times >= limit
}

// All lists what is refused, in the order of the ARNs. It leaves out a DependencyViolation below its limit: most of them resolve
// themselves.
func (r *Refusals) All() []Refused {
	sorted := slices.SortedFunc(maps.Values(r.seen), func(a, b Refused) int { return strings.Compare(a.ARN, b.ARN) })
	return slices.DeleteFunc(sorted, func(one Refused) bool { return one.Blocked && one.times < r.blockedTimes })
}
