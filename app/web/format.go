package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// step is one phase of the way a cluster is on.
type step struct {
	Name  string
	State string // done, now or todo
}

var (
	createSteps = []lifecycle.Phase{
		lifecycle.Queued, lifecycle.Preflight, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing,
		lifecycle.Configuring, lifecycle.PhaseReady,
	}
	destroySteps = []lifecycle.Phase{lifecycle.Restoring, lifecycle.DestroyingRuns, lifecycle.Verifying, lifecycle.Released}
)

// stepsOf returns the steps of the way that a cluster is on, and its position. A phase outside (cleaning, failed) has none.
func stepsOf(row clusters.Row) []step {
	way := createSteps
	if row.Status == lifecycle.Destroying || row.Status == lifecycle.Destroyed {
		way = destroySteps
	}
	here := row.Phase
	switch {
	case row.Status == lifecycle.Ready:
		here = lifecycle.PhaseReady
	case here == lifecycle.Stopping: // not every teardown has to stop an install
		way = append([]lifecycle.Phase{lifecycle.Stopping}, way...)
	}
	at := -1
	for i, phase := range way {
		if phase == here {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	var out []step
	for i, phase := range way {
		state := "todo"
		switch {
		case i < at, i == at && i == len(way)-1:
			state = "done"
		case i == at:
			state = "now"
		}
		out = append(out, step{Name: plainState(phase), State: state})
	}
	return out
}

// actorFormatter formats a principal for people; decisions of the control plane need no name.
func actorFormatter(nameOf func(string) string) func(string) string {
	if nameOf == nil {
		nameOf = profiles.UnlinkedName
	}
	return func(id string) string {
		if id == db.Lifecycle {
			return ""
		}
		return nameOf(id)
	}
}

// shortHash abbreviates a hash.
func shortHash(hash string) string { return hash[:min(len(hash), 12)] }

// query is one query of a verification pass, as the runner reported it.
type query struct {
	Service, Call, Region, Asked, Err string
	Unasked                           string // why its region was not asked
	At                                time.Time
	Count                             int
}

// parseQueries parses the queries of a pass; nil if they cannot be parsed.
func parseQueries(pass attempts.VerificationRow) []query {
	var out []query
	if json.Unmarshal(pass.Queries, &out) != nil {
		return nil
	}
	return out
}

// countRefused counts the queries that were refused or not answered. None of them counts as "nothing found".
func countRefused(asked []query) (n int) {
	for _, q := range asked {
		if q.Err != "" {
			n++
		}
	}
	return n
}

// notAsked returns a query for each region that was not asked.
func notAsked(asked []query) (regions []query) {
	for _, q := range asked {
		if q.Unasked != "" && !slices.ContainsFunc(regions, func(r query) bool { return r.Region == q.Region }) {
			regions = append(regions, q)
		}
	}
	return regions
}

// describeSleep says until when a cluster sleeps and why, and what its sleep has saved; empty: it is awake and never slept.
func describeSleep(row clusters.Row, now time.Time) string {
	var parts []string
	if row.SleepWanted {
		until := "until somebody wakes it"
		if !row.SleepUntil.IsZero() {
			until = "until " + formatStamp(row.SleepUntil)
		}
		parts = append(parts, until, "reason: "+row.SleepWhy)
	}
	if saved := row.Meter.Saved(now); saved > 0 {
		parts = append(parts, "about "+price.Dollars(saved)+" saved by sleeping")
	}
	return strings.Join(parts, "; ")
}

// describeCost says what the cluster has cost by list prices, so far or altogether, and what it will cost if it runs until its end.
func describeCost(row clusters.Row, now time.Time) string {
	switch {
	case !row.ReleasedAt.IsZero():
		return fmt.Sprintf("about %s in all", price.Dollars(row.Meter.Spent(row.ReleasedAt)))
	case row.Desired == lifecycle.Absent:
		return fmt.Sprintf("about %s so far", price.Dollars(row.Meter.Spent(now)))
	}
	return fmt.Sprintf("about %s so far, %s until its planned end", price.Dollars(row.Meter.Spent(now)), price.Dollars(row.Meter.Total(now, row.DestroyAt)))
}

func plainState[T ~string](s T) string {
	return strings.NewReplacer("_", " ", ".", " ").Replace(string(s))
}

// describeMove describes the state that a cluster reached, such as PENDING/queued or READY/ready.
func describeMove(to string) string {
	status, phase, _ := strings.Cut(to, "/")
	if phase == "" || strings.EqualFold(status, phase) {
		return status
	}
	return status + ", " + plainState(phase)
}

func formatStamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// formatPullRequest formats a pull request for people.
func formatPullRequest(pr *clusters.PRRef) string {
	if pr == nil {
		return ""
	}
	return fmt.Sprintf("%s#%d", pr.Repo, pr.Number)
}

// formatBody formats a body for people: JSON indented, anything else unchanged.
func formatBody(body []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, body, "", "  ") != nil {
		return string(body)
	}
	return out.String()
}
