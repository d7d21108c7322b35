package pulls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// decideActs returns what to do about a pull request, in this order. It has no side effects, and equal facts give equal acts.
//
// There are at most two rounds. In the first the clusters come to follow the state of the pull request. If there is nothing to
// do about that, what people ask for is decided at once; otherwise in the second round, because ends, approvals and row versions
// are different by then, and because no end may wait for an answer of GitHub that only a request needs.
func decideActs(f facts) []act {
	switch {
	case f.round == endsOnly:
		return decideEnds(f)
	case f.asked == nil:
		return followState(f)
	}
	return answerRequests(f)
}

// followState returns what makes the live clusters follow the state of the pull request.
func followState(f facts) (acts []act) {
	live, e := f.liveClusters(), f.event
	if slices.ContainsFunc(live, func(r clusters.Row) bool { return r.PR.Installation != e.PR.Installation }) { // GitHub sent no event about that
		acts = append(acts, moveInstallation{})
	}
	acts = append(acts, decideEnds(f)...)
	acts = append(acts, decideRestore(e, live)...)
	return append(acts, decideUnhold(e, live)...)
}

// decideEnds returns what brings the ends and the approvals of the live clusters up to date.
func decideEnds(f facts) (acts []act) {
	for _, row := range f.liveClusters() {
		acts = append(acts, endsOf(f, row)...)
		if f.outdated[row.ID] {
			acts = append(acts, rebindApproval{row})
		}
	}
	return acts
}

// endsOf returns which reversible ends of a cluster to set or to lift.
func endsOf(f facts, row clusters.Row) (acts []act) {
	e, closed := f.event, isClosed(f)
	for _, end := range []struct {
		kind   clusters.EndKind
		wanted bool
		set    time.Time
		why    lifecycle.Reason
	}{
		{clusters.EndPRClosed, closed, row.Ends.PRClosed, whyClosed(e, row)},
		{clusters.EndLabelRemoved, isUnlabeled(e, row, f.returning[chatops.LabelPrefix+row.Profile]), row.Ends.LabelRemoved, lifecycle.Reason{Code: lifecycle.ReasonLabelRemoved}},
	} {
		why := end.why
		why.Seen = why.Seen || e.Seen
		switch {
		case end.wanted == !end.set.IsZero():
		case end.wanted:
			acts = append(acts, setEnd{row, end.kind, f.now.Add(row.Spec.Grace), why})
		case end.kind != clusters.EndPRClosed || !f.hidden:
			acts = append(acts, liftEnd{row, end.kind, why, e.how()})
		}
	}
	return acts
}

// isClosed reports whether the pull request counts as closed.
func isClosed(f facts) bool { return !f.event.PR.Open || f.noDrafts || f.event.Archived }

// needsVisibility reports whether the decision depends on whether the App still sees the pull request.
func needsVisibility(f facts) bool {
	return !isClosed(f) && f.event.Action == ActionSeen &&
		slices.ContainsFunc(f.liveClusters(), func(r clusters.Row) bool { return !r.Ends.PRClosed.IsZero() })
}

// isUnlabeled reports whether somebody removed the label that a cluster was requested by. A removal by us does not count: the
// label comes back (returning), and until then only another removal by somebody counts.
func isUnlabeled(e PullRequestEvent, row clusters.Row, returning bool) bool {
	label := chatops.LabelPrefix + row.Profile
	switch {
	case row.Source != string(policy.SourceLabel) || slices.Contains(e.PR.Labels, label):
		return false
	case e.Action == ActionUnlabeled && e.Label == label:
		return !e.own
	}
	return !row.Ends.LabelRemoved.IsZero() || !returning
}

// needsReturning reports whether isUnlabeled depends on whether the label comes back.
func needsReturning(e PullRequestEvent, row clusters.Row) bool {
	return isUnlabeled(e, row, false) != isUnlabeled(e, row, true)
}

// decideRestore returns the label to put back: one that we removed while somebody requested a live cluster by it.
func decideRestore(e PullRequestEvent, live []clusters.Row) []act {
	if !e.own || e.Action != ActionUnlabeled || slices.Contains(e.PR.Labels, e.Label) {
		return nil
	}
	for _, row := range live {
		if row.Source == string(policy.SourceLabel) && e.Label == chatops.LabelPrefix+row.Profile {
			return []act{restoreLabel{e.Label, row}}
		}
	}
	return nil
}

