package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

func (t *scenario) newest(ctx context.Context, n int) (cluster, error) {
	list, err := t.clusters(ctx, n, false)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("pull request #%d has no cluster", n)
	}
	if err != nil {
		return cluster{}, err
	}
	return list[0], nil
}

func (t *scenario) oneLive(ctx context.Context, n int) func() error {
	return eventually(ctx, 10*time.Second, func() error {
		live := must.Get(t.clusters(ctx, n, true))
		must.FailIf(len(live) != 1, "#%d has %d live clusters", n, len(live))
		return nil
	})
}

func (t *scenario) reaches(ctx context.Context, n int, status string, within time.Duration) func() error {
	return eventually(ctx, within, func() error {
		c := must.Get(t.newest(ctx, n))
		must.FailIf(c.Status != status, "%s is %s/%s: %s", c.Name, c.Status, c.Phase, c.Why)
		return nil
	})
}

func (t *scenario) inPhase(ctx context.Context, n int, phase string, within time.Duration) func() error {
	return eventually(ctx, within, func() error {
		c := must.Get(t.newest(ctx, n))
		must.FailIf(c.Phase != phase, "%s is %s/%s", c.Name, c.Status, c.Phase)
		return nil
	})
}

func (t *scenario) says(ctx context.Context, n int, within time.Duration, want ...string) func() error {
	return eventually(ctx, within, func() error {
		c, err := t.newest(ctx, n)
		must.Do(err)
		body, _, err := t.commentOf(ctx, n, c.ClusterID)
		must.Do(err)
		return contains(body, want...)
	})
}

// commentOf returns the cluster's comment and how many there are.
func (t *scenario) commentOf(ctx context.Context, n int, id string) (body string, count int, err error) {
	list, err := t.comments(ctx, n)
	for _, c := range list {
		if strings.Contains(c, "<!-- ocpctl:cluster:"+id) {
			body = c
			count++
		}
	}
	return body, count, err
}

func (t *scenario) oneComment(ctx context.Context) func() error {
	return func() (err error) {
		defer must.Catch(&err)
		c := must.Get(t.newest(ctx, labelled))
		_, count := must.Get2(t.commentOf(ctx, labelled, c.ClusterID))
		must.FailIf(count != 1, "%d comments show %s", count, c.Name)
		return nil
	}
}

