package github

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// samples are real webhook bodies; payloads/README.md says where they come from.
//
//go:embed payloads/*.json
var samples embed.FS

type object = map[string]any

// sample reads a webhook body and replaces all names in it with the scene's.
func (sc scene) sample(name string, number int) (_ object, err error) {
	defer must.Catch(&err)
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
	return out, nil
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
func (sc scene) repository() (object, error) {
	body, err := sc.sample("pull_request.opened", firstNumber)
	if err != nil {
		return nil, err
	}
	repo := body["repository"].(object)
	sc.patchRepo(repo, sc.repo)
	repo["subscribers_count"], repo["network_count"] = 1, 0
	return repo, nil
}

// shortRepo returns a repository as in the events of an installation.
func shortRepo(r RepoRef) object {
	_, name := r.split()
	return object{"id": r.ID, "node_id": nodeID("R", r.ID), "name": name, "full_name": r.Name, "private": r.Private}
}
