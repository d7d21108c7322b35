package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

func TestForksAreTheServersMatterThenTheRepositorys(t *testing.T) {
	for _, c := range []struct {
		server, file string
		result       Result
		next         string
	}{
		{"", "", Ask, "comments /ocp approve"},
		{"", "none", Ask, "comments /ocp approve"},
		{"", "approve", Ask, "comments /ocp approve"},
		{"", "deny", Fail, "open the pull request from there"},
		{"approve", "", Ask, "comments /ocp approve"},
		{"approve", "none", Ask, "A member of team shop"},
		{"approve", "approve", Ask, "A push before that needs a new approval"},
		{"approve", "deny", Fail, "open the pull request from there"},
		{"deny", "", Fail, "open the pull request from there"},
		{"deny", "approve", Fail, "open the pull request from there"},
	} {
		r := validRequest()
		r.PR.Fork, r.PR.Author = true, "rita"
		if c.file != "none" {
			r.File = &profiles.RepositoryFile{Forks: c.file}
		}
		v := Evaluate(r, Usage{}, terms(t), Settings{Forks: c.server})
		check := find(t, v, "fork")
		require.Equal(t, c.result, check.Result, c)
		require.Contains(t, check.Next, c.next, c)
		require.Equal(t, c.result == Ask, v.Allowed, c)
		if v.Allowed {
			require.Equal(t, &Approval{Count: 1, Self: true, By: Requester, For: 24 * time.Hour, Why: []string{check.Message}}, v.Approval, c)
			require.Contains(t, v.Text(), "A member of the team must approve this within 24 h. This pull request comes from a fork", c)
		}
	}
	v := Evaluate(validRequest(), Usage{}, terms(t), Settings{Forks: "deny"})
	require.True(t, v.Allowed, "a branch of the repository is no fork")
}

func TestANewcomersPullRequestTakesAPersonsWord(t *testing.T) {
	for association, result := range map[string]Result{
		"NONE": Ask, "FIRST_TIMER": Ask, "FIRST_TIME_CONTRIBUTOR": Ask, "MANNEQUIN": Ask, "SOMETHING_NEW": Ask, "member": Ask,
		"CONTRIBUTOR": Pass, "COLLABORATOR": Pass, "MEMBER": Pass, "OWNER": Pass, "": Pass,
	} {
		r := validRequest()
		r.PR.Association, r.PR.Author = association, "rita"
		v := Evaluate(r, Usage{}, terms(t), Settings{})
		require.True(t, v.Allowed)
		check := find(t, v, "first contribution")
		require.Equal(t, result, check.Result, association)
		require.Equal(t, result == Ask, v.Approval != nil, association)
		if result == Ask {
			require.Equal(t, []any{association, "CONTRIBUTOR, COLLABORATOR, MEMBER or OWNER"}, []any{check.Asked, check.Accept})
			require.Equal(t, &Approval{Count: 1, Self: true, By: Requester, For: 24 * time.Hour, Why: []string{"rita has not contributed to acme/shop yet, so an approval is needed."}}, v.Approval)
			require.NotEmpty(t, check.Next)
		}
	}
}

func TestANewcomersForkIsAskedForOnceWithBothReasons(t *testing.T) {
	r := validRequest()
	r.PR.Fork, r.PR.Association = true, "FIRST_TIMER"
	v := Evaluate(r, Usage{}, terms(t), Settings{Forks: "approve"})
	require.True(t, v.Allowed)
	require.Equal(t, &Approval{Count: 1, By: Requester, For: 24 * time.Hour, Why: []string{find(t, v, "fork").Message, find(t, v, "first contribution").Message}}, v.Approval)

	terms := declaredTerms(t)
	v = Evaluate(r, Usage{Team: Counts{SpentCents: 45_000}}, terms, Settings{Forks: "approve"})
	require.Equal(t, PlatformAdmin, v.Approval.By, "what takes a platform admin takes one for all of it")
	require.Len(t, v.Approval.Why, 3)
}

