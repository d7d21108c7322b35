package hooks

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// answered posts an event and returns what the entry point said.
func (f *front) answered(delivery string, e github.Event, change ...func(map[string]any)) map[string]any {
	f.Helper()
	raw, err := github.Payload(e)
	require.NoError(f, err)
	if len(change) > 0 {
		var body map[string]any
		require.NoError(f, json.Unmarshal(raw, &body))
		for _, one := range change {
			one(body)
		}
		raw, err = json.Marshal(body)
		require.NoError(f, err)
	}
	status, answer := f.post("/webhooks/github", raw, signed(e.Name, delivery, raw))
	require.Equal(f, http.StatusAccepted, status)
	return answer
}

func TestTheAppIsRegisteredForWhatMeansSomething(t *testing.T) {
	var asked []string
	for event := range Events() {
		if event != onInstallation && event != onRepositories { // they come unasked
			asked = append(asked, event)
		}
	}
	require.ElementsMatch(t, asked, github.Registered().Events)
}

func TestWhatMeansNothingIsAnsweredInWordsAndNotStored(t *testing.T) {
	f := newFront(t, func(c *Config) {
		c.App, c.Installations = github.AppID, []int64{7, github.Installation}
		c.Repositories = []app.Repository{{Match: "acme/sh*"}}
	})
	check := github.Check{ID: 1, Head: pull(0).HeadSHA, ExternalID: "clu_1", Name: "ocpctl", StartedAt: time.Now()}
	set := func(value any, path ...string) func(map[string]any) {
		return func(body map[string]any) {
			for _, key := range path[:len(path)-1] {
				body = body[key].(map[string]any)
			}
			body[path[len(path)-1]] = value
		}
	}
	said := github.Comment{ID: 7, Author: "will", Body: "/ocp help"}
	for name, c := range map[string]struct {
		event  github.Event
		change func(map[string]any)
		want   string
	}{
		"an action of no meaning":          {github.Event{Name: "pull_request", Action: "labeled"}, set("assigned", "action"), `"assigned" of pull_request`},
		"a new title":                      {github.Event{Name: "pull_request", Action: "edited", OldTitle: "x"}, nil, "ocpctl ignores changes"},
		"an edited comment":                {github.Event{Name: "issue_comment", Action: "edited", Comment: said}, nil, `"edited" of issue_comment`},
		"a deleted comment":                {github.Event{Name: "issue_comment", Action: "deleted", Comment: said}, nil, `"deleted" of issue_comment`},
		"a bot":                            {github.Event{Name: "issue_comment", Action: "created", Comment: github.Comment{ID: 7, Author: github.Bot, Body: "/ocp help"}}, nil, "bots"},
		"an App in a person's name":        {github.Event{Name: "issue_comment", Action: "created", Comment: github.Comment{ID: 7, Author: "will", Body: "/ocp help", ByApp: true}}, nil, "bots"},
		"a check that was made":            {github.Event{Name: "check_run", Action: "rerequested", Check: check}, set("created", "action"), `"created" of check_run`},
		"the check belongs to another App": {github.Event{Name: "check_run", Action: "rerequested", Check: check}, set(1, "check_run", "app", "id"), "another App"},
		"checks of another App":            {github.Event{Name: "check_suite", Action: "rerequested", Check: check}, set(1, "check_suite", "app", "id"), "another App"},
		"another dispatch":                 {github.Event{Name: "repository_dispatch", Action: "deploy"}, nil, `"deploy" of repository_dispatch`},
		"a published repository":           {github.Event{Name: "repository", Action: "publicized"}, nil, `"publicized" of repository`},
		"new permissions":                  {github.Event{Name: "installation", Action: "new_permissions_accepted"}, nil, "new_permissions_accepted"},
		"another installation":             {github.Event{Name: "pull_request", Action: "labeled", Label: label, Installation: 8}, nil, "installation 8 is not among"},
		"an installation of none":          {github.Event{Name: "pull_request", Action: "labeled", Label: label}, set(map[string]any{}, "installation"), "installation 0 is not among"},
		"another App's":                    {github.Event{Name: "installation", Action: "deleted"}, set(1, "installation", "app_id"), "the installation belongs to another App"},
		"another's installation":           {github.Event{Name: "installation", Action: "deleted", Installation: 8}, nil, "installation 8 is not among"},
		"a repository of no entry":         {github.Event{Name: "pull_request", Action: "labeled", Label: label, Repo: github.RepoRef{ID: 9, Name: "acme/ledger"}}, nil, `matches "acme/ledger"`},
		"renamed, of no entry":             {github.Event{Name: "repository", Action: "renamed", OldName: "book", Repo: github.RepoRef{ID: 9, Name: "acme/ledger"}}, nil, `matches "acme/ledger"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &front{t, f.Server, f.database, f.store}
			c.event.Sender, c.event.PR = "will", pull(0)
			var change []func(map[string]any)
			if c.change != nil {
				change = append(change, c.change)
			}
			answer := f.answered("d1", c.event, change...)
			require.Equal(t, "ignored", answer["state"])
			require.Contains(t, answer["detail"], c.want)
			require.Contains(t, answer["detail"], "nothing was stored")
		})
	}
	require.Empty(t, f.stored())
}

func TestEveryEventThatMeansSomethingIsStoredUnderWhatItIsAbout(t *testing.T) {
	f := newFront(t, func(c *Config) {
		c.App, c.Repositories = github.AppID, []app.Repository{{Match: "Acme/shop"}}
	})
	pr := pull(0)
	check := github.Check{ID: 1, Head: pr.HeadSHA, ExternalID: "clu_1", Name: "ocpctl", StartedAt: time.Now()}
	ledger := github.RepoRef{ID: 9, Name: "acme/ledger"}
	ask := func(payload string) github.Event {
		return github.Event{Name: "repository_dispatch", Action: "create_ephemeral_cluster", Client: json.RawMessage(payload)}
	}
	for _, c := range []struct {
		event github.Event
		topic string
	}{
		{github.Event{Name: "pull_request", Action: "converted_to_draft"}, "acme/shop#41"},
		{github.Event{Name: "issue_comment", Action: "created", Comment: github.Comment{ID: 7, Author: "will", Body: "x"}}, "acme/shop#41"},
		{github.Event{Name: "check_run", Action: "requested_action", Button: "destroy", Check: check, OnHead: []github.PullRequest{pr}}, "acme/shop#41"},
		{github.Event{Name: "check_run", Action: "rerequested", Check: check}, "acme/shop#" + pr.HeadSHA}, // of a fork
		{github.Event{Name: "check_suite", Action: "rerequested", Check: check, OnHead: []github.PullRequest{pr}}, "acme/shop#41"},
		{ask(`{"pr_number": "41"}`), "acme/shop#41"},
		{ask(`{"pr_number": 41, "repository": "ledger"}`), "acme/ledger#41"},
		{ask(`{"pr_number": 41, "repository": "other/thing"}`), "other/thing#41"},
		{ask(`{"pr_number": 41, "repository": "installation 5001"}`), "acme/shop#0"},
		{github.Event{Name: "repository", Action: "archived"}, "acme/shop"},
		{github.Event{Name: "repository", Action: "renamed", OldName: "shop", Repo: ledger}, "acme/ledger"}, // it was ours
		{github.Event{Name: "repository", Action: "transferred", OldName: "acme/shop", Repo: github.RepoRef{ID: 9, Name: "other/shop"}}, "other/shop"},
		{github.Event{Name: "installation", Action: "suspend"}, "installation 5001"},
		{github.Event{Name: "installation_repositories", Action: "removed", Repos: []github.RepoRef{ledger}}, "installation 5001"},
	} {
		id := c.event.Name + "-" + c.event.Action + "-" + c.topic
		id = string(slices.DeleteFunc([]byte(id), func(b byte) bool { return b == ' ' }))
		c.event.Sender, c.event.PR = "will", pr
		require.Equal(t, "accepted", f.answered(id, c.event)["state"], "%s", id)
		require.Equal(t, []string{c.topic}, f.query(`SELECT topic FROM deliveries WHERE delivery_id = '`+id+`'`))
	}
	change := func(body map[string]any) {
		body["changes"] = map[string]any{"base": map[string]any{"ref": map[string]any{"from": "next"}}}
	}
	answer := f.answered("base", github.Event{Name: "pull_request", Action: "edited", Sender: "will", PR: pr}, change)
	require.Equal(t, "accepted", answer["state"], "another base branch means something")
}

func TestTwoSecretsHoldWhileOneTakesTheOthersPlace(t *testing.T) {
	next := secret.New("the one to come")
	f := newFront(t, func(c *Config) { c.GitHubNext = next })
	body := payload(t, "pull_request", "labeled", pull(0, label))
	for key, want := range map[string]int{testSecret: http.StatusAccepted, next.Reveal(): http.StatusAccepted, "neither": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		headers := signed("pull_request", "d-"+key[:min(1, len(key))], body)
		headers["X-Hub-Signature-256"] = signature([]byte(key), body)
		status, _ := f.post("/webhooks/github", body, headers)
		require.Equal(t, want, status, key)
	}
	alone := newFront(t)
	headers := signed("pull_request", "d1", body)
	headers["X-Hub-Signature-256"] = signature(nil, body)
	status, _ := alone.post("/webhooks/github", body, headers)
	require.Equal(t, http.StatusUnauthorized, status, "no second secret is not an empty one")
}