// decideUnhold returns which holds end because their label is gone, whoever removed it.
func decideUnhold(e PullRequestEvent, live []clusters.Row) (acts []act) {
	if slices.Contains(e.PR.Labels, chatops.KeepLabel) {
		return nil
	}
	for _, row := range live {
		if isKept(row) {
			acts = append(acts, liftHold{row, lifecycle.Reason{Code: lifecycle.ReasonOther, Words: "the label " + chatops.KeepLabel + " was taken off", Seen: e.Seen}.String()})
		}
	}
	return acts
}

// answerRequests returns what people ask for by the event, and what keeps the labels and checks true.
func answerRequests(f facts) (acts []act) {
	e := f.event
	if !e.PR.Open {
		return nil
	}
	var lifetimes []extendClusters
	var others []act
	for _, label := range e.PR.Labels {
		switch a := decideLabel(f, label).(type) {
		case nil:
		case extendClusters:
			lifetimes = append(lifetimes, a)
		default:
			others = append(others, a)
		}
	}
	acts = longestExtension(lifetimes)                // first: it is refused if the row changed since it was read, and the other acts change it
	if e.PR.Head != "" && len(f.liveClusters()) > 0 { // also when it returns to its first head
		acts = append(acts, followHead{})
	}
	acts = append(acts, decidePush(f)...)
	acts = append(acts, others...)
	if slices.ContainsFunc(acts, storesRequest) {
		acts = append(acts, recheckEnds{})
	}
	switch {
	case f.asked.fileErr != nil:
		acts = append(acts, tryAgain{f.asked.fileErr})
	case f.asked.fileDiffers:
		acts = append(acts, checkFile{})
	}
	if f.asked.catalogue {
		acts = append(acts, checkCatalogue{})
	}
	return acts
}

// storesRequest reports whether an act stores a request for a cluster.
func storesRequest(a act) bool {
	switch a.(type) {
	case requestCluster, replaceCluster:
		return true
	}
	return false
}

// longestExtension returns the extension to the longest lifetime. It includes the others.
func longestExtension(lifetimes []extendClusters) []act {
	if len(lifetimes) == 0 {
		return nil
	}
	return []act{slices.MaxFunc(lifetimes, func(a, b extendClusters) int { return cmp.Compare(a.ttl, b.ttl) })}
}

// olderCommitClusters returns the newest cluster of each profile that was requested for an older commit.
func olderCommitClusters(f facts) []clusters.Row {
	return slices.DeleteFunc(f.newestClusters(), func(r clusters.Row) bool { return r.PR == nil || r.PR.Head == f.event.PR.Head })
}

// needsPush reports whether something may follow from a push.
func needsPush(f facts) bool {
	e := f.event
	return e.PR.Open && e.PR.Head != "" && e.Action == ActionSynchronize && e.Actor != "" && len(olderCommitClusters(f)) > 0
}

// isUsedByPush reports whether a push is a use of the cluster that matters.
func isUsedByPush(row clusters.Row) bool { return row.UseMatters() && isPresent(row) }

// decidePush returns what a push does to the clusters of older commits. A cluster that was ended for this push and has no
// successor, because the process died in between, gets it now.
func decidePush(f facts) (acts []act) {
	push, e := f.asked.push, f.event
	if push == nil {
		return nil
	}
	if !mayCreate(push.request) {
		return []act{remark{fmt.Sprintf("kept as they are: %s pushed and has %s permission", e.Actor, push.request.Permission)}}
	}
	why := lifecycle.Reason{Code: lifecycle.ReasonPushed, Name: chatops.ShortSHA(e.PR.Head), To: string(push.mode)}
	for _, row := range olderCommitClusters(f) {
		ending := !row.Ends.PRClosed.IsZero() || !row.Ends.LabelRemoved.IsZero()
		if isUsedByPush(row) {
			acts = append(acts, useCluster{row})
		}
		switch {
		case push.mode == profiles.SynchronizeRefresh && isPresent(row):
			acts = append(acts, refreshAddons{row, why.String()})
		case push.mode == profiles.SynchronizeRecreate && isPresent(row) && !ending:
			acts = append(acts, replaceCluster{row, true, why})
		case push.mode == profiles.SynchronizeRecreate && row.DesiredWhy == why:
			acts = append(acts, replaceCluster{row, false, why})
		}
	}
	return acts
}

