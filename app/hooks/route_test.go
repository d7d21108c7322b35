package hooks

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// idle is a service that does nothing and remembers what it was given.
type idle struct{ given []any }

func (d *idle) take(e any) (string, error) {
	d.given = append(d.given, e)
	return "", nil
}

func (d *idle) SyncPullRequest(_ context.Context, e pulls.PullRequestEvent) (string, error) {
	return d.take(e)
}

func (d *idle) PullRequestGone(_ context.Context, repo string, number int, why lifecycle.Reason) (string, error) {
	return d.take([]any{repo, number, why})
}
func (d *idle) Comment(_ context.Context, e pulls.CommentEvent) (string, error)    { return d.take(e) }
func (d *idle) CommentGivenUp(context.Context, pulls.CommentEvent, error) error    { return nil }
func (d *idle) LabelsGivenUp(context.Context, pulls.PullRequestEvent, error) error { return nil }
func (d *idle) CheckActionGivenUp(context.Context, pulls.CheckEvent, error) error  { return nil }
func (d *idle) EndEarly(context.Context, pulls.CommentEvent) error                 { return nil }

func (d *idle) CheckAction(_ context.Context, e pulls.CheckEvent) (string, error) { return d.take(e) }

func (d *idle) Dispatch(_ context.Context, e pulls.DispatchEvent) (string, error) { return d.take(e) }

func (d *idle) Environment(_ context.Context, e pulls.EnvironmentEvent) (string, error) {
	return d.take(e)
}

func (d *idle) MergeGroup(_ context.Context, e pulls.MergeGroupEvent) (string, error) {
	return d.take(e)
}

func (d *idle) EnvironmentGivenUp(context.Context, pulls.EnvironmentEvent, error) error { return nil }

func (d *idle) RepositoryMoved(_ context.Context, e pulls.RepositoryEvent) (string, error) {
	return d.take(e)
}

func (d *idle) InstallationChanged(_ context.Context, e pulls.InstallationEvent) (string, error) {
	return d.take(e)
}
func (d *idle) OpenWindow(context.Context, inbound.Request) error { return nil }

func (d *idle) Handle(_ context.Context, e inbound.Request) (string, error) { return d.take(e) }
func (d *idle) GivenUp(context.Context, inbound.Request) error              { return nil }

// nobodys are records of two clusters that ended.
type nobodys struct{}

func (nobodys) PullRequest(context.Context, string, int) (pullrequests.PullRequest, error) {
	return pullrequests.PullRequest{}, db.ErrNotFound
}

func (nobodys) EndedOnHead(context.Context, string, string) ([]string, error) {
	return []string{"clu_1", "clu_2"}, nil
}

func idleWorker(appID int64) (*InboxWorker, *idle) {
	d := &idle{}
	return &InboxWorker{records: nobodys{}, pulls: d, inSlack: d, app: appID, log: slog.New(slog.DiscardHandler)}, d
}

