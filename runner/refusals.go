package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// refusals are what the cloud, or ocpctl itself, said last of each resource that a teardown could not remove.
type refusals struct {
	last  map[string]installer.Refusal // by resource
	stuck []string                     // resources that stopped the destroyer
	tries map[string]int               // in how many removals a resource was refused
}

// lastingRemovals is how many removals have to refuse a resource before what uses it is not taken for something that is on its way.
const lastingRemovals = 3

// hearRefusals keeps what the destroyer logged.
func (r *refusals) hearRefusals(all []installer.Refusal) {
	for _, one := range all {
		r.keepRefusal(one)
		if one.Lasting && !slices.Contains(r.stuck, one.Resource) {
			r.stuck = append(r.stuck, one.Resource)
		}
	}
}

// addUndeleted keeps what a removal, or Detach, did not delete, and returns it.
func (r *refusals) addUndeleted(err error) (all []installer.Refusal) {
	for _, left := range cloud.AllUndeleted(err) {
		one, ok := installer.RefusalOf(left.ID, left.Err)
		if !ok {
			continue
		}
		if r.tries == nil {
			r.tries = map[string]int{}
		}
		r.tries[left.ID]++
		one.Lasting = r.tries[left.ID] >= lastingRemovals
		r.keepRefusal(one)
		all = append(all, one)
	}
	return all
}

func (r *refusals) keepRefusal(one installer.Refusal) {
	if r.last == nil {
		r.last = map[string]installer.Refusal{}
	}
	r.last[one.Resource] = one
}

// refusalOf returns the last refusal of a leftover. A removal calls it as the count does; a tool names the ARN, or the kind and the name.
func (r *refusals) refusalOf(l contract.Leftover) (installer.Refusal, bool) {
	for _, id := range []string{l.ID, l.Name} {
		if one, ok := r.last[id]; ok && id != "" {
			return one, true
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(r.last)) {
		if part := installer.LastPart(resource); part != "" && (part == l.ID || part == l.Name) {
			return r.last[resource], true
		}
	}
	return installer.Refusal{}, false
}

// notReached is said of a leftover that nobody refused to remove, after a destroyer that was stopped.
const notReached = "nothing to do: openshift-install was stopped before it came to this; the next attempt continues"

// explainPass writes beside each leftover why it is there. What the count says about removing it would be refused too unless the cause is gone, so
// the advice of a refusal that does not heal takes its place. What never heals comes first, because people read the beginning of a list.
func (r *refusals) explainPass(p *contract.Pass) {
	hard := func(l contract.Leftover) int {
		if one, ok := r.refusalOf(l); ok && !one.Retryable {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(p.Leftovers, func(a, b contract.Leftover) int { return hard(a) - hard(b) })
	for i := range p.Leftovers {
		l := &p.Leftovers[i]
		one, ok := r.refusalOf(*l)
		switch {
		case isUnanswered(*l):
			continue
		case !ok && r.isStoppedByOne(): // the destroyer may not have come to it, and removes it when it runs again
			l.Free, l.Command, l.Remark = notReached, "", ""
			continue
		case !ok:
			continue
		}
		l.Refused = &contract.Refusal{Reason: one.Reason, Words: one.Words, Whose: one.Whose, Next: one.Next, Command: one.Command, Heals: one.Heals()}
		if !one.Heals() {
			l.Free, l.Command, l.Remark = one.Next, one.Command, one.Reason+": "+one.Uncoded
		}
	}
}

// isStoppedByOne reports that the destroyer was stopped by a resource that is refused for a reason of its own, and not because something else
// uses it, which may be among what nobody refused.
func (r *refusals) isStoppedByOne() bool {
	return slices.ContainsFunc(r.stuck, func(resource string) bool { return !r.last[resource].Retryable && !r.last[resource].Symptom })
}

// findCause returns the refusal that blocks a teardown, of what stopped the destroyer and of what is left: the most specific one that never heals.
// Without one, and as long as the cloud itself is not in trouble, from which others would follow, it is one that was repeated too often, and
// last one that only says what follows from another.
func (r *refusals) findCause(p contract.Pass) (found installer.Refusal, ok bool) {
	var hard, soft, symptoms []installer.Refusal
	inTrouble := false
	add := func(one installer.Refusal) {
		switch {
		case !one.Retryable:
			hard = append(hard, one)
		case one.Heals():
			inTrouble = inTrouble || one.Whose == contract.WhoseCloud
		case one.Symptom:
			symptoms = append(symptoms, one)
		default:
			soft = append(soft, one)
		}
	}
	for _, l := range p.Leftovers {
		if one, known := r.refusalOf(l); known && !isUnanswered(l) {
			add(one)
		}
	}
	for _, resource := range r.stuck {
		add(r.last[resource])
	}
	if inTrouble {
		soft, symptoms = nil, nil
	}
	for _, some := range [][]installer.Refusal{hard, soft, symptoms} {
		if len(some) > 0 {
			return installer.FirstRefusal(some), true
		}
	}
	return installer.Refusal{}, false
}

// isHopeless reports that nothing of what is left can go before somebody acts.
func (r *refusals) isHopeless(p contract.Pass) bool {
	return len(p.Leftovers) > 0 && !slices.ContainsFunc(p.Leftovers, func(l contract.Leftover) bool { return l.Refused == nil || l.Refused.Heals })
}

// isWaiting reports that something of what is left may go by itself.
func (r *refusals) isWaiting(p contract.Pass) bool {
	return slices.ContainsFunc(p.Leftovers, func(l contract.Leftover) bool { return l.Refused != nil && l.Refused.Heals })
}

// describeRefusals names resources that were refused, with the cloud's words.
func (r *refusals) describeRefusals(resources []string) string {
	var names []string
	for _, resource := range resources[:min(len(resources), shownItems)] {
		names = append(names, resource+" ("+r.last[resource].Uncoded+")")
	}
	if more := len(resources) - shownItems; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// cloudFailed ends a teardown that may not go on without an answer of the cloud. If the cloud refused for good, waiting is no advice.
func cloudFailed(message string, refused []installer.Refusal) failure {
	f := failure{
		Reason: "CloudUnanswered", Whose: contract.WhoseCloud, Retryable: true, Message: message,
		Next: "wait: ocpctl tries again; if it happens again, ask an administrator to check how the runner reaches the cloud",
	}
	refused = slices.DeleteFunc(refused, installer.Refusal.Heals)
	if len(refused) > 0 {
		first := installer.FirstRefusal(refused)
		f.Reason, f.Whose, f.Next = first.Reason, first.Whose, first.Advice()
	}
	return f
}

// refusalsOf classifies an error about no particular resource.
func refusalsOf(err error) []installer.Refusal {
	one, ok := installer.RefusalOf("", err)
	if !ok {
		return nil
	}
	return []installer.Refusal{one}
}

// explainBlocked is the failure of a teardown that a refusal blocks.
func (a *attempt) explainBlocked(by installer.Refusal, left string) failure {
	f := failure{
		Reason: by.Reason, Whose: by.Whose, Next: by.Advice(), Retryable: true,
		Message: fmt.Sprintf("%s: %s (%s); still there: %s", by.Message, cmp.Or(by.Resource, "a resource"), by.Uncoded, left),
	}
	if others := slices.DeleteFunc(slices.Clone(a.refusals.stuck), func(resource string) bool { return resource == by.Resource }); len(others) > 0 {
		f.Message += "; openshift-install cannot remove " + a.refusals.describeRefusals(others) + " either"
	}
	return f
}
