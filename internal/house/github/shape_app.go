package github

import (
	"strconv"
	"time"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

var (
	appPermissions = object{"checks": "write", "issues": "write", "metadata": "read", "pull_requests": "write", "members": "read"}
	appEvents      = []string{"issue_comment", "pull_request"}
	installedAt    = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
)

// appShape is the App as the API answers it.
func appShape(base string) object {
	return object{
		"id": AppID, "slug": AppSlug, "node_id": nodeID("A", AppID), "client_id": "Iv1.demo4242",
		"owner": userShape(Org, base), "name": AppSlug, "description": "Ephemeral OpenShift clusters",
		"external_url": base + "/playground", "html_url": base + "/apps/" + AppSlug,
		"created_at": stamp(installedAt), "updated_at": stamp(installedAt),
		"permissions": appPermissions, "events": appEvents, "installations_count": 1,
	}
}

// installationShape is the one installation.
func installationShape(base string) object {
	return object{
		"id": Installation, "account": userShape(Org, base), "repository_selection": "all",
		"access_tokens_url": base + "/app/installations/" + itoa(Installation) + "/access_tokens",
		"repositories_url":  base + "/installation/repositories",
		"html_url":          base + "/organizations/" + Org + "/settings/installations/" + itoa(Installation),
		"app_id":            AppID, "app_slug": AppSlug, "target_id": orgID, "target_type": "Organization",
		"permissions": appPermissions, "events": appEvents,
		"created_at": stamp(installedAt), "updated_at": stamp(installedAt),
		"single_file_name": nil, "suspended_by": nil, "suspended_at": nil,
	}
}

// checkShape is a check run as the API answers it.
func checkShape(c Check, base string) object {
	var conclusion any
	if c.Conclusion != "" {
		conclusion = c.Conclusion
	}
	api := base + "/repos/" + Repo + "/check-runs/" + itoa(c.ID)
	return object{
		"id": c.ID, "node_id": nodeID("CR", c.ID), "head_sha": c.Head, "external_id": c.ExternalID,
		"url": api, "html_url": base + "/" + Repo + "/runs/" + itoa(c.ID), "details_url": base + "/playground",
		"status": c.Status, "conclusion": conclusion, "name": c.Name,
		"started_at": stamp(c.StartedAt), "completed_at": stampOrNil(c.CompletedAt),
		"output": object{
			"title": c.Title, "summary": c.Summary, "text": nil,
			"annotations_count": 0, "annotations_url": api + "/annotations",
		},
		"check_suite": object{"id": 700_000}, "app": appShape(base), "pull_requests": []any{},
	}
}
