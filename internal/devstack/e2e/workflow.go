package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// workflow checks that a push starts a workflow whose jobs ask for a cluster with their own token, share it, and leave nothing behind.
func (t *scenario) workflow(ctx context.Context) error {
	var run workflowRun
	var made cluster
	return all(
		func() error {
			return t.step("maya pushes a commit to main", func() error {
				return t.post(ctx, t.at.GitHub+"/playground/runs/start/push", nil)
			})
		},
		func() error {
			return t.step("it starts a run", func() error {
				return until(ctx, 10*time.Second, func() error { return t.newestRun(ctx, &run) })
			})
		},
		func() error {
			return t.step("the run's token gets a cluster that belongs to the run", func() error {
				return until(ctx, 60*time.Second, func() (err error) {
					made, err = t.ofRun(ctx, run)
					return err
				})
			})
		},
		func() error {
			return t.step("three jobs test on it, and the run succeeds", func() error {
				return until(ctx, 2*time.Minute, func() error { return t.succeeded(ctx, run) })
			})
		},
		func() error {
			return t.step("its page shows the cluster in a summary, and the steps of each job", func() error {
				raw, _, err := t.fetch(ctx, fmt.Sprintf("%s/playground/runs/%d", t.at.GitHub, run.ID), "")
				if err != nil {
					return err
				}
				return contains(string(raw), made.Name+" is ready", "ok 6 - cart case 6", "test (search)")
			})
		},
		func() error {
			return t.step("the cluster goes, by its run or by its time to live", func() error {
				return until(ctx, 5*t.at.Hour+60*time.Second, func() error {
					now, err := t.details(ctx, made.ClusterID)
					if err == nil && now.Status != "DESTROYED" {
						err = fmt.Errorf("%s is %s/%s", now.Name, now.Status, now.Phase)
					}
					return err
				})
			})
		},
	)
}

// workflowRun is a run as GitHub's API shows it.
type workflowRun struct {
	ID         int64
	Status     string
	Conclusion string
	URL        string `json:"html_url"`
}

func (t *scenario) newestRun(ctx context.Context, into *workflowRun) error {
	var page struct {
		Runs []workflowRun `json:"workflow_runs"`
	}
	if err := t.get(ctx, t.at.GitHub+"/repos/acme/shop/actions/runs?event=push&per_page=1", &page); err != nil {
		return err
	}
	if len(page.Runs) == 0 || page.Runs[0].Status == "completed" {
		return fmt.Errorf("there is no run: %v", page.Runs)
	}
	*into = page.Runs[0]
	return nil
}

func (t *scenario) succeeded(ctx context.Context, run workflowRun) error {
	if err := t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/actions/runs/%d", t.at.GitHub, run.ID), &run); err != nil {
		return err
	}
	if run.Conclusion != "success" {
		return fmt.Errorf("%s is %s %s", run.URL, run.Status, run.Conclusion)
	}
	return nil
}

// ofRun returns the one cluster of a run.
func (t *scenario) ofRun(ctx context.Context, run workflowRun) (cluster, error) {
	raw, _, err := t.fetch(ctx, t.at.Private+"/api/v1/clusters?limit=200", t.at.Requester)
	if err != nil {
		return cluster{}, err
	}
	var page struct {
		Items []struct {
			cluster
			Run struct{ URL string }
		}
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return cluster{}, err
	}
	var out []cluster
	for _, c := range page.Items {
		if strings.HasSuffix(c.Run.URL, fmt.Sprintf("/actions/runs/%d", run.ID)) {
			out = append(out, c.cluster)
		}
	}
	if len(out) != 1 {
		return cluster{}, fmt.Errorf("%s has %d clusters", run.URL, len(out))
	}
	return out[0], nil
}
