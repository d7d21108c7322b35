package policy

import "slices"

// Change is what another catalogue changes about the verdict on a request.
type Change string

// The changes. A request that waits for its turn counts as accepted.
const (
	NowRefused  Change = "refused"  // it was accepted
	NowApproval Change = "approval" // it needed none
	NowAccepted Change = "accepted" // it was refused
	NowFree     Change = "free"     // it needed an approval, and needs none
)

// Changes lists the changes, what restricts first.
var Changes = []Change{NowRefused, NowApproval, NowAccepted, NowFree}

// Compare returns what changes from one verdict to another, with the checks that do it, each with its text in the verdict that it is of;
// empty: a person sees no difference.
func Compare(before, after Verdict) (change Change, checks []Check) {
	switch {
	case before.Allowed && !after.Allowed:
		return NowRefused, partsOf(after, Fail)
	case !before.Allowed && after.Allowed:
		return NowAccepted, partsOf(before, Fail)
	case before.Allowed && before.Approval == nil && after.Approval != nil:
		return NowApproval, partsOf(after, Ask)
	case before.Allowed && before.Approval != nil && after.Approval == nil:
		return NowFree, partsOf(before, Ask)
	}
	return "", nil
}

// partsOf lists the checks with a result; for one with parts, those of them that have it, with the check's name before their own.
func partsOf(v Verdict, result Result) (out []Check) {
	for _, c := range v.Checks {
		if len(c.Checks) == 0 && c.Result == result {
			out = append(out, c)
		}
		for _, part := range c.Checks {
			if part.Result == result && !slices.ContainsFunc(out, func(o Check) bool { return o.Name == c.Name+" "+part.Name }) {
				part.Name = c.Name + " " + part.Name
				out = append(out, part)
			}
		}
	}
	return out
}