// Whoever labels somebody else's pull request may have looked at it. Whoever wrote it is no second pair of eyes.
func TestTheAuthorOfAForkDoesNotApproveIt(t *testing.T) {
	for author, self := range map[string]bool{"rita": true, "maya": false, "Maya": false} {
		r := validRequest()
		r.PR.Fork, r.PR.Author = true, author
		v := Evaluate(r, Usage{}, terms(t), Settings{})
		require.Equal(t, self, v.Approval.Self, author)
		require.Equal(t, !self, strings.HasPrefix(v.Approval.Text(), "Another "), author)
	}
	for account, self := range map[int64]bool{2001: false, 2002: true} {
		r := validRequest()
		r.PR.Fork, r.PR.AuthorID = true, account
		r.PR.Author = map[bool]string{true: "maya", false: "maya-w"}[self]
		require.Equal(t, self, Evaluate(r, Usage{}, terms(t), Settings{}).Approval.Self, "the account counts, whatever it is called")
	}
}

func TestTheOneWhoAskedApprovesOnlyWhereEveryCheckLetsThem(t *testing.T) {
	ask := func(count int, self bool) Check {
		return Check{Result: Ask, Message: "x.", Approval: &Approval{Count: count, Self: self}}
	}
	for _, c := range []struct {
		checks []Check
		self   bool
	}{
		{[]Check{ask(1, true)}, true}, {[]Check{ask(1, true), ask(1, true)}, true}, {[]Check{ask(1, false)}, false}, {[]Check{ask(0, false)}, false},
		{[]Check{ask(1, true), ask(1, false)}, false}, {[]Check{ask(2, true)}, false}, {[]Check{ask(1, true), ask(2, true)}, false},
		{[]Check{ask(1, true), {Result: Ask, Message: "by default."}}, false},
	} {
		require.Equal(t, c.self, mergeApprovals(c.checks).Self, c.checks)
	}
}

func TestABudgetMayLetTheOneWhoAskedApprove(t *testing.T) {
	for _, self := range []bool{false, true} {
		r, terms := validRequest(), declaredTerms(t)
		for i := range terms.Catalogue.Teams {
			terms.Catalogue.Teams[i].Budget.Self = self
		}
		v := Evaluate(r, Usage{Team: Counts{SpentCents: 45_000}}, terms, Settings{})
		require.NotNil(t, v.Approval)
		require.Equal(t, self, v.Approval.Self)
	}
}

func TestADraftIsRefusedWhereTheRepositorySaysSo(t *testing.T) {
	for _, c := range []struct {
		draft bool
		file  *profiles.RepositoryFile
		want  Result
		text  string
	}{
		{true, &profiles.RepositoryFile{Drafts: "deny"}, Fail, "This pull request is a draft, and .github/ocpctl.yaml of acme/shop gives drafts no cluster."},
		{true, &profiles.RepositoryFile{Drafts: "allow"}, Pass, "may have a cluster"},
		{true, &profiles.RepositoryFile{}, Pass, "may have a cluster"},
		{true, nil, Pass, "may have a cluster"},
		{false, &profiles.RepositoryFile{Drafts: "deny"}, Pass, "no draft"},
	} {
		r := validRequest()
		r.PR.Draft, r.File = c.draft, c.file
		v := Evaluate(r, Usage{}, terms(t), Settings{})
		check := find(t, v, "draft")
		require.Equal(t, c.want, check.Result)
		require.Contains(t, check.Message, c.text)
		require.Equal(t, c.want != Fail, v.Allowed)
		require.True(t, Authorize(r, ActDestroy, nil).Allowed, "to end a draft's cluster is never refused")
	}
}

func TestARequestWithoutAPullRequestIsAskedNothingOfOne(t *testing.T) {
	r := validRequest()
	r.PR, r.Name, r.Source, r.Permission, r.Principal = nil, "mine", SourceAPI, "", As("x", "maya", PlatformAdmin)
	for _, c := range Evaluate(r, Usage{}, terms(t), Settings{Forks: "deny"}).Checks {
		require.NotContains(t, []string{"draft", "first contribution", "repository file"}, c.Name)
	}
}
