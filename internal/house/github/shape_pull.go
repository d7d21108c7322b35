package github

import "strings"

func stateWord(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

// association says how an author belongs to the repository.
func association(login string) string {
	switch login {
	case ForkOwner:
		return "CONTRIBUTOR"
	case "maya", "will", "rita":
		return "MEMBER"
	}
	return "NONE"
}

// patchPull makes a sample's pull request the given one.
func patchPull(m object, pr PullRequest, comments int, base string) {
	id := int64(900_000 + pr.Number)
	m["id"], m["node_id"], m["number"] = id, nodeID("PR", id), pr.Number
	m["title"], m["body"], m["user"] = pr.Title, pr.Body, userShape(pr.Author, base)
	m["state"], m["labels"] = stateWord(pr.Open), labelShapes(pr.Labels, base)
	m["created_at"], m["updated_at"] = stamp(pr.CreatedAt), stamp(pr.UpdatedAt)
	m["closed_at"], m["merged_at"], m["merge_commit_sha"] = stampOrNil(pr.ClosedAt), nil, nil
	m["assignee"], m["assignees"], m["milestone"] = nil, []any{}, nil
	m["requested_reviewers"], m["requested_teams"] = []any{}, []any{}
	m["author_association"], m["comments"] = association(pr.Author), comments
	if old, ok := m["statuses_url"].(string); ok {
		if i := strings.LastIndex(old, "/"); i > 0 {
			m["statuses_url"] = old[:i+1] + pr.HeadSHA
			m["_links"].(object)["statuses"] = object{"href": old[:i+1] + pr.HeadSHA}
		}
	}
	patchBranch(m["head"].(object), pr.HeadOwner, pr.HeadRef, pr.HeadSHA, base)
	patchBranch(m["base"].(object), Org, Branch, commitID(0, 1), base)
}

func patchBranch(m object, owner, ref, sha, base string) {
	m["label"], m["ref"], m["sha"], m["user"] = owner+":"+ref, ref, sha, userShape(owner, base)
	if repo, ok := m["repo"].(object); ok {
		patchRepo(repo, owner, base)
	}
}

// pullShape is a pull request as the API answers it.
func pullShape(pr PullRequest, comments int, base string) (object, error) {
	body, err := sample("pull_request.opened", base, pr.Number)
	if err != nil {
		return nil, err
	}
	m := body["pull_request"].(object)
	patchPull(m, pr, comments, base)
	return m, nil
}

// patchIssue makes a sample's issue the given pull request, seen as the issue every pull request is.
func patchIssue(m object, pr PullRequest, comments int, base string) {
	id := int64(800_000 + pr.Number)
	m["id"], m["node_id"], m["number"] = id, nodeID("I", id), pr.Number
	m["title"], m["body"], m["user"] = pr.Title, pr.Body, userShape(pr.Author, base)
	m["state"], m["labels"] = stateWord(pr.Open), labelShapes(pr.Labels, base)
	m["created_at"], m["updated_at"], m["closed_at"] = stamp(pr.CreatedAt), stamp(pr.UpdatedAt), stampOrNil(pr.ClosedAt)
	m["assignee"], m["assignees"], m["milestone"] = nil, []any{}, nil
	m["author_association"], m["comments"] = association(pr.Author), comments
	api := strings.Replace(m["url"].(string), "/issues/", "/pulls/", 1)
	web := strings.Replace(m["html_url"].(string), "/issues/", "/pull/", 1)
	m["html_url"] = web
	m["pull_request"] = object{"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "merged_at": nil}
}

func issueShape(pr PullRequest, comments int, base string) (object, error) {
	body, err := sample("issue_comment.created", base, pr.Number)
	if err != nil {
		return nil, err
	}
	m := body["issue"].(object)
	patchIssue(m, pr, comments, base)
	return m, nil
}

// reactionKinds are the contents GitHub knows.
var reactionKinds = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// patchComment makes a sample's comment the given one.
func patchComment(m object, c Comment, base string) {
	api, web := base+"/repos/"+Repo, base+"/"+Repo
	if base == "" {
		api, web = publicAPI+"repos/"+Repo, publicWeb+Repo
	}
	m["id"], m["node_id"], m["body"] = c.ID, nodeID("IC", c.ID), c.Body
	m["url"] = api + "/issues/comments/" + itoa(c.ID)
	m["issue_url"] = api + "/issues/" + itoa(int64(c.Number))
	m["html_url"] = web + "/pull/" + itoa(int64(c.Number)) + "#issuecomment-" + itoa(c.ID)
	m["user"], m["author_association"] = userShape(c.Author, base), association(c.Author)
	m["created_at"], m["updated_at"] = stamp(c.CreatedAt), stamp(c.UpdatedAt)
	m["performed_via_github_app"] = nil
	if c.Author == Bot {
		m["performed_via_github_app"] = appShape(base)
	}
	total, sums := 0, object{"url": m["url"].(string) + "/reactions"}
	for _, kind := range reactionKinds {
		sums[kind] = len(c.Reactions[kind])
		total += len(c.Reactions[kind])
	}
	sums["total_count"] = total
	m["reactions"] = sums
}

func commentShape(c Comment, base string) (object, error) {
	body, err := sample("issue_comment.created", base, c.Number)
	if err != nil {
		return nil, err
	}
	m := body["comment"].(object)
	patchComment(m, c, base)
	return m, nil
}
