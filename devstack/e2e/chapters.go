package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// The test's pull requests.
const (
	labelled = 41
	timed    = 42
	early    = 43
	spoken   = 44
	forked   = 45
	label    = "ocp/aws-minimal-test"
)

// sources checks that requests that are unsigned, not JSON or not ours are refused by every entry point.
func (t *scenario) sources(ctx context.Context) {
	body := []byte(`{"zen":"hi"}`)
	comment, err := github.Payload(github.Event{
		Name: "issue_comment", Action: "deleted", Sender: "maya", PR: github.PullRequest{Number: 41, Author: "will", HeadOwner: github.Org},
		Comment: github.Comment{ID: 7, Author: "maya", Body: "/ocp help"},
	})
	must.Do(err)
	status := func(want int, event, secret string, body []byte) func() error {
		return func() error {
			got, err := t.hook(ctx, event, github.GUID(), secret, body)
			if err == nil && got != want {
				err = fmt.Errorf("answered %d instead of %d", got, want)
			}
			return err
		}
	}
	t.step("a webhook without a signature is answered 401", status(401, "pull_request", "", body))
	t.step("one with a wrong signature is answered 401", status(401, "pull_request", "wrong", body))
	t.step("malformed JSON is answered 400", status(400, "pull_request", t.at.WebhookSecret, []byte("{")))
	t.step("an event that is none of our business is answered 202", status(202, "star", t.at.WebhookSecret, body))
	t.step("a comment sent as a deleted repository is answered 422", status(422, "repository", t.at.WebhookSecret, comment))
	t.step("Slack's url_verification is answered, an unsigned request is not", func() error { return t.slackAsks(ctx) })
	t.step("the API asks for a token", func() error {
		raw, code := must.Get2(t.fetch(ctx, t.at.Private+"/api/v1/clusters", ""))
		must.FailIf(code != http.StatusUnauthorized, "answered %d %s", code, raw)
		return nil
	})
	t.step("the pages ask people to sign in, and a wrong password does not", func() error { return t.closed(ctx) })
	t.step("Maya signs in through SAML, sees her page and signs out", func() error { return t.signedIn(ctx, "maya", "Maya") })
	t.step("so does an auditor", func() error { return t.signedIn(ctx, "ada", "Ada") })
}

