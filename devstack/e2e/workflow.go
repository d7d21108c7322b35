package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// workflow checks that a push starts a workflow whose jobs ask for a cluster with their own token and share it, and that the cluster goes
// with the run, also with one that somebody cancels.
func (t *scenario) workflow(ctx context.Context) {
	var run workflowRun
	var made cluster
	t.step("maya pushes a commit to main", func() error {
		return t.post(ctx, t.at.GitHub+"/playground/runs/start/push", nil)
	})
	t.step("it starts a run", func() error {
		return until(ctx, 10*time.Second, func() error { return t.newestRun(ctx, &run) })
	})
	t.step("the run's token gets a cluster that belongs to the run", func() error {
		return until(ctx, 60*time.Second, func() (err error) {
			made, err = t.ofRun(ctx, run)
			return err
		})
	})
	t.step("three jobs test on it, and the run succeeds", func() error {
		return until(ctx, 2*time.Minute, func() error { return t.concluded(ctx, run, "success") })
	})
	t.step("its page shows the cluster in a summary, and the steps of each job", func() error {
		raw, _ := must.Get2(t.fetch(ctx, fmt.Sprintf("%s/playground/runs/%d", t.at.GitHub, run.ID), ""))
		return contains(string(raw), made.Name+" is ready", "ok 6 - cart case 6", "test (search)")
	})
	t.step("no job asked for it, and yet the cluster goes with its run", func() error { return t.goes(ctx, &made) })
	t.step("another push starts another run, and gets another cluster", func() error {
		must.Do(t.post(ctx, t.at.GitHub+"/playground/runs/start/push", nil))
		return until(ctx, 60*time.Second, func() (err error) {
			if err = t.newestRun(ctx, &run); err == nil {
				made, err = t.ofRun(ctx, run)
			}
			return err
		})
	})
	t.step("maya cancels that run while it waits for its cluster", func() error {
		must.Do(t.post(ctx, fmt.Sprintf("%s/playground/runs/%d/cancel", t.at.GitHub, run.ID), nil))
		return until(ctx, 60*time.Second, func() error { return t.concluded(ctx, run, "cancelled") })
	})
	t.step("that cluster goes, too", func() error { return t.goes(ctx, &made) })
}

// workflowRun is a run as GitHub's API shows it.
type workflowRun struct {
	ID         int64
	Status     string
	Conclusion string
	URL        string `json:"html_url"`
}

func (t *scenario) newestRun(ctx context.Context, into *workflowRun) (err error) {
	defer must.Catch(&err)
	var page struct {
		Runs []workflowRun `json:"workflow_runs"`
	}
	must.Do(t.get(ctx, t.at.GitHub+"/repos/acme/shop/actions/runs?event=push&per_page=1", &page))
	must.FailIf(len(page.Runs) == 0 || page.Runs[0].Status == "completed", "there is no run: %v", page.Runs)
	*into = page.Runs[0]
	return nil
}

func (t *scenario) concluded(ctx context.Context, run workflowRun, conclusion string) (err error) {
	defer must.Catch(&err)
	must.Do(t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/actions/runs/%d", t.at.GitHub, run.ID), &run))
	must.FailIf(run.Conclusion != conclusion, "%s is %s %s", run.URL, run.Status, run.Conclusion)
	return nil
}

// ofRun returns the one cluster of a run.
func (t *scenario) ofRun(ctx context.Context, run workflowRun) (_ cluster, err error) {
	defer must.Catch(&err)
	raw, _ := must.Get2(t.fetch(ctx, t.at.Private+"/api/v1/clusters?limit=200", t.at.Requester))
	var page struct {
		Items []struct {
			cluster
			Run struct{ URL string }
		}
	}
	must.Do(json.Unmarshal(raw, &page))
	var out []cluster
	for _, c := range page.Items {
		if strings.HasSuffix(c.Run.URL, fmt.Sprintf("/actions/runs/%d", run.ID)) {
			out = append(out, c.cluster)
		}
	}
	must.FailIf(len(out) != 1, "%s has %d clusters", run.URL, len(out))
	return out[0], nil
}

// goes waits for a cluster's end, for less than its time to live.
func (t *scenario) goes(ctx context.Context, made *cluster) error {
	return until(ctx, 60*time.Second, func() error {
		now := must.Get(t.details(ctx, made.ClusterID))
		must.FailIf(now.Status != "DESTROYED", "%s is %s/%s", now.Name, now.Status, now.Phase)
		return nil
	})
}
