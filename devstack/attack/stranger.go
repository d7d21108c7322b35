package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// strangerAttacks are those of anybody on the internet at the public listener, which only has webhooks.
func strangerAttacks() []attack {
	return []attack{
		{name: "stranger/signatures", who: "stranger", tried: "post webhooks unsigned, wrongly signed, signed late, or signed for another body", short: true, play: badSignatures},
		{name: "stranger/paths", who: "stranger", tried: "reach the API, pages and metrics at the public listener", short: true, play: otherPaths},
		{name: "stranger/bodies", who: "stranger", tried: "bodies that are too large, too deep, cut off or no JSON", play: badBodies},
		{name: "stranger/replay", who: "stranger", tried: "send a webhook that was seen once more", play: replayed},
	}
}

// floodAttacks make the public listener unavailable for everybody else while they last, so they are played alone.
func floodAttacks() []attack {
	return []attack{
		{name: "stranger/slow-bodies", who: "stranger, four addresses", tried: "600 connections that send one byte of a body and wait", short: true, play: slowBodies},
		{name: "stranger/slow-headers", who: "stranger, four addresses", tried: "600 connections that send half a header and wait", play: slowHeaders},
		{name: "stranger/flood", who: "stranger, one address", tried: "unsigned webhooks as fast as they go", short: true, play: unsignedFlood},
		{name: "stranger/aws-sign-in", who: "stranger, three addresses", tried: "proofs that STS refuses as fast as they go, so that nobody else signs in", play: garbageProofs},
	}
}

// hook posts to the public listener as GitHub would, from a local address.
func (t *target) hook() github.Hook {
	return github.Hook{URL: t.PublicURL() + "/webhooks/github", Secret: t.Secrets.Webhook}
}

// ping returns a body that every signed sender may send and that changes nothing.
func ping() ([]byte, error) { return github.Payload(github.Event{Name: "ping", Sender: "maya"}) }

func badSignatures(ctx context.Context, t *target) (result, error) {
	pull := github.Pulls(time.Now())[0]
	pull.Number = 4242 // used by nothing else
	body := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "labeled", Label: "ocp/" + smallProfile, Sender: "maya", PR: pull}))
	good := github.Sign(t.Secrets.Webhook, body)
	public := caller{home: t.PublicURL(), header: http.Header{"X-Github-Event": {"pull_request"}}}
	tried := 0
	for what, signature := range map[string]string{
		"none": "", "no value": "sha256=", "another secret": github.Sign("guess", body), "an empty secret": github.Sign("", body),
		"another body": github.Sign(t.Secrets.Webhook, append([]byte(" "), body...)), "SHA-1": "sha1=" + strings.Repeat("a", 40),
		"upper case prefix": strings.ToUpper(good[:7]) + good[7:], "cut off": good[:40], "with more": good + "00", "two": good + "," + good,
	} {
		got := must.Get(public.ask(ctx, http.MethodPost, "/webhooks/github", body, "X-Hub-Signature-256", signature, "X-GitHub-Delivery", github.GUID()))
		if tried++; got.status < 400 {
			return through("the signature with %s was answered %d", what, got.status)
		}
	}
	form := []byte("command=%2Focp&text=list&user_id=U0DEMOWILL&team_id=T0DEMOACME")
	now := fmt.Sprint(time.Now().Unix())
	old := fmt.Sprint(time.Now().Add(-10 * time.Minute).Unix())
	for what, c := range map[string][2]string{
		"none": {now, ""}, "another secret": {now, slack.Sign("guess", now, string(form))}, "ten minutes ago": {old, slack.Sign(t.Secrets.Slack, old, string(form))},
		"another time": {now, slack.Sign(t.Secrets.Slack, old, string(form))}, "no time": {"", slack.Sign(t.Secrets.Slack, "", string(form))},
	} {
		got := must.Get(public.ask(ctx, http.MethodPost, "/webhooks/slack", form, "Content-Type", "application/x-www-form-urlencoded",
			"X-Slack-Request-Timestamp", c[0], "X-Slack-Signature", c[1]))
		if tried++; got.status < 400 {
			return through("Slack's signature with %s was answered %d", what, got.status)
		}
	}
	stored := must.Get(t.count(ctx, "SELECT count(*) FROM deliveries WHERE topic LIKE '%#4242'"))
	throughIf(stored > 0, "%d of them were stored", stored)
	return held("%d signatures, all refused and none stored", tried)
}

// count reads a number from the database.
func (t *target) count(ctx context.Context, query string, args ...any) (n int, err error) {
	err = t.pool.QueryRow(ctx, query, args...).Scan(&n)
	return n, err
}

