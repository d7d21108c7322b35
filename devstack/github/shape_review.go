package github

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// notInReviews are the fields of a pull request that GitHub leaves out of the events of reviews.
var notInReviews = []string{
	"additions", "deletions", "changed_files", "comments", "commits", "maintainer_can_modify", "mergeable", "mergeable_state", "merged", "merged_by",
	"rebaseable", "review_comments",
}

// reviewBody is a review as a whole, or a comment at a line. https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review
func (e Event) reviewBody() (_ object, err error) {
	defer must.Catch(&err)
	pull := must.Get(e.scene.pull(e.PR, 0))
	maps.DeleteFunc(pull, func(name string, _ any) bool { return slices.Contains(notInReviews, name) })
	repo := must.Get(e.scene.repository())
	body := object{"repository": repo, "pull_request": pull}
	if e.Name == "pull_request_review" {
		body["review"] = e.scene.review(e.Comment, e.ReviewState, e.PR)
	} else {
		body["comment"] = e.scene.lineComment(e.Comment, e.PR)
	}
	return body, nil
}

// review is a review; an empty text is null, as GitHub writes it.
func (sc scene) review(c Comment, state string, pr PullRequest) object {
	number := itoa(int64(pr.Number))
	web, api := sc.web()+sc.repo.Name+"/pull/"+number, sc.repoAPI()+"/pulls/"+number
	return object{
		"id": c.ID, "node_id": nodeID("PRR", c.ID), "user": sc.user(c.Author), "body": orNil(c.Body), "commit_id": pr.HeadSHA,
		"submitted_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "state": state, "html_url": web + "#pullrequestreview-" + itoa(c.ID), "pull_request_url": api,
		"author_association": cmp.Or(c.Association, association(c.Author)),
		"_links":             object{"html": object{"href": web + "#pullrequestreview-" + itoa(c.ID)}, "pull_request": object{"href": api}},
	}
}

// lineComment is a comment at the first line of the README.
func (sc scene) lineComment(c Comment, pr PullRequest) object {
	number := itoa(int64(pr.Number))
	web, api := sc.web()+sc.repo.Name+"/pull/"+number+"#discussion_r"+itoa(c.ID), sc.repoAPI()+"/pulls/comments/"+itoa(c.ID)
	pull := sc.repoAPI() + "/pulls/" + number
	return object{
		"id": c.ID, "node_id": nodeID("PRRC", c.ID), "pull_request_review_id": c.ID + 1, "url": api, "html_url": web, "pull_request_url": pull,
		"user": sc.user(c.Author), "body": c.Body, "author_association": cmp.Or(c.Association, association(c.Author)),
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "commit_id": pr.HeadSHA, "original_commit_id": pr.HeadSHA,
		"path": "README.md", "diff_hunk": "@@ -1 +1 @@\n-a\n+b", "position": 1, "original_position": 1, "line": 1, "original_line": 1, "start_line": nil,
		"original_start_line": nil, "side": "RIGHT", "start_side": nil, "subject_type": "line", "reactions": reactionSums(api, nil),
		"_links": object{"self": object{"href": api}, "html": object{"href": web}, "pull_request": object{"href": pull}},
	}
}