// label checks that a signed delivery in GitHub's format, sent twice, gives one cluster with one comment.
func (t *scenario) label(ctx context.Context) {
	var pr struct {
		Labels []struct{ Name string }
	}
	t.step("maya labels #41 in the playground", func() error {
		return t.act(ctx, labelled, "label", url.Values{"text": {label}})
	})
	t.step("the label stands on the pull request", func() error {
		must.Do(t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/pulls/%d", t.at.GitHub, labelled), &pr))
		must.FailIf(len(pr.Labels) != 1, "labels are %v", pr.Labels)
		return nil
	})
	t.step("one cluster is accepted", t.oneLive(ctx, labelled))
	t.step("its comment moves through the phases", t.says(ctx, labelled, 20*time.Second, "install"))
	t.step("it is READY within 30 s", t.reaches(ctx, labelled, "READY", 30*time.Second))
	t.step("the same delivery twice changes nothing", func() error { return t.twice(ctx) })
	t.step("the comment has console, API, price and how to get the kubeconfig",
		t.says(ctx, labelled, 10*time.Second, "#console", "https://api.", "an hour by list price", "kubeconfig"))
	t.step("there is one comment of the cluster, not many", t.oneComment(ctx))
	t.step("its check run says success", t.checkSays(ctx, labelled, "success"))
	t.step("the kubeconfig comes over the API, for its team only", func() error { return t.kubeconfig(ctx) })
}

// commands checks commands in comments, from people who may give them and from others.
func (t *scenario) commands(ctx context.Context) {
	said := func(n int, who, body string, want ...string) func() error {
		return func() (err error) {
			defer must.Catch(&err)
			must.Do(t.as(ctx, who))
			before := must.Get(t.comments(ctx, n))
			must.Do(t.comment(ctx, n, body))
			return until(ctx, 10*time.Second, func() error {
				now := must.Get(t.comments(ctx, n))
				return contains(strings.Join(now[min(len(before)+1, len(now)):], "\n"), want...)
			})
		}
	}
	t.step("/ocp help lists the commands", said(labelled, "will", "/ocp help", "extend", "destroy", "status"))
	t.step("/ocp status answers", said(labelled, "will", "/ocp status", "aws-minimal-test"))
	t.step("/ocp extend 4h moves the end, up to the maximum", func() error { return t.extend(ctx, said(labelled, "will", "/ocp extend 4h", "end")) })
	t.step("a typo gets a suggestion", said(labelled, "will", "/ocp destory", "destroy"))
	t.step("rita may only read and is told so", said(labelled, "rita", "/ocp destroy", "rita", "write"))
	must.Do(t.as(ctx, "maya"))
}

// closing checks the grace period, its cancellation, the teardown and the proof.
func (t *scenario) closing(ctx context.Context) {
	var before, c cluster
	t.step("maya closes #41: its end moves to now and the grace", func() (err error) {
		before = must.Get(t.newest(ctx, labelled))
		must.Do(t.act(ctx, labelled, "close", nil))
		return t.endMoves(ctx, before, func(now cluster) bool { return now.DestroyAt.Before(before.DestroyAt) })
	})
	t.step("she reopens it in time: the end is as before", func() error {
		must.Do(t.act(ctx, labelled, "reopen", nil))
		return t.endMoves(ctx, before, func(now cluster) bool { return now.DestroyAt.Equal(before.DestroyAt) })
	})
	t.step("she closes it for good: after the grace it is DESTROYED", func() error {
		must.Do(t.act(ctx, labelled, "close", nil))
		return t.reaches(ctx, labelled, "DESTROYED", t.at.Grace+time.Minute)()
	})
	t.step("the proof: two clean counts, every query answered", func() (err error) {
		c = must.Get(t.newest(ctx, labelled))
		return t.proof(ctx, c.ClusterID)
	})
	t.step("the stand-in cloud's own count is zero", func() error { return t.nothing(ctx, c.Name) })
	t.step("the comment says so", t.says(ctx, labelled, 10*time.Second, "two"))
	t.step("and so does the check run", t.checkSays(ctx, labelled, "neutral"))
}

// ttl starts a cluster whose TTL runs during the following steps.
func (t *scenario) ttl(ctx context.Context) {
	t.step("/ocp create --ttl 1h on #42", func() error {
		return t.comment(ctx, timed, "/ocp create aws-minimal-test --ttl 1h")
	})
	t.step("one cluster is accepted", t.oneLive(ctx, timed))
}

// ttlEnds checks that the TTL ends it, without an event of the pull request.
func (t *scenario) ttlEnds(ctx context.Context) {
	t.step(fmt.Sprintf("its hour (%s here) ends and it is DESTROYED", t.at.Hour), t.reaches(ctx, timed, "DESTROYED", t.at.Hour+90*time.Second))
	t.step("nothing is left of it", func() error { return t.nothingOf(ctx, timed) })
}

// midInstall checks that an install is stopped, then torn down, then counted.
func (t *scenario) midInstall(ctx context.Context) {
	t.step("maya labels #43", func() error { return t.act(ctx, early, "label", url.Values{"text": {label}}) })
	t.step("the installer is at work", t.inPhase(ctx, early, "installing", 20*time.Second))
	t.step("she closes #43 and it is DESTROYED", func() error {
		must.Do(t.act(ctx, early, "close", nil))
		return t.reaches(ctx, early, "DESTROYED", t.at.Grace+90*time.Second)()
	})
	t.step("the install was stopped first, not destroyed beside", func() error { return t.wasIn(ctx, early, "stopping") })
	t.step("nothing is left of it", func() error { return t.nothingOf(ctx, early) })
}

func contains(text string, want ...string) error {
	for _, w := range want {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return fmt.Errorf("%q is not said in: %.400s", w, text)
		}
	}
	return nil
}
