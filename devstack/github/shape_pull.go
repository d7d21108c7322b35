package github

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

func stateWord(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

// association returns the association of somebody about whom nothing else is known.
func association(login string) string {
	switch login {
	case ForkOwner:
		return "CONTRIBUTOR"
	case "maya", "will", "rita", "rob", "ada":
		return "MEMBER"
	}
	return "NONE"
}

func pullID(r RepoRef, number int) int64 { return (r.ID-RepoID)*10_000 + 900_000 + int64(number) }

// patchPull replaces a sample's pull request with the given one.
func (sc scene) patchPull(m object, pr PullRequest, comments int) {
	id := pullID(sc.repo, pr.Number)
	m["id"], m["node_id"], m["number"] = id, nodeID("PR", id), pr.Number
	m["title"], m["body"], m["user"] = pr.Title, pr.Body, sc.user(pr.Author)
	m["state"], m["labels"], m["draft"] = stateWord(pr.Open), sc.labelShapes(pr.Labels), pr.Draft
	m["created_at"], m["updated_at"] = stamp(pr.CreatedAt), stamp(pr.UpdatedAt)
	m["closed_at"], m["merged_at"], m["merge_commit_sha"] = stampOrNil(pr.ClosedAt), nil, orNil(pr.MergeSHA)
	m["merged"], m["merged_by"] = pr.Merged, nil
	if pr.Merged {
		m["merged_at"], m["merged_by"] = stampOrNil(pr.ClosedAt), sc.user(cmp.Or(pr.MergedBy, pr.Author))
	}
	m["assignee"], m["assignees"], m["milestone"], m["auto_merge"], m["active_lock_reason"] = nil, []any{}, nil, nil, nil
	m["locked"] = pr.Locked
	m["requested_reviewers"], m["requested_teams"] = []any{}, []any{}
	m["author_association"], m["comments"] = pr.association(), comments
	m["commits"], m["changed_files"] = max(pr.Pushes, 1), pr.Changed
	if old, ok := m["statuses_url"].(string); ok {
		if i := strings.LastIndex(old, "/"); i > 0 {
			m["statuses_url"] = old[:i+1] + pr.HeadSHA
			m["_links"].(object)["statuses"] = object{"href": old[:i+1] + pr.HeadSHA}
		}
	}
	sc.patchBranch(m["head"].(object), sc.head(pr), pr.HeadRef, pr.HeadSHA)
	sc.patchBranch(m["base"].(object), sc.repo, pr.base(), cmp.Or(pr.BaseSHA, commitID(sc.repo.Name, 0, 1)))
}

func (sc scene) patchBranch(m object, repo RepoRef, ref, sha string) {
	owner, _ := repo.split()
	m["label"], m["ref"], m["sha"], m["user"] = owner+":"+ref, ref, sha, sc.user(owner)
	if old, ok := m["repo"].(object); ok {
		sc.patchRepo(old, repo)
	}
}

// pull returns a pull request as the API does.
func (sc scene) pull(pr PullRequest, comments int) object {
	m := sc.sample("pull_request.opened", pr.Number)["pull_request"].(object)
	sc.patchPull(m, pr, comments)
	return m
}

// patchIssue replaces a sample's issue with the given pull request, as the issue that every pull request is.
func (sc scene) patchIssue(m object, pr PullRequest, comments int) {
	id := pullID(sc.repo, pr.Number) - 100_000
	m["id"], m["node_id"], m["number"] = id, nodeID("I", id), pr.Number
	m["title"], m["body"], m["user"] = pr.Title, pr.Body, sc.user(pr.Author)
	m["state"], m["labels"], m["draft"] = stateWord(pr.Open), sc.labelShapes(pr.Labels), pr.Draft
	m["created_at"], m["updated_at"], m["closed_at"] = stamp(pr.CreatedAt), stamp(pr.UpdatedAt), stampOrNil(pr.ClosedAt)
	m["assignee"], m["assignees"], m["milestone"] = nil, []any{}, nil
	m["locked"], m["active_lock_reason"], m["state_reason"] = pr.Locked, nil, nil
	m["author_association"], m["comments"] = pr.association(), comments
	api := strings.Replace(m["url"].(string), "/issues/", "/pulls/", 1)
	web := strings.Replace(m["html_url"].(string), "/issues/", "/pull/", 1)
	m["html_url"] = web
	var merged any
	if pr.Merged {
		merged = stampOrNil(pr.ClosedAt)
	}
	m["pull_request"] = object{"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "merged_at": merged}
	m["performed_via_github_app"], m["timeline_url"] = nil, m["url"].(string)+"/timeline"
	m["reactions"] = reactionSums(m["url"].(string), nil)
}

// reactionKinds are the contents GitHub knows.
var reactionKinds = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func reactionSums(of string, reactions map[string][]string) object {
	total, sums := 0, object{"url": of + "/reactions"}
	for _, kind := range reactionKinds {
		sums[kind] = len(reactions[kind])
		total += len(reactions[kind])
	}
	sums["total_count"] = total
	return sums
}

// patchComment replaces a sample's comment with the given one.
func (sc scene) patchComment(m object, c Comment) {
	m["id"], m["node_id"], m["body"] = c.ID, nodeID("IC", c.ID), c.Body
	m["url"] = sc.repoAPI() + "/issues/comments/" + itoa(c.ID)
	m["issue_url"] = sc.repoAPI() + "/issues/" + itoa(int64(c.Number))
	m["html_url"] = sc.web() + sc.repo.Name + "/pull/" + itoa(int64(c.Number)) + "#issuecomment-" + itoa(c.ID)
	m["user"], m["author_association"] = sc.user(c.Author), cmp.Or(c.Association, association(c.Author))
	m["created_at"], m["updated_at"] = stamp(c.CreatedAt), stamp(c.UpdatedAt)
	m["performed_via_github_app"] = nil
	if c.ByApp || c.Author == Bot {
		m["performed_via_github_app"] = sc.embeddedApp()
	}
	m["reactions"] = reactionSums(m["url"].(string), c.Reactions)
}

func (sc scene) comment(c Comment) object {
	m := sc.sample("issue_comment.created", c.Number)["comment"].(object)
	sc.patchComment(m, c)
	return m
}

// notInReviews are the fields of a pull request that GitHub leaves out of the events of reviews.
var notInReviews = []string{
	"additions", "deletions", "changed_files", "comments", "commits", "maintainer_can_modify", "mergeable", "mergeable_state", "merged", "merged_by",
	"rebaseable", "review_comments",
}

// reviewBody is a review as a whole, or a comment at a line. https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review
func (e Event) reviewBody() object {
	pull := e.scene.pull(e.PR, 0)
	maps.DeleteFunc(pull, func(name string, _ any) bool { return slices.Contains(notInReviews, name) })
	body := object{"repository": e.scene.repository(), "pull_request": pull}
	if e.Name == "pull_request_review" {
		body["review"] = e.scene.review(e.Comment, e.ReviewState, e.PR)
	} else {
		body["comment"] = e.scene.lineComment(e.Comment, e.PR)
	}
	return body
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
