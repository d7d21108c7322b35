package github

// suiteID returns the number of the App's check suite on a commit: one per head.
func suiteID(sha string) int64 {
	var id int64
	for _, r := range sha {
		id = id*31%900_000 + int64(r)
	}
	return 700_000 + id
}

// check returns a check run as the API does. prs are the open pull requests from branches of the repository on its head.
func (sc scene) check(c Check, prs []PullRequest) object {
	api := sc.repoAPI() + "/check-runs/" + itoa(c.ID)
	details := c.DetailsURL
	if details == "" {
		details = sc.web() + "playground"
	}
	return object{
		"id": c.ID, "node_id": nodeID("CR", c.ID), "head_sha": c.Head, "external_id": c.ExternalID,
		"url": api, "html_url": sc.web() + sc.repo.Name + "/runs/" + itoa(c.ID), "details_url": details,
		"status": c.Status, "conclusion": orNil(c.Conclusion), "name": c.Name,
		"started_at": stamp(c.StartedAt), "completed_at": stampOrNil(c.CompletedAt),
		"output": object{
			"title": orNil(c.Title), "summary": orNil(c.Summary), "text": orNil(c.Text),
			"annotations_count": len(c.Annotations), "annotations_url": api + "/annotations",
		},
		"check_suite": object{"id": suiteID(c.Head)}, "app": sc.embeddedApp(), "pull_requests": sc.shortPulls(prs),
	}
}

// checkInEvent returns a check run for a webhook, where the suite is complete.
func (sc scene) checkInEvent(c Check, prs []PullRequest) object {
	out := sc.check(c, prs)
	out["check_suite"] = sc.suite(c.Head, prs, c.Status, c.Conclusion, c)
	return out
}

func (sc scene) suite(head string, prs []PullRequest, status, conclusion string, newest Check) object {
	branch := ""
	if len(prs) > 0 {
		branch = prs[0].HeadRef
	}
	id := suiteID(head)
	return object{
		"id": id, "node_id": nodeID("CS", id), "head_branch": orNil(branch), "head_sha": head,
		"status": status, "conclusion": orNil(conclusion), "url": sc.repoAPI() + "/check-suites/" + itoa(id),
		"before": commitID(sc.repo.Name, 0, 1), "after": head, "pull_requests": sc.shortPulls(prs), "app": sc.embeddedApp(),
		"created_at": stamp(newest.StartedAt), "updated_at": stamp(newest.StartedAt),
	}
}

// suiteInEvent returns the additional fields of a check_suite webhook.
func (sc scene) suiteInEvent(head string, prs []PullRequest, newest Check, runs int) object {
	out := sc.suite(head, prs, newest.Status, newest.Conclusion, newest)
	out["latest_check_runs_count"] = runs
	out["check_runs_url"] = sc.repoAPI() + "/check-suites/" + itoa(suiteID(head)) + "/check-runs"
	who := object{"name": "will", "email": "will@example.com"}
	out["head_commit"] = object{
		"id": head, "tree_id": head, "message": "A commit of the stand-in GitHub", "timestamp": stamp(newest.StartedAt),
		"author": who, "committer": who,
	}
	return out
}

// shortPulls returns pull requests as in check runs. Those from forks are never among them, as on GitHub.
func (sc scene) shortPulls(prs []PullRequest) []any {
	out := []any{}
	_, name := sc.repo.split()
	repo := object{"id": sc.repo.ID, "url": sc.repoAPI(), "name": name}
	for _, pr := range prs {
		out = append(out, object{
			"url": sc.repoAPI() + "/pulls/" + itoa(int64(pr.Number)), "id": pullID(sc.repo, pr.Number), "number": pr.Number,
			"head": object{"ref": pr.HeadRef, "sha": pr.HeadSHA, "repo": repo},
			"base": object{"ref": pr.base(), "sha": pr.BaseSHA, "repo": repo},
		})
	}
	return out
}

// annotation returns an annotation as the API does.
func (sc scene) annotation(a Annotation, head string) object {
	return object{
		"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": a.StartColumn, "end_column": a.EndColumn,
		"annotation_level": a.Level, "title": orNil(a.Title), "message": a.Message, "raw_details": orNil(a.RawDetails),
		"blob_href": sc.repoAPI() + "/contents/" + a.Path + "?ref=" + head,
	}
}

// deployment returns a deployment as the API does.
func (sc scene) deployment(d Deployment) object {
	api := sc.repoAPI() + "/deployments/" + itoa(d.ID)
	out := object{
		"url": api, "id": d.ID, "node_id": nodeID("DE", d.ID), "task": d.Task, "original_environment": d.Environment,
		"environment": d.Environment, "description": orNil(d.Description), "created_at": stamp(d.CreatedAt),
		"updated_at": stamp(d.UpdatedAt), "statuses_url": api + "/statuses", "repository_url": sc.repoAPI(),
		"creator": sc.user(d.Creator), "sha": d.SHA, "ref": d.Ref, "payload": d.Payload,
		"transient_environment": d.Transient, "production_environment": d.Production, "performed_via_github_app": nil,
	}
	if d.Creator == Bot {
		out["performed_via_github_app"] = sc.embeddedApp()
	}
	return out
}

func (sc scene) deploymentStatus(d Deployment, one DeploymentStatus) object {
	api := sc.repoAPI() + "/deployments/" + itoa(d.ID)
	out := object{
		"url": api + "/statuses/" + itoa(one.ID), "id": one.ID, "node_id": nodeID("DES", one.ID), "state": one.State,
		"creator": sc.user(one.Creator), "description": one.Description, "environment": one.Environment,
		"environment_url": one.EnvironmentURL, "log_url": one.LogURL, "target_url": one.LogURL,
		"created_at": stamp(one.CreatedAt), "updated_at": stamp(one.CreatedAt),
		"deployment_url": api, "repository_url": sc.repoAPI(), "performed_via_github_app": nil,
	}
	if one.Creator == Bot {
		out["performed_via_github_app"] = sc.embeddedApp()
	}
	return out
}