// checkSays checks the conclusion of the newest check run of the pull request's cluster on its head.
func (t *scenario) checkSays(ctx context.Context, n int, conclusion string) func() error {
	return eventually(ctx, 10*time.Second, func() error {
		var pr struct{ Head struct{ SHA string } }
		must.Do(t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/pulls/%d", t.at.GitHub, n), &pr))
		var runs struct {
			CheckRuns []struct {
				ID               int64
				Name, Conclusion string
			} `json:"check_runs"`
		}
		must.Do(t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/commits/%s/check-runs", t.at.GitHub, pr.Head.SHA), &runs))
		var newest int64
		said := "nothing"
		for _, run := range runs.CheckRuns {
			ofCluster := strings.HasSuffix(run.Name, fmt.Sprintf(" #%d", n)) // a run of the same commit may report its tests
			if ofCluster && run.ID > newest {
				newest, said = run.ID, run.Conclusion
			}
		}
		must.FailIf(said != conclusion, "it says %s", said)
		return nil
	})
}

// twice posts GitHub's own sample, adapted to this stack, twice with one delivery id.
func (t *scenario) twice(ctx context.Context) (err error) {
	defer must.Catch(&err)
	before := must.Get(t.newest(ctx, labelled))
	var pr struct{ Head struct{ SHA, Ref string } }
	must.Do(t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/pulls/%d", t.at.GitHub, labelled), &pr))
	body := must.Get(github.Payload(github.Event{
		Name: "pull_request", Action: "labeled", Sender: "maya", Label: label,
		PR: github.PullRequest{
			Number: labelled, Title: "posted from outside", Author: "will", Open: true, Labels: []string{label},
			HeadOwner: github.Org, HeadRef: pr.Head.Ref, HeadSHA: pr.Head.SHA,
			CreatedAt: time.Now().Add(-time.Hour), UpdatedAt: time.Now(),
		},
	}))
	id := github.GUID()
	for range 2 {
		status := must.Get(t.hook(ctx, "pull_request", id, t.at.WebhookSecret, body))
		must.FailIf(status != http.StatusAccepted, "answered %d instead of 202", status)
	}
	time.Sleep(500 * time.Millisecond) // long enough for a second cluster to appear if there were one
	now := must.Get(t.newest(ctx, labelled))
	must.FailIf(now.ClusterID != before.ClusterID, "it made a second cluster, %s", now.Name)
	return nil
}

func (t *scenario) kubeconfig(ctx context.Context) (err error) {
	defer must.Catch(&err)
	c := must.Get(t.newest(ctx, labelled))
	at := t.at.Private + "/api/v1/clusters/" + c.ClusterID + "/kubeconfig?wait=20"
	err = until(ctx, 30*time.Second, func() error { // a runner makes it at the first request of each reader
		raw, status := must.Get2(t.fetch(ctx, at, t.at.Requester))
		must.FailIf((status != http.StatusOK || !strings.Contains(string(raw), "current-context:")), "a requester of its team got %d", status)
		return nil
	})
	must.Do(err)
	_, status := must.Get2(t.fetch(ctx, at, t.at.Auditor))
	must.FailIf(status == http.StatusOK, "an auditor got it too")
	return nil
}

func (t *scenario) extend(ctx context.Context, say func() error) (err error) {
	defer must.Catch(&err)
	before := must.Get(t.newest(ctx, labelled))
	must.Do(say())
	return t.endMoves(ctx, before, func(now cluster) bool {
		return now.DestroyAt.Equal(before.DestroyAt.Add(4*t.at.Hour)) || now.DestroyAt.After(before.DestroyAt)
	})
}

func (t *scenario) endMoves(ctx context.Context, before cluster, as func(cluster) bool) error {
	return until(ctx, 5*time.Second, func() error {
		now := must.Get(t.details(ctx, before.ClusterID))
		must.FailIf(!as(now), "it ended at %s and ends at %s", before.DestroyAt, now.DestroyAt)
		return nil
	})
}

func (t *scenario) proof(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	c := must.Get(t.details(ctx, id))
	must.FailIf(len(c.Proof) < 2, "%d passes are stored", len(c.Proof))
	for _, pass := range c.Proof[len(c.Proof)-2:] {
		must.FailIf(!pass.Clean || len(pass.Queries) == 0 || len(pass.Leftovers) > 0,
			"a pass is clean=%t with %d queries and %d leftovers", pass.Clean, len(pass.Queries), len(pass.Leftovers))
	}
	return nil
}

// wasIn looks for a phase in the timeline of a pull request's newest cluster.
func (t *scenario) wasIn(ctx context.Context, n int, phase string) (err error) {
	defer must.Catch(&err)
	c := must.Get(t.newest(ctx, n))
	c = must.Get(t.details(ctx, c.ClusterID))
	for _, event := range c.Timeline {
		if strings.Contains(event.To, phase) {
			return nil
		}
	}
	return fmt.Errorf("%s was never %s: %v", c.Name, phase, c.Timeline)
}

func (t *scenario) nothing(ctx context.Context, name string) error {
	n, err := t.left(ctx, name)
	if err == nil && n > 0 {
		err = fmt.Errorf("it counts %d resources of %s", n, name)
	}
	return err
}

func (t *scenario) nothingOf(ctx context.Context, n int) error {
	c, err := t.newest(ctx, n)
	if err != nil {
		return err
	}
	return all(
		func() error { return t.proof(ctx, c.ClusterID) },
		func() error { return t.nothing(ctx, c.Name) },
	)
}