// decideLabel returns what follows from a label that the pull request has; nil: nothing.
func decideLabel(f facts, label string) act {
	e, live := f.event, f.liveClusters()
	if label == chatops.KeepLabel {
		if !setsLabel(e, label) || e.late && slices.ContainsFunc(live, isKept) {
			return nil
		}
		return holdClusters{live}
	}
	if strings.HasPrefix(label, chatops.TTLLabelPrefix) {
		return decideLifetime(e, live, label)
	}
	name, ok := profileIn(label)
	if !ok {
		return nil
	}
	profile, known := f.asked.profiles[label]
	if !known {
		return rejectUnknownLabel(e, label, "no profile is called "+name, chatops.UnknownLabel(label, f.asked.profileNames))
	}
	row := f.newestOf(profile)
	if row.ID != "" && isPresent(row) {
		switch {
		case row.Source != string(policy.SourceLabel):
			return showByLabel{row}
		case f.asked.created[row.ID]:
			return holdCreated{row}
		}
		return nil
	}
	switch {
	case !asksFor(e, f.asked, label):
		return decideUnasked(f, label)
	case f.asked.refused[label]: // the person whose label is there now was answered
		return nil
	case row.ID != "" && row.AcceptedAt.After(e.LabeledAt) && !e.LabeledAt.IsZero(): // the label had its cluster, and outlived it
		return nil
	}
	return requestCluster{label, profile, row.Generation + 1}
}

// decideLifetime returns what follows from a label with a lifetime.
func decideLifetime(e PullRequestEvent, live []clusters.Row, label string) act {
	ttl, ok := chatops.ParseTTLLabel(label)
	switch {
	case !ok:
		return rejectUnknownLabel(e, label, label+" is no lifetime", messages.NoLifetime(label))
	case !setsLabel(e, label) || len(live) == 0:
		return nil
	}
	return extendClusters{label, ttl, live}
}

// rejectUnknownLabel returns that a label is removed that can never mean anything. If it is not known who added it, it stays: it may be the
// repository's own, from before.
func rejectUnknownLabel(e PullRequestEvent, label, note, why string) act {
	if !setsLabel(e, label) {
		return nil
	}
	return rejectLabel{label, note, why}
}

// decideUnasked returns that a label without a request is removed: one that we put back too late, and one that polling finds
// although GitHub never said who added it or when it came back.
func decideUnasked(f facts, label string) act {
	e := f.event
	switch {
	case e.own && e.Action == ActionLabeled && e.Label == label:
		return removeLabel{label, "back:" + e.at, label + " stands for nothing any more", ""}
	case e.Action != ActionSeen || f.now.Sub(e.PR.UpdatedAt) < quiet:
		return nil
	}
	return removeLabel{label, "unasked:" + e.at, label + " was set by nobody we know", messages.LabelOfNobody(label)}
}

// asksFor reports whether the event is a request for what a label stands for: somebody added it, or made a pull request with it ready
// for review where drafts count as closed, which reopens it.
func asksFor(e PullRequestEvent, asked *requestFacts, label string) bool {
	return setsLabel(e, label) || asked.draftsDenied && undraftsLabel(e, label)
}

// undraftsLabel reports whether somebody made a pull request with the label ready for review.
func undraftsLabel(e PullRequestEvent, label string) bool {
	return e.Action == ActionReady && !e.own && e.Actor != "" && slices.Contains(e.as.Labels, label)
}

// setsLabel reports whether the event is somebody's action on this label: they added it, or opened or reopened a pull request that
// had it. Only such an action counts as a request. Otherwise the next push by a person with permission would create, on their
// behalf, what a person without permission had asked for.
func setsLabel(e PullRequestEvent, label string) bool {
	opens := (e.Action == ActionReopened || e.Action == ActionOpened) && slices.Contains(e.as.Labels, label)
	return !e.own && e.Actor != "" && (opens || e.Action == ActionLabeled && e.Label == label)
}

// needsFile reports whether the event may bring another version of the repository's file.
func needsFile(e PullRequestEvent) bool {
	return slices.Contains([]string{ActionOpened, ActionReopened, ActionSynchronize, ActionEdited}, e.Action) && e.PR.Open && e.PR.Head != ""
}