func TestEachEventGoesToItsUseCase(t *testing.T) {
	check := github.Check{ID: 1, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e", ExternalID: "clu_9", Name: "ocpctl", StartedAt: time.Now()}
	gate := check
	gate.ExternalID = chatops.GateKey("aws-standard")
	queued := github.QueueEntry{Number: 41, Head: check.Head, Ref: "gh-readonly-queue/main/pr-41-" + check.Head}
	ledger := github.RepoRef{ID: 9, Name: "acme/ledger"}
	click := func(cluster, button, cause string) pulls.CheckEvent {
		return pulls.CheckEvent{Installation: 5001, Repo: "acme/shop", Cluster: cluster, Head: check.Head, Identifier: button, Actor: "will", ActorID: actorID(t), Cause: cause}
	}
	payload := json.RawMessage(`{"pr_number":41}`)
	for name, c := range map[string]struct {
		event github.Event
		want  []any
	}{
		"a button":        {github.Event{Name: "check_run", Action: "requested_action", Button: "destroy", Check: check}, []any{click("clu_9", "destroy", "d1")}},
		"a re-run":        {github.Event{Name: "check_run", Action: "rerequested", Check: check}, []any{click("clu_9", chatops.ActionRetry, "d1")}},
		"all re-runs":     {github.Event{Name: "check_suite", Action: "rerequested", Check: check}, []any{click("clu_1", chatops.ActionRetry, "d1:clu_1"), click("clu_2", chatops.ActionRetry, "d1:clu_2")}},
		"a gate's re-run": {github.Event{Name: "check_run", Action: "rerequested", Check: gate}, []any{click("clu_1", chatops.ActionRetry, "d1:clu_1"), click("clu_2", chatops.ActionRetry, "d1:clu_2")}},
		"a commit in a queue": {github.Event{Name: "merge_group", Action: "checks_requested", Group: queued}, []any{pulls.MergeGroupEvent{
			Installation: 5001, Repo: "acme/shop", Head: check.Head, Number: 41, Actor: "will", ActorID: actorID(t),
		}}},
		"a commit that was merged": {github.Event{Name: "merge_group", Action: "destroyed", Reason: "merged", Group: queued}, []any{pulls.MergeGroupEvent{
			Installation: 5001, Repo: "acme/shop", Head: check.Head, Number: 41, Ended: "merged", Actor: "will", ActorID: actorID(t),
		}}},
		"a dispatch": {github.Event{Name: "repository_dispatch", Action: "create_ephemeral_cluster", Client: payload}, []any{pulls.DispatchEvent{
			Installation: 5001, Repo: "acme/shop", Type: "create_ephemeral_cluster", Payload: payload, Actor: "will", ActorID: actorID(t), Cause: "d1",
		}}},
		"renamed": {github.Event{Name: "repository", Action: "renamed", OldName: "shop", Repo: ledger}, []any{pulls.RepositoryEvent{
			Installation: 5001, RepoID: 9, Action: "renamed", From: "acme/shop", To: "acme/ledger", Actor: "will", ActorID: actorID(t),
		}}},
		"moved": {github.Event{Name: "repository", Action: "transferred", OldName: "old/ledger", Repo: ledger}, []any{pulls.RepositoryEvent{
			Installation: 5001, RepoID: 9, Action: "transferred", From: "old/ledger", To: "acme/ledger", Actor: "will", ActorID: actorID(t),
		}}},
		"deleted": {github.Event{Name: "repository", Action: "deleted"}, []any{pulls.RepositoryEvent{
			Installation: 5001, RepoID: github.RepoID, Action: "deleted", From: "acme/shop", Actor: "will", ActorID: actorID(t),
		}}},
		"suspended": {github.Event{Name: "installation", Action: "suspend", Repos: []github.RepoRef{ledger}}, []any{pulls.InstallationEvent{
			Installation: 5001, Action: "suspend", Repos: []string{"acme/ledger"}, Actor: "will", ActorID: actorID(t),
		}}},
		"added": {github.Event{Name: "installation_repositories", Action: "added", Repos: []github.RepoRef{ledger}}, []any{pulls.InstallationEvent{
			Installation: 5001, Action: "added", Repos: []string{"acme/ledger"}, Actor: "will", ActorID: actorID(t),
		}}},
		"removed": {github.Event{Name: "installation_repositories", Action: "removed", Repos: []github.RepoRef{ledger}}, []any{pulls.InstallationEvent{
			Installation: 5001, Action: "removed", Repos: []string{"acme/ledger"}, Actor: "will", ActorID: actorID(t),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.event.Sender = "will"
			body, err := github.Payload(c.event)
			require.NoError(t, err)
			w, service := idleWorker(github.AppID)
			_, err = w.handleDelivery(t.Context(), inbox.Delivery{Source: SourceGitHub, ID: "d1", Event: c.event.Name, Body: body})
			require.NoError(t, err)
			require.Equal(t, c.want, service.given)
			other, service := idleWorker(github.AppID + 1)
			_, err = other.handleDelivery(t.Context(), inbox.Delivery{Source: SourceGitHub, ID: "d1", Event: c.event.Name, Body: body})
			require.NoError(t, err)
			require.Equal(t, strings.HasPrefix(c.event.Name, "check_"), len(service.given) == 0, "checks of another App mean nothing")
		})
	}
}

// actorID is the number of will, as payloads have it.
func actorID(t *testing.T) int64 {
	var body struct{ Sender struct{ ID int64 } }
	require.NoError(t, json.Unmarshal(payload(t, "pull_request", "labeled", pull(0)), &body))
	return body.Sender.ID
}

func TestOddShapesAreGivenUpInWords(t *testing.T) {
	const (
		where = `{"action":"x","installation":{"id":1},"repository":{"id":9,"full_name":"acme/shop"},"sender":{"login":"will","id":2002}`
		on    = where + `,"issue":{"number":41,"pull_request":{}},"comment":`
	)
	for event, bodies := range map[string]map[string]string{
		"pull_request": {
			`{"action":["labeled"]}`:                  "the field action has the wrong type, array",
			`{"action":"x","pull_request":null}`:      "the field installation of a pull_request event is missing",
			where + `,"pull_request":null}`:           "the field pull_request of a pull_request event is missing or has the wrong type",
			where + `,"pull_request":{}}`:             "0 is not a pull request number",
			where + `,"pull_request":{"number":"1"}}`: "the field pull_request.number has the wrong type, string",
			where + `,"pull_request":{"number":4294967297,"updated_at":"2025-03-01T12:00:00Z"}}`:                                         "4294967297 is not a pull request number",
			where + `,"pull_request":{"number":41}}`:                                                                                     "updated_at is required",
			where + `,"pull_request":{"number":41,"updated_at":"9999-03-01T12:00:00Z"}}`:                                                 "updated_at is required",
			where + `,"pull_request":{"number":41,"updated_at":"soon"}}`:                                                                 "parsing time",
			strings.Replace(where, "acme/shop", "a; rm -rf /", 1) + `,"pull_request":{"number":41,"updated_at":"2025-03-01T12:00:00Z"}}`: `"a; rm -rf /"`,
		},
		"issue_comment": {
			on + `{"id":0,"user":{"login":"will","id":2002}}}`: "comment.id or review.id is required",
			on + `{"id":1,"user":{"login":"<script>"}}}`:       `a login and the account's number are required, but they are "<script>" and 0`,
			on + `{"id":1}}`: `but they are "" and 0`,
			strings.Replace(on, `"id":1`, `"id":0`, 1) + `{"id":1,"user":{"login":"will","id":2002}}}`: "installation.id",
		},
		"check_run": {
			strings.Replace(where, `"x"`, `"requested_action"`, 1) + `,"check_run":{}}`: "requested_action is required",
			strings.Replace(where, "will", "a b", 1) + `,"check_run":{}}`:               `but they are "a b" and 2002`,
		},
		"check_suite":         {strings.Replace(where, `"id":1`, `"id":0`, 1) + `,"check_suite":{}}`: "installation.id"},
		"repository_dispatch": {strings.Replace(where, `"id":1`, `"id":0`, 1) + `,"branch":"main","client_payload":{}}`: "installation.id"},
		"repository": {
			where + `,"changes":{"repository":{"name":{"from":"../x y"}}}}`: "repository.full_name",
			strings.Replace(where, `"id":9`, `"id":0`, 1) + `}`:             "repository.id",
		},
		"installation": {`{"action":"x","sender":{},"installation":{"id":1}}`: "installation.app_id", `{"action":"x","sender":{},"installation":{"app_id":1,"account":{"login":"acme"}}}`: "installation.id"},
	} {
		for body, want := range bodies {
			w, service := idleWorker(0)
			_, err := w.handleDelivery(t.Context(), inbox.Delivery{Source: SourceGitHub, ID: "d1", Event: event, Body: []byte(body)})
			require.ErrorIs(t, err, errUnprocessable, "%s", body)
			require.ErrorContains(t, err, want, "%s", body)
			require.Empty(t, service.given)
		}
	}
}

func TestNoTextHoldsWhatPostgreSQLCannot(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":"b"}`:                 `{"a":"b"}`,
		`{"a":"b\u0000c\u0000"}`:    `{"a":"bc"}`,
		`{"a":"\\u0000"}`:           `{"a":"\\u0000"}`,
		`{"a":"\\\u0000\""}`:        `{"a":"\\\""}`,
		`{"\u0000a":"\u00001\\\\"}`: `{"a":"1\\\\"}`,
		`\`:                         `\`,
	} {
		require.Equal(t, want, string(withoutNUL([]byte(body))))
	}
}

func TestAButtonOfTheCheckDoesWhatItSays(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.label(number, "ocp/"+first)
	l.settle()
	row := l.one(number, first)
	press := func(event, action, button string) {
		head := l.at(number).HeadSHA
		body, err := github.Payload(github.Event{Name: event, Action: action, Button: button, Sender: "will", Check: github.Check{
			ID: 1, Head: head, ExternalID: row.ID, Name: "ocpctl", StartedAt: time.Now(),
		}})
		require.NoError(t, err)
		_, err = l.store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{
			Source: SourceGitHub, ID: github.GUID(), Event: event, Topic: pullTopic(github.Repo, number), Body: body,
		})
		require.NoError(t, err)
		l.settle()
	}
	press("check_run", "requested_action", chatops.ActionExtend)
	require.True(t, l.one(number, first).Ends.TTL.After(row.Ends.TTL))
	press("check_suite", "rerequested", "")
	require.Len(t, l.clusters(number), 1, "what goes well is not tried again")
	press("check_run", "requested_action", chatops.ActionDestroy)
	rows := l.clusters(number)
	require.Equal(t, lifecycle.Absent, rows[0].Desired)
	press("check_suite", "rerequested", "")
	require.Equal(t, 2, l.one(number, first).Generation)
}

// lean leaves out what nobody here reads: addresses, ids of nodes and what is not said. Small seeds are tried much faster.
func lean(t testing.TB, body []byte) []byte {
	var all any
	require.NoError(t, json.Unmarshal(body, &all))
	var cut func(any) any
	cut = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if value == nil || value == false || strings.HasSuffix(key, "url") || key == "node_id" || key == "_links" || strings.HasSuffix(key, "permissions") {
					delete(v, key)
					continue
				}
				v[key] = cut(value)
			}
		case []any:
			for i := range v {
				v[i] = cut(v[i])
			}
		}
		return v
	}
	small, err := json.Marshal(cut(all))
	require.NoError(t, err)
	return small
}

// FuzzDelivery decodes whatever body an event may come with and hands it on: nothing panics, what no retry can help is given
// up, and no text reaches the service that PostgreSQL cannot store.
func FuzzDelivery(f *testing.F) {
	files := os.DirFS("../../devstack/github/payloads")
	samples, err := fs.Glob(files, "*.json")
	require.NoError(f, err)
	require.NotEmpty(f, samples)
	for _, name := range samples {
		body, err := fs.ReadFile(files, name)
		require.NoError(f, err)
		f.Add(strings.SplitN(path.Base(name), ".", 2)[0], lean(f, body))
	}
	check := github.Check{ID: 1, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e", ExternalID: "clu_9", Name: "ocpctl", StartedAt: time.Unix(1_700_000_000, 0)}
	for event, actions := range Events() {
		for _, action := range actions {
			if body, err := github.Payload(github.Event{Name: event, Action: action, Sender: "will", PR: pull(0, label), Label: label, Check: check, OldName: "shop",
				Comment: github.Comment{ID: 7, Author: "will", Body: "/ocp create\u0000"}, ReviewState: "commented", Repos: []github.RepoRef{{ID: 9, Name: "acme/ledger"}},
				Client: json.RawMessage(`{"pr_number":"41","repository":"ledger"}`)}); err == nil {
				f.Add(event, lean(f, body))
			}
		}
	}
	f.Add(pullRequestSeen, []byte(`{"installation":1,"repository":"acme/shop","number":41,"state":{"Open":true}}`))
	f.Add(repositorySeen, []byte(`{"installation":1,"repository":"acme/shop","action":"renamed","to":"acme/store"}`))
	f.Add(installationSeen, []byte(`{"installation":1,"repository":"acme/shop","action":"suspend"}`))
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		h := &handler{events: Events(), app: github.AppID, installations: []int64{5001}, repositories: []app.Repository{{Match: "acme/*"}}}
		in, bad := decodeBody(event, body)
		if bad == nil {
			_ = h.whyNoEffect(event, in)
			_ = topicOf(event, in)
			_ = in.checkShape(event)
		}
		source := SourceGitHub
		if strings.HasSuffix(event, "_seen") {
			source = SourcePoll
		}
		delivery := inbox.Delivery{Source: source, ID: "d1", Event: event, Body: body}
		_, _ = mayOvertake(delivery), formerRepository(delivery)
		w, service := idleWorker(0)
		_, err := w.handleDelivery(t.Context(), delivery)
		require.False(t, err != nil && strings.HasPrefix(err.Error(), "panic"), "%v", err)
		if err != nil {
			require.ErrorIs(t, err, errUnprocessable)
		}
		if source == SourcePoll { // what we wrote ourselves
			return
		}
		for _, e := range service.given {
			text, err := json.Marshal(e)
			require.NoError(t, err)
			require.Equal(t, string(text), string(withoutNUL(text)))
		}
	})
}
