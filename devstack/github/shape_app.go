package github

import (
	"slices"
	"time"
)

// Manifest is the App's registration: its permissions and events. Every App also gets the events of its installations, and one that
// may write checks those of its own buttons: https://docs.github.com/webhooks/webhook-events-and-payloads
type Manifest struct {
	Permissions map[string]string // permission → read or write
	Events      []string
}

// Registered is ocpctl's registration, the same as in deploy/github-app.yaml.
func Registered() Manifest {
	return Manifest{
		Permissions: map[string]string{
			"actions": "read", "checks": "write", "contents": "read", "deployments": "write", "issues": "write", "members": "read",
			"merge_queues": "read", "metadata": "read", "pull_requests": "write",
		},
		Events: []string{
			"check_run", "check_suite", "deployment_protection_rule", "issue_comment", "merge_group", "pull_request", "pull_request_review",
			"pull_request_review_comment", "repository", "repository_dispatch", "workflow_job", "workflow_run",
		},
	}
}

// always are the events that need no registration.
var always = []string{"installation", "installation_repositories", "ping"}

var installedAt = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// installation is the App's one installation in the organisation.
type installation struct {
	ID          int64      `json:"id"`
	CreatedAt   time.Time  `json:"createdAt"`
	SuspendedAt *time.Time `json:"suspendedAt,omitempty"`
	SuspendedBy string     `json:"suspendedBy,omitempty"`
}

// appShape returns the App as the API does.
func (sc scene) appShape() object {
	return object{
		"id": AppID, "slug": AppSlug, "node_id": nodeID("A", AppID), "client_id": ClientID,
		"owner": sc.user(Org), "name": AppSlug, "description": "Ephemeral OpenShift clusters",
		"external_url": sc.web() + "playground", "html_url": sc.web() + "apps/" + AppSlug,
		"created_at": stamp(installedAt), "updated_at": stamp(installedAt),
		"permissions": sc.app.Permissions, "events": sc.app.Events, "installations_count": 1,
	}
}

// embeddedApp is the App within other objects. GitHub's description does not list the newest events there.
func (sc scene) embeddedApp() object {
	out := sc.appShape()
	out["events"] = slices.DeleteFunc(slices.Clone(sc.app.Events), func(event string) bool { return event == "deployment_protection_rule" || event == "merge_group" })
	return out
}

// installShape returns the installation as the API and the webhooks do.
func (sc scene) installShape(in installation) object {
	out := object{
		"id": in.ID, "account": sc.user(Org), "repository_selection": "selected",
		"access_tokens_url": sc.api() + "app/installations/" + itoa(in.ID) + "/access_tokens",
		"repositories_url":  sc.api() + "installation/repositories",
		"html_url":          sc.web() + "organizations/" + Org + "/settings/installations/" + itoa(in.ID),
		"app_id":            AppID, "app_slug": AppSlug, "target_id": orgID, "target_type": "Organization",
		"permissions": sc.app.Permissions, "events": sc.app.Events,
		"created_at": stamp(in.CreatedAt), "updated_at": stamp(in.CreatedAt),
		"single_file_name": nil, "has_multiple_single_files": false, "single_file_paths": []any{},
		"suspended_by": nil, "suspended_at": stampOrNil(in.SuspendedAt),
	}
	if in.SuspendedAt != nil {
		out["suspended_by"] = sc.user(in.SuspendedBy)
	}
	return out
}
