package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// webhookAttacks are those of somebody who can read signed webhooks, such as a proxy that terminates TLS: body and signature belong
// together, everything else can be chosen. If they succeed they end many clusters, so they are played alone.
func webhookAttacks() []attack {
	const who = "a reader of our webhooks"
	return []attack{
		{name: "webhook/event-name", who: who, tried: "send a deleted comment under the name of repository and of installation", short: true, play: otherEvent},
		{name: "webhook/bulk", who: who, tried: "send old webhooks that say the repository or the App is gone", play: goneForBulk},
		{name: "webhook/duplicate-keys", who: who, tried: "signed bodies that hold action, sender or pull_request twice", play: duplicateKeys},
	}
}

// onPull returns a ready cluster of a new pull request.
func (t *target) onPull(ctx context.Context, title string) (pr github.PullRequest, id string, err error) {
	defer must.Catch(&err)
	number := must.Get(t.GitHub.Open(title, "maya"))
	must.Do(t.GitHub.Label(number, "ocp/"+smallProfile, "maya"))
	id = must.Get(t.clusterOfPull(ctx, number))
	must.Get(t.becomes(ctx, id, "ready"))
	pr, found := t.GitHub.PullRequest(number)
	if !found {
		err = fmt.Errorf("there is no pull request #%d", number)
	}
	return pr, id, err
}

// ending says how a cluster was brought towards its end; empty: not at all.
func (t *target) ending(ctx context.Context, id string) (string, error) {
	var text string
	err := t.pool.QueryRow(ctx, `
		SELECT concat_ws(', ', CASE WHEN desired = 'absent' THEN 'it is unwanted (' || (desired_why #>> '{}') || ')' END,
		       CASE WHEN end_pr_closed IS NOT NULL THEN 'it ends because ' || (pr_end_why #>> '{}') END,
		       CASE WHEN end_label_removed IS NOT NULL THEN 'it ends because its label is gone' END)
		  FROM clusters WHERE id = $1`, id).Scan(&text)
	return text, err
}

// sent posts signed webhooks and checks whether the cluster goes on.
func (t *target) sent(ctx context.Context, id string, hooks []hooked) (result, error) {
	for _, h := range hooks {
		status, said := must.Get2(github.Post(ctx, t.hook(), h.event, github.GUID(), h.body))
		must.Do(t.settled(ctx))
		text := must.Get(t.ending(ctx, id))
		throughIf(text != "", "%s was answered %d %.60s, and a ready cluster goes: %s", h.what, status, said, text)
	}
	return held("%d webhooks, and the cluster goes on", len(hooks))
}

type hooked struct {
	what, event string
	body        []byte
}

func otherEvent(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Its webhooks are read"))
	comment := github.Comment{ID: 1, Number: pr.Number, Author: "outsider", Body: "hello"}
	deleted := must.Get(github.Payload(github.Event{Name: "issue_comment", Action: "deleted", Sender: "outsider", PR: pr, Comment: comment}))
	closed := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "closed", Sender: "outsider", PR: pr}))
	return t.sent(ctx, id, []hooked{
		{"a deleted comment as a deleted repository", "repository", deleted},
		{"a deleted comment as a deleted installation", "installation", deleted},
		{"a deleted comment as a removed repository", "installation_repositories", deleted},
		{"a deleted comment as a pull request", "pull_request", deleted},
		{"a closed pull request as a comment", "issue_comment", closed},
		{"a closed pull request as a dispatch", "repository_dispatch", closed},
		{"a closed pull request as a check", "check_run", closed},
	})
}

func goneForBulk(ctx context.Context, t *target) (result, error) {
	_, id := must.Get2(t.onPull(ctx, "Its repository is there"))
	var hooks []hooked
	for _, e := range []github.Event{
		{Name: "repository", Action: "deleted"}, {Name: "repository", Action: "archived"}, {Name: "repository", Action: "transferred", OldName: "acme/shop"},
		{Name: "installation", Action: "deleted"}, {Name: "installation", Action: "suspend"},
		{Name: "installation_repositories", Action: "removed", Repos: []github.RepoRef{{ID: github.RepoID, Name: github.Repo}}},
	} {
		e.Sender = "maya"
		body := must.Get(github.Payload(e))
		hooks = append(hooks, hooked{e.Name + " " + e.Action + ", while GitHub has both", e.Name, body})
	}
	return t.sent(ctx, id, hooks)
}

func duplicateKeys(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Its body has keys twice"))
	body := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "edited", Sender: "maya", PR: pr, OldTitle: "x"}))
	closed := pr
	closed.Open = false
	inner := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "closed", Sender: "maya", PR: closed}))
	var whole map[string]json.RawMessage
	must.Do(json.Unmarshal(inner, &whole))
	taken := 0
	for _, twice := range []string{`"action":"closed"`, `"pull_request":` + string(whole["pull_request"]), `"Action":"closed"`} {
		for _, forged := range [][]byte{
			append([]byte("{"+twice+","), bytes.TrimPrefix(body, []byte("{"))...),
			append(bytes.TrimSuffix(bytes.TrimSpace(body), []byte("}")), []byte(","+twice+"}")...),
		} {
			status, _ := must.Get2(github.Post(ctx, t.hook(), "pull_request", github.GUID(), forged))
			if status < 300 {
				taken++
			}
		}
	}
	must.Do(t.settled(ctx))
	text, err := t.ending(ctx, id)
	must.Do(err)
	throughIf(text != "" || taken > 0, "%d of 6 bodies with a key twice were taken; %s", taken, text)
	return held("6 bodies with a key twice were refused")
}
