package github

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// samples are real webhook bodies; payloads/README.md says where they come from.
//
//go:embed payloads/*.json
var samples embed.FS

type object = map[string]any

// sample reads a webhook body and renames everything in it to the demo's names. base is where the stand-in listens;
// empty keeps GitHub's own addresses.
func sample(name, base string, number int) (object, error) {
	raw, err := samples.ReadFile("payloads/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no sample of a %s webhook: %w", name, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out object
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("read the sample of a %s webhook: %w", name, err)
	}
	rename(out, base, number)
	return out, nil
}

var (
	inNumber  = regexp.MustCompile(`/(pulls|issues|pull)/\d+`)
	inNames   = strings.NewReplacer("Codertocat/Hello-World", Repo, "Octocoders/Hello-World", Repo, "Hello-World", repoName, "Octocoders", Org, "Codertocat", Org)
	publicAPI = "https://api.github.com/"
	publicWeb = "https://github.com/"
)

// rename walks through a decoded JSON value and rewrites its strings in place.
func rename(v any, base string, number int) any {
	switch v := v.(type) {
	case string:
		s := inNumber.ReplaceAllString(inNames.Replace(v), "/${1}/"+strconv.Itoa(number))
		if base != "" {
			s = strings.Replace(s, publicAPI, base+"/", 1)
			s = strings.Replace(s, publicWeb, base+"/", 1)
		}
		return s
	case object:
		for k, x := range v {
			v[k] = rename(x, base, number)
		}
	case []any:
		for i, x := range v {
			v[i] = rename(x, base, number)
		}
	}
	return v
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func stampOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

var knownIDs = map[string]int64{"maya": 2001, "will": 2002, "rita": 2003, ForkOwner: 2045, Bot: 2100}

// userShape is an account as GitHub writes it inside other things.
func userShape(login, base string) object {
	api, web := base+"/users/", base+"/"
	if base == "" {
		api, web = publicAPI+"users/", publicWeb
	}
	kind, id := "User", knownIDs[login]
	switch {
	case login == Org:
		kind, id = "Organization", orgID
	case strings.HasSuffix(login, "[bot]"):
		kind = "Bot"
		web += "apps/"
	}
	if id == 0 { // somebody the world does not know: any steady number
		for _, r := range login {
			id = id*31%900_000 + int64(r)
		}
		id += 10_000
	}
	one := api + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(login)
	return object{
		"login": login, "id": id, "node_id": nodeID("U", id), "avatar_url": "", "gravatar_id": "",
		"url": one, "html_url": web + strings.TrimSuffix(login, "[bot]"), "followers_url": one + "/followers",
		"following_url": one + "/following{/other_user}", "gists_url": one + "/gists{/gist_id}",
		"starred_url": one + "/starred{/owner}{/repo}", "subscriptions_url": one + "/subscriptions",
		"organizations_url": one + "/orgs", "repos_url": one + "/repos", "events_url": one + "/events{/privacy}",
		"received_events_url": one + "/received_events", "type": kind, "site_admin": false,
	}
}

func nodeID(kind string, id int64) string { return fmt.Sprintf("%s_demo%d", kind, id) }

var labelColors = []struct{ prefix, color, words string }{
	{"ocp/", "1d76db", "An OpenShift cluster for this pull request"},
	{"bug", "d73a4a", "Something isn't working"},
	{"enhancement", "a2eeef", "New feature or request"},
	{"documentation", "0075ca", "Improvements or additions to documentation"},
}

func labelColor(name string) (color, words string) {
	for _, l := range labelColors {
		if strings.HasPrefix(name, l.prefix) {
			return l.color, l.words
		}
	}
	return "ededed", ""
}

func labelShape(name, base string) object {
	color, words := labelColor(name)
	var id int64
	for _, r := range name {
		id = id*131%100_000_000 + int64(r)
	}
	api := base + "/"
	if base == "" {
		api = publicAPI
	}
	return object{
		"id": id, "node_id": nodeID("LA", id), "url": api + "repos/" + Repo + "/labels/" + name,
		"name": name, "color": color, "default": false, "description": words,
	}
}

func labelShapes(names []string, base string) []any {
	out := []any{}
	for _, n := range names {
		out = append(out, labelShape(n, base))
	}
	return out
}

// patchRepo makes a sample's repository the demo's, or the fork of it.
func patchRepo(repo object, owner, base string) {
	repo["id"], repo["node_id"] = RepoID, nodeID("R", RepoID)
	repo["name"], repo["full_name"] = repoName, owner+"/"+repoName
	repo["owner"] = userShape(owner, base)
	repo["default_branch"], repo["private"], repo["fork"] = Branch, false, owner != Org
	if owner != Org {
		repo["id"], repo["node_id"] = forkID, nodeID("R", forkID)
		for k, v := range repo {
			if s, ok := v.(string); ok {
				repo[k] = strings.Replace(s, "/"+Repo, "/"+owner+"/"+repoName, 1)
			}
		}
	}
}

// repoShape is the demo's repository as the API answers it.
func repoShape(base string) (object, error) {
	body, err := sample("pull_request.opened", base, firstNumber)
	if err != nil {
		return nil, err
	}
	repo := body["repository"].(object)
	patchRepo(repo, Org, base)
	return repo, nil
}
