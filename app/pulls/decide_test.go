package pulls

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

const (
	small      = "small"
	smallLabel = chatops.LabelPrefix + small
	lifetime8  = chatops.TTLLabelPrefix + "8"
	oldHead    = "0000000000"
	newHead    = "1111111111"
)

var decidedAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// cluster returns a live cluster that was requested by its label.
func cluster(change ...func(*clusters.Row)) clusters.Row {
	var row clusters.Row
	row.ID, row.Name, row.Profile, row.Generation = "clu_1", "pr-41-small", small, 1
	row.Desired, row.Source, row.Spec.Grace = lifecycle.Present, string(policy.SourceLabel), time.Hour
	row.PR = &clusters.PRRef{Installation: 5, Repo: "acme/shop", Number: 41, Head: oldHead}
	for _, c := range change {
		c(&row)
	}
	return row
}

func byComment(r *clusters.Row) { r.Source = string(policy.SourceComment) }
func gone(r *clusters.Row)      { r.Desired = lifecycle.Absent }
func held(r *clusters.Row) {
	r.HoldSource, r.Ends.Hold = string(policy.SourceLabel), decidedAt.Add(time.Hour)
}
func closing(r *clusters.Row)     { r.Ends.PRClosed = decidedAt.Add(time.Hour) }
func unlabelling(r *clusters.Row) { r.Ends.LabelRemoved = decidedAt.Add(time.Hour) }

// seen returns the facts of an open pull request with the label and these clusters, on which nothing is to be done.
func seen(rows ...clusters.Row) facts {
	pr := pullrequests.PullRequest{Installation: 5, Repo: "acme/shop", Number: 41, Open: true, Labels: []string{smallLabel}, UpdatedAt: decidedAt}
	return facts{event: PullRequestEvent{PR: pr, as: pr, Action: ActionEdited, Actor: "will", ActorID: 7, at: "7"}, now: decidedAt, clusters: rows}
}

// asking is seen with the facts about what people ask for.
func asking(rows ...clusters.Row) facts {
	f := seen(rows...)
	f.asked = &requestFacts{
		profileNames: []string{small}, profiles: map[string]string{smallLabel: small}, refused: map[string]bool{}, created: map[string]bool{},
	}
	return f
}

// after changes facts.
func after(f facts, changes ...func(*facts)) facts {
	for _, c := range changes {
		c(&f)
	}
	return f
}

func action(action, label string) func(*facts) {
	return func(f *facts) { f.event.Action, f.event.Label = action, label }
}

func labels(labels ...string) func(*facts) {
	return func(f *facts) { f.event.PR.Labels, f.event.as.Labels = labels, labels }
}

func onHead(f *facts)    { f.event.PR.Head = newHead }
func ourselves(f *facts) { f.event.own = true }
func late(f *facts)      { f.event.late = true }
func closed(f *facts)    { f.event.PR.Open = false }
func quietly(f *facts)   { f.now = decidedAt.Add(quiet) }

func pushed(mode, permission string) func(*facts) {
	return func(f *facts) {
		f.event.PR.Head, f.event.Action = newHead, ActionSynchronize
		f.asked.push = &pushFacts{mode, policy.Request{Source: policy.SourceComment, Permission: permission}}
	}
}

