package pulls_test

import (
	"fmt"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

func TestAnEndSaysHowItBecameKnown(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	e := h.Event(pulls.ActionSeen, "", false, label)
	e.PR.Merged, e.Seen = true, true
	h.Sync(e)
	require.Equal(t, "the pull request was merged, seen by polling", h.Only().Ends.Reason().String())
	require.Equal(t, []string{db.Lifecycle}, h.Query(`SELECT actor FROM audit_events WHERE action = 'end_set'`))
}

// outcomeOf is what of a pull request's clusters must not depend on the order in which its events came.
func outcomeOf(h *fixture) string {
	newest := map[string]string{}
	for _, row := range h.Clusters() {
		newest[row.Profile] = fmt.Sprintf("%s closed=%t label=%t", row.Desired, !row.Ends.PRClosed.IsZero(), !row.Ends.LabelRemoved.IsZero())
	}
	return fmt.Sprint(newest)
}

// permutations of indexes.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, rest := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(rest), at, n-1))
		}
	}
	return all
}

// Whatever happened within one second or came in the wrong order: what GitHub says now decides.
func TestTheOrderOfEventsDoesNotMatter(t *testing.T) {
	head := strings.Repeat("e", 40)
	type happens struct {
		action, label string // of a comment: what it says
		open          bool
		labels        []string
		after         time.Duration
	}
	for name, c := range map[string]struct {
		events []happens // in the order in which they happened
		want   string
	}{
		"on and off within a second": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"unlabeled", label, true, nil, 0},
		}, "map[]"},
		"on, off, on and pushed within a second": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"unlabeled", label, true, nil, 0},
			{"labeled", label, true, []string{label}, 0}, {"synchronize", "", true, []string{label}, 0},
		}, "map[aws-minimal-test:present closed=false label=false]"},
		"labelled and closed within a second": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"closed", "", false, []string{label}, 0},
		}, "map[]"},
		"labelled and pushed, a second apart": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"synchronize", "", true, []string{label}, time.Second},
		}, "map[aws-minimal-test:present closed=false label=false]"},
		"asked for twice and closed within a second": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"comment", "/ocp create aws-standard", true, nil, 0}, {"closed", "", false, []string{label}, 0},
		}, "map[]"},
		"asked for twice, and one taken back": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"comment", "/ocp create aws-standard", true, nil, 0}, {"unlabeled", label, true, nil, 0},
		}, "map[aws-standard:present closed=false label=false]"},
		"two profiles and a push": {[]happens{
			{"labeled", label, true, []string{label}, 0}, {"labeled", "ocp/aws-standard", true, []string{label, "ocp/aws-standard"}, 0},
			{"synchronize", "", true, []string{label, "ocp/aws-standard"}, time.Second},
		}, "map[aws-minimal-test:present closed=false label=false aws-standard:present closed=false label=false]"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range permutations(len(c.events)) {
				h := newFixture(t)
				at, events := h.PR(true), make([]pulls.PullRequestEvent, len(c.events))
				for i, e := range c.events {
					pr := at
					pr.Open, pr.Labels, pr.UpdatedAt = e.open, e.labels, at.UpdatedAt.Add(e.after)
					if e.action == "synchronize" {
						pr.Head = head
					}
					events[i] = pulls.PullRequestEvent{PR: pr, Actor: "will", ActorID: servicetest.AccountID("will"), Action: e.action, Label: e.label}
				}
				h.GitHub.PRs = map[int]pullrequests.PullRequest{41: events[len(events)-1].PR}
				for _, i := range order {
					if e := c.events[i]; e.action == "comment" {
						h.Comment(int64(i+1), "will", e.label)
						continue
					}
					h.Sync(events[i])
				}
				require.Equal(t, c.want, outcomeOf(h), "%v", order)
			}
		})
	}
}

func TestACommentThatCreatesIsJudgedByThePullRequestAsItStands(t *testing.T) {
	h := opened(t)
	h.GitHub.PRs = map[int]pullrequests.PullRequest{41: h.PR(false)} // closed, and nobody told
	h.Comment(1, "will", "/ocp create")
	require.Empty(t, h.Clusters())
	require.Contains(t, h.Replies()[0], "is closed")
}

func TestWhatCameLateCountsForWhatItWasAboutAlone(t *testing.T) {
	h := newFixture(t)
	opened, labeled := h.Event("opened", "rob", true), h.Event("labeled", "will", true, label)
	labeled.Label = label
	h.GitHub.Permissions["rob"] = "write"
	h.Sync(h.Event("synchronize", "rob", true, label))
	h.Sync(opened)
	require.Empty(t, h.Clusters(), "he opened it without the label")
	h.Sync(labeled)
	require.Equal(t, servicetest.OnGitHub("will"), h.Only().RequestedBy)
}

func TestALateLabelIsNoRequestOnceALaterOneWasRefused(t *testing.T) {
	h := newFixture(t)
	first := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
	h.Labeled("toni", label)
	h.Sync(first)
	require.Empty(t, h.Clusters(), "the label that stands is toni's, and was answered")
}

func TestAPushBackToTheFirstHeadIsFollowedToo(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	first := h.Only().PR.Head
	for _, head := range []string{strings.Repeat("b", 40), first} {
		e := h.Event("synchronize", "will", true, label)
		e.PR.Head = head
		h.Sync(e)
		require.Equal(t, []string{head}, h.Query(`SELECT head FROM subscribers WHERE kind = 'github_check' AND NOT left_behind`))
	}
}
