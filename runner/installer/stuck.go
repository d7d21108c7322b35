package installer

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Refusals keeps the last refusal of each resource that the destroyer cannot remove, and says when continuing is useless. The destroyer
// retries each of them every ten seconds, for ever, and says so only at debug level. It belongs to one goroutine.
type Refusals struct {
	times        int
	blockedTimes int
	seen         map[string]int // since the last removal
	last         map[string]Refusal
}

// NewRefusals returns a Refusals that reports a stuck destroyer once the same resource was refused `times` times, or `blockedTimes` times for
// a reason that may heal, while nothing else was removed. The second limit is higher because load balancers and NAT gateways release their
// network interfaces, and on IBM Cloud their subnets, minutes after they are deleted.
func NewRefusals(times, blockedTimes int) *Refusals {
	return &Refusals{times: times, blockedTimes: blockedTimes, seen: map[string]int{}, last: map[string]Refusal{}}
}

var removal = regexp.MustCompile(`msg="?(?:Deleted|Terminating|Terminated|Released|Disassociated|Detached|Emptied|Revoked)\b`)

// Line processes a line of the destroyer's output. It returns true once continuing is useless.
func (r *Refusals) Line(line string) bool {
	if removal.MatchString(line) {
		clear(r.seen) // what was just removed may have been the obstacle
		return false
	}
	one, ok := RefusalIn(line)
	if !ok {
		return false
	}
	limit := r.times
	if one.Retryable {
		limit = r.blockedTimes
	}
	r.seen[one.Resource]++
	stuck := !one.Passing && r.seen[one.Resource] >= limit
	one.Lasting = stuck
	r.last[one.Resource] = one
	return stuck
}

// All lists the last refusal of each resource, in the order of the resources.
func (r *Refusals) All() []Refusal {
	return slices.SortedFunc(maps.Values(r.last), func(a, b Refusal) int { return strings.Compare(a.Resource, b.Resource) })
}