func TestDecideFollowsTheStateOfThePullRequest(t *testing.T) {
	row, comment, end := cluster(), cluster(byComment), decidedAt.Add(time.Hour)
	for name, c := range map[string]struct {
		facts facts
		want  []act
	}{
		"nothing changed":                    {seen(row), nil},
		"no cluster":                         {after(seen(), closed), nil},
		"a cluster that goes has no end":     {after(seen(cluster(gone)), closed), nil},
		"closed":                             {after(seen(row), closed), []act{setEnd{row, clusters.EndPRClosed, end, lifecycle.Reason{Code: lifecycle.ReasonPRClosed}}}},
		"closed, and it ends already":        {after(seen(cluster(closing)), closed), nil},
		"merged":                             {after(seen(row), closed, func(f *facts) { f.event.PR.Merged = true }), []act{setEnd{row, clusters.EndPRClosed, end, lifecycle.Reason{Code: lifecycle.ReasonPRMerged}}}},
		"seen closed by polling":             {after(seen(row), closed, func(f *facts) { f.event.Seen = true }), []act{setEnd{row, clusters.EndPRClosed, end, lifecycle.Reason{Code: lifecycle.ReasonPRClosed, Seen: true}}}},
		"archived":                           {after(seen(row), func(f *facts) { f.event.Archived = true }), []act{setEnd{row, clusters.EndPRClosed, end, lifecycle.Reason{Code: lifecycle.ReasonRepoArchived, Name: "acme/shop"}}}},
		"a draft where drafts get none":      {after(seen(row), func(f *facts) { f.event.PR.Draft, f.noDrafts = true, true }), []act{setEnd{row, clusters.EndPRClosed, end, lifecycle.Reason{Code: lifecycle.ReasonPRDraft}}}},
		"a draft where drafts get one":       {after(seen(row), func(f *facts) { f.event.PR.Draft = true }), nil},
		"open again":                         {seen(cluster(closing)), []act{liftEnd{cluster(closing), clusters.EndPRClosed, lifecycle.Reason{Code: lifecycle.ReasonPRClosed}, ""}}},
		"open, but the App is gone":          {after(seen(cluster(closing)), func(f *facts) { f.hidden = true }), nil},
		"the label was removed":              {after(seen(row), labels(), action(ActionUnlabeled, smallLabel)), []act{setEnd{row, clusters.EndLabelRemoved, end, lifecycle.Reason{Code: lifecycle.ReasonLabelRemoved}}}},
		"the label is not there":             {after(seen(row), labels()), []act{setEnd{row, clusters.EndLabelRemoved, end, lifecycle.Reason{Code: lifecycle.ReasonLabelRemoved}}}},
		"the label comes back":               {after(seen(row), labels(), func(f *facts) { f.returning = map[string]bool{smallLabel: true} }), nil},
		"it was requested by comment":        {after(seen(comment), labels()), nil},
		"the label is there again":           {seen(cluster(unlabelling)), []act{liftEnd{cluster(unlabelling), clusters.EndLabelRemoved, lifecycle.Reason{Code: lifecycle.ReasonLabelRemoved}, ""}}},
		"the label was removed by us":        {after(seen(row), labels(), action(ActionUnlabeled, smallLabel), ourselves), []act{restoreLabel{smallLabel, row}}},
		"another approval":                   {after(seen(row), func(f *facts) { f.outdated = map[string]bool{row.ID: true} }), []act{rebindApproval{row}}},
		"another installation":               {after(seen(row), func(f *facts) { f.event.PR.Installation = 6 }), []act{moveInstallation{}}},
		"held by a label that is gone":       {seen(cluster(held)), []act{liftHold{cluster(held), "the label " + chatops.KeepLabel + " was taken off"}}},
		"held by a label that is there":      {after(seen(cluster(held)), labels(smallLabel, chatops.KeepLabel)), nil},
		"after a request only ends count":    {after(seen(cluster(held)), closed, func(f *facts) { f.round = endsOnly }), []act{setEnd{cluster(held), clusters.EndPRClosed, end, lifecycle.Reason{Code: lifecycle.ReasonPRClosed}}}},
		"what people ask for is not decided": {after(seen(), action(ActionLabeled, smallLabel)), nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, decideActs(c.facts)) })
	}
}

