package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/profiles"
)

// checkDraft refuses clusters for draft pull requests if the repository's file says so.
func checkDraft(r Request) Check {
	check := Check{Name: "draft", Result: Pass, Message: "The pull request is no draft."}
	switch {
	case r.PR.Draft && r.File != nil && r.File.Drafts == profiles.DraftsDeny:
		check.Result, check.Asked, check.Accept = Fail, "a draft", "a pull request that is ready for review"
		check.Message = fmt.Sprintf("This pull request is a draft, and %s gives drafts no cluster.", fileOf(r))
		check.Next = "Mark the pull request as ready for review."
	case r.PR.Draft:
		check.Message = "The pull request is a draft, which may have a cluster."
	}
	return check
}

// checkFork keeps a fork's code from running before a person approves it. Setting a label or giving a command is a request, not an
// approval. An approval is bound to one head commit, so the text names none.
func (j judging) checkFork() Check {
	r := j.r
	check := Check{Name: "fork", Result: Pass, Message: "The branch is in the repository itself."}
	switch {
	case r.PR == nil:
		check.Message = "The request does not come from a pull request."
	case r.PR.Fork && j.deniesForks():
		check.Result, check.Asked, check.Accept = Fail, "a fork", "a branch of "+r.PR.Repo
		check.Message = "This pull request comes from a fork. Nothing runs for a fork's code."
		check.Next = fmt.Sprintf("Push the branch to %s itself and open the pull request from there.", r.PR.Repo)
	case r.PR.Fork:
		check = j.askForAgreement(check, "a fork", "a branch of "+r.PR.Repo)
		check.Message = "This pull request comes from a fork, and nothing runs for a fork's code before somebody has approved it."
	}
	return check
}

// deniesForks reports that the server or the repository refuses forks; either is enough.
func (j judging) deniesForks() bool {
	return j.settings.Forks == profiles.ForksDeny || j.r.File != nil && j.r.File.Forks == profiles.ForksDeny
}

// contributors are the author associations that need no approval, in GitHub's spelling. Any value that GitHub adds later needs one.
// Empty is for pull requests that were seen before ocpctl asked for the association.
var contributors = []string{"", "CONTRIBUTOR", "COLLABORATOR", "MEMBER", "OWNER"}

// checkFirst asks for an approval before anything runs for somebody's first contribution, whatever the entry point.
func (j judging) checkFirst() Check {
	pr := j.r.PR
	check := Check{Name: "first contribution", Result: Pass, Asked: pr.Association, Message: fmt.Sprintf("%s has contributed to %s before.", orDefault(pr.Author, "The author"), pr.Repo)}
	if pr.Association == "" {
		check.Message = "GitHub did not say whether the author is new here."
	}
	if !slices.Contains(contributors, pr.Association) {
		check = j.askForAgreement(check, pr.Association, "CONTRIBUTOR, COLLABORATOR, MEMBER or OWNER")
		check.Message = fmt.Sprintf("%s has not contributed to %s yet, so an approval is needed.", orDefault(pr.Author, "The author"), pr.Repo)
	}
	return check
}

// NeedsAgreement reports that the pull request's code is a stranger's: nothing runs for it before somebody has approved it.
func (pr PullRequest) NeedsAgreement() bool {
	return pr.Fork || !slices.Contains(contributors, pr.Association)
}

// byAuthor reports that the requester is the author of the pull request.
func (r Request) byAuthor() bool {
	if r.ByAuthor {
		return true
	}
	if r.PR == nil || r.PR.AuthorID == 0 { // GitHub did not say who that is: better one approval too many
		return r.PR != nil && strings.EqualFold(r.Principal.Name, r.PR.Author)
	}
	return r.Principal.ID == profiles.GitHubPrincipal(r.PR.AuthorID)
}

// askForAgreement makes a check ask for the approval of somebody who may create for the team.
func (j judging) askForAgreement(check Check, asked, accept string) Check {
	check.Result, check.Asked, check.Accept = Ask, asked, accept
	check.Next = "A member of the team reviews the newest commit and comments /ocp approve. A push before that needs a new approval."
	if j.own.Team != "" {
		check.Next = fmt.Sprintf("A member of team %s reviews the newest commit and comments /ocp approve. A push before that needs a new approval.", j.own.Team)
	}
	// Whoever set the label did not write the code, so their approval counts. The author's own does not.
	check.Approval = &Approval{Count: 1, Self: !j.r.byAuthor(), By: Requester}
	return check
}
