package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Addon is a set of Kubernetes objects that a cluster gets in addition to OpenShift, frozen at its acceptance. It holds no secret.
type Addon struct {
	Name      string
	Manifests string      // a JSON List of Kubernetes objects
	Waits     []AddonWait // the conditions that show it is in place
}

// AddonWait is one condition that must hold before an add-on counts as in place.
type AddonWait struct {
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	Condition string        `json:"condition"`
	Timeout   time.Duration `json:"timeout"`
}

// AddonState is what a runner reports about one add-on.
type AddonState struct {
	Name    string
	There   bool   // applied, and every condition seen
	Reason  string // one word
	Message string // for people
	Next    string // what to do about it
}

// WantRefresh asks to apply a ready cluster's add-ons again, and returns the job that does it. A cause (a push's head, say)
// counts once: the same cause again returns the first one's job. Of the requests made while a refresh runs, only the newest is
// met next. ErrConflict: the cluster is not ready, is going away, or has no add-ons. ErrStale: the row is not the version that
// the actor saw.
func (s *Store) WantRefresh(ctx context.Context, cluster, cause string, d Origin) (job string, err error) {
	out, err := s.changeSeen(ctx, cluster, d, func(c *change, cur held, out *Outcome) error {
		err := c.QueryRow(ctx, `SELECT job_id FROM refreshes WHERE cluster_id = $1 AND cause = $2`, cur.ID, cause).Scan(&out.Job)
		if err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := refreshable(cur.Cluster); err != nil {
			return err
		}
		out.Job, err = c.wantRefresh(ctx, cur, cause, d)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("refresh %s: %w", cluster, err)
	}
	return out.Job, nil
}

func refreshable(c lifecycle.Cluster) error {
	switch {
	case c.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", ErrConflict, c.DesiredWhy)
	case c.Status != lifecycle.Ready:
		return fmt.Errorf("%w: the cluster is %s", ErrConflict, c.Status)
	case len(c.Addons) == 0:
		return fmt.Errorf("%w: it was accepted without add-ons", ErrConflict)
	}
	return nil
}

func (c *change) wantRefresh(ctx context.Context, cur held, cause string, d Origin) (job string, err error) {
	if job, err = c.unfinished(ctx, cur.ID, lifecycle.JobConfigure); err != nil {
		return "", err
	}
	if job == "" {
		job = NewID("job")
		if err := c.insertJob(ctx, job, cur.ID, lifecycle.JobConfigure); err != nil {
			return "", err
		}
	}
	_, err = c.Exec(ctx, `INSERT INTO refreshes (cluster_id, cause, number, job_id, created_at) VALUES ($1, $2, $3, $4, $5)`,
		cur.ID, cause, cur.AddonsWanted+1, job, c.now)
	if err != nil {
		return "", fmt.Errorf("keep the desired: %w", err)
	}
	// Failures for an older request say nothing about this one. A scaling that failed still waits.
	err = c.setDesired(ctx, cur.ID, `addons_wanted = addons_wanted + 1, addon_failures = 0,
		retry_at = CASE WHEN scale_failures > 0 THEN retry_at END`, pgx.NamedArgs{})
	if err != nil {
		return "", err
	}
	return job, c.did(d, "refresh_asked", cur.ID, act{move: move{Job: job}, After: cur.AddonsWanted + 1})
}

// queueAddons stores the cluster's add-ons as they are at its acceptance.
func (c *change) queueAddons(b *batch, cluster string, addons []Addon) error {
	for i, a := range addons {
		waits, err := json.Marshal(append([]AddonWait{}, a.Waits...))
		if err != nil {
			return fmt.Errorf("encode what add-on %s waits for: %w", a.Name, err)
		}
		b.do("keep the add-on "+a.Name, `INSERT INTO cluster_addons (cluster_id, position, name, manifests, waits) VALUES ($1, $2, $3, $4, $5)`,
			cluster, i+1, a.Name, a.Manifests, waits)
	}
	return nil
}

func (s *Store) addons(ctx context.Context, cluster string) ([]Addon, error) {
	out, err := all[Addon](ctx, s.pool, `SELECT name, manifests, waits FROM cluster_addons WHERE cluster_id = $1 ORDER BY position`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the add-ons of %s: %w", cluster, err)
	}
	return out, nil
}

func addonNames(addons []Addon) []string {
	names := make([]string, 0, len(addons))
	for _, a := range addons {
		names = append(names, a.Name)
	}
	return names
}

// keepAddons stores what a runner reports about add-ons as conditions. ErrConflict: the cluster was accepted without one.
func (c *change) keepAddons(ctx context.Context, f fenced, states []AddonState) error {
	if len(states) > 0 && f.kind != lifecycle.Create && f.kind != lifecycle.Configure {
		return fmt.Errorf("%w: only a create or a refresh brings add-ons", ErrConflict)
	}
	for _, a := range states {
		if !slices.Contains(f.Addons, a.Name) {
			return fmt.Errorf("%w: the cluster was accepted without the add-on %q", ErrConflict, a.Name)
		}
		q := Condition{Type: AddonCondition + a.Name, Status: "False", Reason: a.Reason, Message: strings.TrimSpace(a.Message + " " + a.Next)}
		if a.There {
			q.Status = "True"
		}
		if err := c.setCondition(ctx, f.ID, q); err != nil {
			return err
		}
	}
	return nil
}

// AddonCondition is the prefix of an add-on's condition type; the add-on's name follows.
const AddonCondition = "AddonApplied/"

// setConfigured sets the condition that says whether the add-ons match the last request.
func (c *change) setConfigured(ctx context.Context, cluster string, m lifecycle.JobMove) error {
	q := Condition{Type: "Configured", Status: "False", Reason: m.Code, Message: m.Message}
	switch m.To {
	case lifecycle.JobRunning:
		q.Reason, q.Message = "Configuring", "its add-ons are being brought anew"
	case lifecycle.JobSucceeded:
		q.Status, q.Reason, q.Message = "True", "AddonsThere", "all its add-ons were seen there"
	}
	return c.setCondition(ctx, cluster, q)
}