func TestDecideAnswersLabels(t *testing.T) {
	row, request := cluster(), requestCluster{smallLabel, small, 1}
	unknown := chatops.LabelPrefix + "smal"
	for name, c := range map[string]struct {
		facts facts
		want  []act
	}{
		"added":                                {after(asking(), action(ActionLabeled, smallLabel)), []act{request, recheckEnds{}}},
		"opened with it":                       {after(asking(), action(ActionOpened, "")), []act{request, recheckEnds{}}},
		"opened, and it was added since":       {after(asking(), action(ActionOpened, ""), func(f *facts) { f.event.as.Labels = nil }), nil},
		"ready, and it was added since":        {after(asking(), action(ActionReady, ""), func(f *facts) { f.event.as.Labels, f.asked.draftsDenied = nil, true }), nil},
		"there before a push":                  {after(asking(), action(ActionSynchronize, "")), nil},
		"another label was added":              {after(asking(), action(ActionLabeled, "bug"), labels(smallLabel, "bug")), nil},
		"added by nobody we know":              {after(asking(), action(ActionLabeled, smallLabel), func(f *facts) { f.event.Actor = "" }), nil},
		"added, and closed since":              {after(asking(), action(ActionLabeled, smallLabel), closed), nil},
		"the next generation":                  {after(asking(cluster(gone)), action(ActionLabeled, smallLabel)), []act{requestCluster{smallLabel, small, 2}, recheckEnds{}}},
		"there is one":                         {after(asking(row), action(ActionLabeled, smallLabel)), nil},
		"there is one by comment":              {after(asking(cluster(byComment)), action(ActionLabeled, smallLabel)), []act{showByLabel{cluster(byComment)}}},
		"this event created it":                {after(asking(row), action(ActionLabeled, smallLabel), func(f *facts) { f.asked.created[row.ID] = true }), []act{holdCreated{row}}},
		"late":                                 {after(asking(), action(ActionLabeled, smallLabel), late), []act{request, recheckEnds{}}},
		"late and refused since":               {after(asking(), action(ActionLabeled, smallLabel), late, func(f *facts) { f.asked.refused[smallLabel] = true }), nil},
		"ready, where drafts get none":         {after(asking(), action(ActionReady, ""), func(f *facts) { f.asked.draftsDenied = true }), []act{request, recheckEnds{}}},
		"ready, where drafts get one":          {after(asking(), action(ActionReady, "")), nil},
		"put back by us too late":              {after(asking(), action(ActionLabeled, smallLabel), ourselves), []act{removeLabel{smallLabel, "back:7", smallLabel + " stands for nothing any more", ""}}},
		"found by polling":                     {after(asking(), action(ActionSeen, ""), quietly), []act{removeLabel{smallLabel, "unasked:7", smallLabel + " was set by nobody we know", messages.LabelOfNobody(smallLabel)}}},
		"found by polling a moment later":      {after(asking(), action(ActionSeen, "")), nil},
		"an unknown profile":                   {after(asking(), labels(unknown), action(ActionLabeled, unknown)), []act{rejectLabel{unknown, "no profile is called smal", chatops.UnknownLabel(unknown, []string{small})}}},
		"an unknown profile from before":       {after(asking(), labels(unknown)), nil},
		"no lifetime":                          {after(asking(), labels(chatops.TTLLabelPrefix+"x"), action(ActionLabeled, chatops.TTLLabelPrefix+"x")), []act{rejectLabel{chatops.TTLLabelPrefix + "x", chatops.TTLLabelPrefix + "x is no lifetime", messages.NoLifetime(chatops.TTLLabelPrefix + "x")}}},
		"a lifetime":                           {after(asking(row), labels(smallLabel, lifetime8), action(ActionLabeled, lifetime8)), []act{extendClusters{lifetime8, 8 * time.Hour, []clusters.Row{row}}}},
		"a lifetime of no cluster":             {after(asking(), labels(lifetime8), action(ActionLabeled, lifetime8)), nil},
		"a lifetime from before":               {after(asking(row), labels(smallLabel, lifetime8)), nil},
		"keep":                                 {after(asking(row), labels(smallLabel, chatops.KeepLabel), action(ActionLabeled, chatops.KeepLabel)), []act{holdClusters{[]clusters.Row{row}}}},
		"keep before there is a cluster":       {after(asking(), labels(chatops.KeepLabel), action(ActionLabeled, chatops.KeepLabel)), []act{holdClusters{nil}}},
		"keep from before":                     {after(asking(row), labels(smallLabel, chatops.KeepLabel)), nil},
		"keep late, and kept already":          {after(asking(cluster(held)), labels(smallLabel, chatops.KeepLabel), action(ActionLabeled, chatops.KeepLabel), late), nil},
		"a label that has no meaning for us":   {after(asking(), labels("bug"), action(ActionLabeled, "bug")), nil},
		"in the second round the ends are not": {after(asking(row), labels(), func(f *facts) { f.round = secondRound }), nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, decideActs(c.facts)) })
	}
}