func otherPaths(ctx context.Context, t *target) (result, error) {
	public := caller{home: t.PublicURL(), header: http.Header{}}
	token := must.Get(t.Token("admin"))
	public.header.Set("Authorization", "Bearer "+token)
	tried := 0
	for _, at := range []string{
		"/", "/api/v1/clusters", "/api/v1/status/attempts/x/claim", "/metrics", "/.well-known/ocpctl", "/healthz", "/login", "/saml/metadata", "/new", "/audit", "/debug/pprof/",
		"/webhooks", "/webhooks/github/../../api/v1/clusters", "/webhooks/github/%2e%2e/%2e%2e/api/v1/clusters", "//api/v1/clusters", "/webhooks/github/x", "/assets/style.css",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			got := must.Get(public.ask(ctx, method, at, []byte("{}")))
			if tried++; got.status < 300 {
				return through("%s %s was answered %d: %.80q", method, at, got.status, got.body)
			}
		}
	}
	return held("%d requests with an admin's token, none answered", tried)
}

func badBodies(ctx context.Context, t *target) (result, error) {
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	public := caller{home: t.PublicURL(), header: http.Header{"X-Github-Event": {"pull_request"}}}
	tried := 0
	for what, body := range map[string][]byte{
		"20,000 levels": []byte(deep), "20,000 lists": []byte(strings.Repeat("[", 20_000)), "26 MB": bytes.Repeat([]byte(" "), 26<<20), "no object": []byte(`"x"`),
		"nothing": nil, "cut off": []byte(`{"action":"labeled","pull_request":{`), "NUL": []byte("{\"action\":\"labeled\x00\"}"), "two": []byte(`{"action":"closed"}{"action":"labeled"}`),
	} {
		got, err := public.ask(ctx, http.MethodPost, "/webhooks/github", body, "X-Hub-Signature-256", github.Sign(t.Secrets.Webhook, body), "X-GitHub-Delivery", github.GUID())
		if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "broken pipe") && !strings.Contains(err.Error(), "reset by peer") {
			return result{}, err
		}
		if tried++; err == nil && (got.status < 400 || got.status >= 500) {
			return through("a signed body with %s was answered %d", what, got.status)
		}
	}
	alive, err := t.nobody().ask(ctx, http.MethodGet, "/healthz", nil)
	throughIf(err != nil || alive.status != http.StatusOK, "the server does not answer any more: %v", err)
	return held("%d signed bodies refused with 4xx, the server lives", tried)
}

// replayed sends a recorded request again, with its own delivery id and with another one.
func replayed(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("Replayed", "maya"))
	must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, "maya"))
	id := must.Get(t.clusterOfPull(ctx, pr))
	request, ok := t.GitHub.PullRequest(pr)
	must.FailIf(!ok, "there is no pull request %d", pr)
	body := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "labeled", Label: "ocp/" + smallProfile, Sender: "maya", PR: request}))
	must.Do(t.GitHub.Close(pr, "maya"))
	must.Get(t.becomes(ctx, id, "released"))
	guid := github.GUID()
	for _, again := range []string{guid, guid, github.GUID()} {
		must.Get2(github.Post(ctx, t.hook(), "pull_request", again, body))
	}
	must.Do(t.settled(ctx))
	n, err := t.count(ctx, "SELECT count(*) FROM clusters WHERE pr_number = $1", pr)
	must.Do(err)
	throughIf(n != 1, "a label that is long past was seen again, and there are %d clusters of #%d", n, pr)
	return held("a label seen three times more after its pull request closed brought no cluster")
}

// clusterOfPull waits for the cluster of a pull request and returns its id.
func (t *target) clusterOfPull(ctx context.Context, pr int) (id string, err error) {
	err = await(ctx, fmt.Sprintf("a cluster of #%d", pr), func(ctx context.Context) (bool, error) {
		err := t.pool.QueryRow(ctx, "SELECT id FROM clusters WHERE pr_number = $1 ORDER BY created_at DESC LIMIT 1", pr).Scan(&id)
		return err == nil, err
	})
	return id, err
}

// settled waits until GitHub has sent every webhook and each received one was processed.
func (t *target) settled(ctx context.Context) error {
	return await(ctx, "the inbox to be empty", func(ctx context.Context) (bool, error) {
		if slices.ContainsFunc(t.GitHub.Deliveries(), func(d github.Delivery) bool { return d.State == github.Waiting }) {
			return false, nil
		}
		n, err := t.count(ctx, "SELECT count(*) FROM deliveries WHERE finished_at IS NULL")
		return n == 0, err
	})
}
