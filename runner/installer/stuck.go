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
	ARN     string // on IBM Cloud the kind and name; or, if the destroyer named none, its message
	Message string // why, in the destroyer's words
	// Blocked says that AWS refused the removal with DependencyViolation, or IBM Cloud refused it at all: another resource uses this one.
	Blocked bool
	times   int
}

// Refusals detects resources that the destroyer finds by the cluster's tag but cannot remove. The destroyer retries each of them
// every ten seconds, for ever, and says so only at debug level (openshift.md §2). It also counts the removals that AWS refuses with
// DependencyViolation, and those that IBM Cloud refuses. It belongs to one goroutine.
type Refusals struct {
	times        int
	blockedTimes int
	seen         map[string]Refused
}

// NewRefusals returns a Refusals that reports a stuck destroyer once it refused the same resource `times` times, or the cloud refused to
// delete the same resource `blockedTimes` times, while nothing else was removed. The second limit is higher because load balancers and NAT
// gateways release their network interfaces, and on IBM Cloud their subnets, minutes after they are deleted.
func NewRefusals(times, blockedTimes int) *Refusals {
	return &Refusals{times: times, blockedTimes: blockedTimes, seen: map[string]Refused{}}
}

var (
	refusal = regexp.MustCompile(`(?i)unrecognized (?:ARN|EC2|IAM|elastic|load|route ?53|S3|EFS|resource)[^(]*`)
	blocked = regexp.MustCompile(`DependencyViolation: [^"\\(]*`) // ends before "\n\tstatus code", which differs each time
	// notDeleted is what the destroyer of IBM Cloud says of a removal that was refused (openshift/installer pkg/destroy/ibmcloud/subnet.go).
	// The rest of the line differs each time: it has the request's id.
	notDeleted = regexp.MustCompile(`Failed to delete ([a-z][a-z ]*?) ([a-z0-9][a-z0-9.*-]*): ([^"\\]*)`)
	namedBy    = regexp.MustCompile(`arn:aws[\w-]*:[^\s"',()\\]+`)
	removal    = regexp.MustCompile(`msg="?(?:Deleted|Terminating|Terminated|Released|Disassociated|Detached|Emptied|Revoked)\b`)
)

// Line processes a line of the destroyer's output. It returns true once continuing is useless.
func (r *Refusals) Line(line string) bool {
	if removal.MatchString(line) {
		clear(r.seen) // what was just removed may have been the obstacle
		return false
	}
	if kept := notDeleted.FindStringSubmatch(line); kept != nil {
		return r.refused(Refused{ARN: kept[1] + " " + kept[2], Message: strings.TrimSpace(kept[3]), Blocked: true}, r.blockedTimes)
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
	return r.refused(Refused{ARN: arn, Message: text, Blocked: inUse}, limit)
}

// refused counts one refusal. It returns true once there are as many as the limit.
func (r *Refusals) refused(one Refused, limit int) bool {
	one.times = r.seen[one.ARN].times + 1
	r.seen[one.ARN] = one
	return one.times >= limit
}

// All lists what is refused, in the order of the ARNs. It leaves out what is in use and below its limit: most of that resolves
// itself.
func (r *Refusals) All() []Refused {
	sorted := slices.SortedFunc(maps.Values(r.seen), func(a, b Refused) int { return strings.Compare(a.ARN, b.ARN) })
	return slices.DeleteFunc(sorted, func(one Refused) bool { return one.Blocked && one.times < r.blockedTimes })
}