func TestDecideFollowsAPush(t *testing.T) {
	row := cluster()
	why := func(mode string) lifecycle.Reason {
		return lifecycle.Reason{Code: lifecycle.ReasonPushed, Name: chatops.ShortSHA(newHead), To: mode}
	}
	recreate, refresh := profiles.SynchronizeRecreate, profiles.SynchronizeRefresh
	ended := cluster(gone, func(r *clusters.Row) { r.DesiredWhy = why(recreate) })
	current := cluster(func(r *clusters.Row) { r.PR.Head = newHead })
	resting := cluster(func(r *clusters.Row) { r.OffHours = true })
	unread := errors.New("GitHub is down")
	for name, c := range map[string]struct {
		facts facts
		want  []act
	}{
		"the checks follow":                {after(asking(row), onHead), []act{followHead{}}},
		"no cluster, no check":             {after(asking(cluster(gone)), onHead), nil},
		"closed":                           {after(asking(row), onHead, closed), nil},
		"recreate":                         {after(asking(row), pushed(recreate, "write")), []act{followHead{}, replaceCluster{row, true, why(recreate)}, recheckEnds{}}},
		"recreate what ends anyway":        {after(asking(cluster(unlabelling)), pushed(recreate, "write")), []act{followHead{}}},
		"recreate what is of this head":    {after(asking(current), pushed(recreate, "write")), []act{followHead{}}},
		"recreate what was ended for it":   {after(asking(ended), pushed(recreate, "write")), []act{replaceCluster{ended, false, why(recreate)}, recheckEnds{}}},
		"recreate what was destroyed":      {after(asking(cluster(gone)), pushed(recreate, "write")), nil},
		"refresh":                          {after(asking(row), pushed(refresh, "write")), []act{followHead{}, refreshAddons{row, why(refresh).String()}}},
		"a push uses what keeps hours":     {after(asking(resting), pushed(profiles.SynchronizeKeep, "write")), []act{followHead{}, useCluster{resting}}},
		"a push by a person who may not":   {after(asking(resting), pushed(profiles.SynchronizeKeep, "read")), []act{followHead{}, remark{"kept as they are: will pushed and has read permission"}}},
		"refresh what was destroyed":       {after(asking(cluster(gone)), pushed(refresh, "write")), nil},
		"pushed by a person who may not":   {after(asking(row), pushed(recreate, "read")), []act{followHead{}, remark{"kept as they are: will pushed and has read permission"}}},
		"the repository's file differs":    {after(asking(), func(f *facts) { f.asked.fileDiffers = true }), []act{checkFile{}}},
		"the repository's file is unknown": {after(asking(), func(f *facts) { f.asked.fileErr = unread }), []act{tryAgain{unread}}},
		"an unknown file delays no request": {after(asking(), action(ActionLabeled, smallLabel), func(f *facts) { f.asked.fileErr = unread }),
			[]act{requestCluster{smallLabel, small, 1}, recheckEnds{}, tryAgain{unread}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, decideActs(c.facts)) })
	}
}

