package github

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// samples are real webhook bodies; payloads/README.md says where they come from.
//
//go:embed payloads/*.json
var samples embed.FS

type object = map[string]any

// sample reads a webhook body and replaces all names in it with the scene's. It ends Payload for an event without a sample.
func (sc scene) sample(name string, number int) object {
	raw, err := samples.ReadFile("payloads/" + name + ".json")
	must.Wrap(err, "no sample of a %s webhook", name)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out object
	must.Wrap(d.Decode(&out), "read the sample of a %s webhook", name)
	owner, repo := sc.repo.split()
	names := strings.NewReplacer("Codertocat/Hello-World", sc.repo.Name, "Octocoders/Hello-World", sc.repo.Name,
		"Hello-World", repo, "Octocoders", owner, "Codertocat", owner)
	rename(out, names, sc.base, number)
	return out
}

var inNumber = regexp.MustCompile(`/(pulls|issues|pull)/\d+`)

const (
	publicAPI = "https://api.github.com/"
	publicWeb = "https://github.com/"
)

// rename walks through a decoded JSON value and replaces its strings in place.
func rename(v any, names *strings.Replacer, base string, number int) any {
	switch v := v.(type) {
	case string:
		s := inNumber.ReplaceAllString(names.Replace(v), "/${1}/"+strconv.Itoa(number))
		if base != "" {
			s = strings.Replace(s, publicAPI, base+"/", 1)
			s = strings.Replace(s, publicWeb, base+"/", 1)
		}
		return s
	case object:
		for k, x := range v {
			v[k] = rename(x, names, base, number)
		}
	case []any:
		for i, x := range v {
			v[i] = rename(x, names, base, number)
		}
	}
	return v
}

// user returns an account as GitHub embeds it in other objects.
func (sc scene) user(login string) object {
	web, is := sc.web(), sc.accountOf(login)
	id, kind := is.ID, is.Kind
	if kind == "Bot" {
		web += "apps/"
	}
	one := sc.api() + "users/" + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(login)
	return object{
		"login": login, "id": id, "node_id": nodeID("U", id), "avatar_url": "", "gravatar_id": "",
		"url": one, "html_url": web + strings.TrimSuffix(login, "[bot]"), "followers_url": one + "/followers",
		"following_url": one + "/following{/other_user}", "gists_url": one + "/gists{/gist_id}",
		"starred_url": one + "/starred{/owner}{/repo}", "subscriptions_url": one + "/subscriptions",
		"organizations_url": one + "/orgs", "repos_url": one + "/repos", "events_url": one + "/events{/privacy}",
		"received_events_url": one + "/received_events", "type": kind, "site_admin": false,
	}
}

func (sc scene) org() object {
	owner, _ := sc.repo.split()
	return sc.orgOf(cmp.Or(owner, Org))
}

func (sc scene) orgOf(owner string) object {
	api := sc.api() + "orgs/" + owner
	return object{
		"login": owner, "id": sc.user(owner)["id"], "node_id": nodeID("O", orgID), "url": api, "repos_url": api + "/repos",
		"events_url": api + "/events", "hooks_url": api + "/hooks", "issues_url": api + "/issues",
		"members_url": api + "/members{/member}", "public_members_url": api + "/public_members{/member}",
		"avatar_url": "", "description": "",
	}
}

func nodeID(kind string, id int64) string { return fmt.Sprintf("%s_demo%d", kind, id) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// patchRepo replaces a sample's repository with the given one.
func (sc scene) patchRepo(repo object, to RepoRef) {
	owner, name := to.split()
	fork := to.Name != sc.repo.Name
	if fork {
		for k, v := range repo {
			if s, ok := v.(string); ok {
				repo[k] = strings.Replace(s, "/"+sc.repo.Name, "/"+to.Name, 1)
			}
		}
	}
	repo["id"], repo["node_id"] = to.ID, nodeID("R", to.ID)
	repo["name"], repo["full_name"], repo["owner"] = name, to.Name, sc.user(owner)
	repo["default_branch"], repo["private"], repo["fork"] = Branch, to.Private, fork
	repo["visibility"], repo["archived"], repo["disabled"] = visibility(to.Private), false, false
	repo["topics"], repo["allow_forking"], repo["is_template"], repo["web_commit_signoff_required"] = []any{}, true, false, false
	repo["has_discussions"] = false
}

func visibility(private bool) string {
	if private {
		return "private"
	}
	return "public"
}

// repository returns the scene's repository as the API does.
func (sc scene) repository() object {
	repo := sc.sample("pull_request.opened", firstNumber)["repository"].(object)
	sc.patchRepo(repo, sc.repo)
	repo["subscribers_count"], repo["network_count"] = 1, 0
	return repo
}

// shortRepo returns a repository as in the events of an installation.
func shortRepo(r RepoRef) object {
	_, name := r.split()
	return object{"id": r.ID, "node_id": nodeID("R", r.ID), "name": name, "full_name": r.Name, "private": r.Private}
}

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