// An extension is refused if the row changed since it was read, so it comes before the acts that change rows. Requests come before
// the check of the ends that follows from them.
func TestDecideOrdersItsActs(t *testing.T) {
	large := cluster(func(r *clusters.Row) { r.ID, r.Profile, r.PR.Head = "clu_2", "large", newHead })
	lifetime24 := chatops.TTLLabelPrefix + "24"
	f := after(asking(large), onHead, action(ActionReopened, ""), labels(chatops.KeepLabel, smallLabel, lifetime8, lifetime24, chatops.LabelPrefix+"large"))
	f.asked.profiles[chatops.LabelPrefix+"large"] = "large"
	f.asked.fileDiffers = true
	rows := []clusters.Row{large}
	require.Equal(t, []act{
		extendClusters{lifetime24, 24 * time.Hour, rows}, followHead{}, holdClusters{rows}, requestCluster{smallLabel, small, 1}, recheckEnds{}, checkFile{},
	}, decideActs(f))

	state := after(seen(cluster(closing, held)), labels(), func(f *facts) {
		f.event.PR.Installation = 6
		f.outdated = map[string]bool{"clu_1": true}
	})
	var kinds []string
	for _, a := range decideActs(state) {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", a), "pulls."))
	}
	require.Equal(t, []string{"moveInstallation", "liftEnd", "setEnd", "rebindApproval", "liftHold"}, kinds)
}

// carryOut does to the facts what the acts about the state do to the rows.
func carryOut(f facts, acts []act) facts {
	f.clusters = slices.Clone(f.clusters)
	row := func(of clusters.Row) *clusters.Row {
		return &f.clusters[slices.IndexFunc(f.clusters, func(r clusters.Row) bool { return r.ID == of.ID })]
	}
	end := func(of clusters.Row, kind clusters.EndKind, at time.Time, why lifecycle.Reason) {
		if kind == clusters.EndPRClosed {
			row(of).Ends.PRClosed, row(of).Ends.PRWhy = at, why
			return
		}
		row(of).Ends.LabelRemoved = at
	}
	for _, a := range acts {
		switch a := a.(type) {
		case setEnd:
			end(a.row, a.kind, a.at, a.why)
		case liftEnd:
			end(a.row, a.kind, time.Time{}, lifecycle.Reason{})
		case rebindApproval:
			f.outdated = map[string]bool{}
		case liftHold:
			row(a.row).HoldSource, row(a.row).Ends.Hold = "", time.Time{}
		case moveInstallation:
			for i := range f.clusters {
				ref := *f.clusters[i].PR
				ref.Installation = f.event.PR.Installation
				f.clusters[i].PR = &ref
			}
		case restoreLabel: // its own event adds the label again
			f.event.Action, f.event.PR.Labels = ActionSeen, append(slices.Clone(f.event.PR.Labels), a.label)
		}
	}
	return f
}

func TestDecidingAgainAfterTheActsChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
		row := cluster(func(r *clusters.Row) {
			for _, change := range []func(*clusters.Row){byComment, gone, held, closing, unlabelling} {
				if flip("changed") {
					change(r)
				}
			}
		})
		f := after(seen(row), func(f *facts) {
			e := &f.event
			e.PR.Open, e.PR.Merged, e.PR.Draft, e.Archived = flip("open"), flip("merged"), flip("draft"), flip("archived")
			e.own, e.late, f.hidden = flip("own"), flip("late"), flip("hidden")
			e.PR.Installation = rapid.Int64Range(5, 6).Draw(t, "installation")
			e.Action = rapid.SampledFrom([]string{ActionSeen, ActionLabeled, ActionUnlabeled, ActionReopened, "closed"}).Draw(t, "action")
			e.Label = rapid.SampledFrom([]string{"", smallLabel, chatops.KeepLabel}).Draw(t, "label")
			e.PR.Labels = rapid.SliceOfDistinct(rapid.SampledFrom([]string{smallLabel, chatops.KeepLabel, "bug"}), rapid.ID[string]).Draw(t, "labels")
			f.noDrafts = e.PR.Draft && flip("drafts denied")
			f.returning = map[string]bool{smallLabel: flip("returning")}
			f.outdated = map[string]bool{row.ID: flip("outdated")}
		})
		acts := decideActs(f)
		require.Equal(t, acts, decideActs(f), "equal facts give equal acts")
		require.Empty(t, decideActs(carryOut(f, acts)), "%T", acts)
	})
}
