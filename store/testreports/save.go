package testreports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// EffectCheck shows the results on a commit as a check. Its content is a report's id.
const EffectCheck clusters.EffectKind = "test_check"

// MostReports is how many reports one attempt of a run may have on a cluster.
const MostReports = 100

// ErrTooMany says that the attempt has MostReports reports on the cluster.
var ErrTooMany = errors.New("the attempt has reported too often")

// Save stores a report of a run that is written down, for a cluster. One of the same attempt, job and name is replaced; then fresh is
// false. With check, the results are shown on the tested commit; a pull request's cluster shows them in its comment.
func (s *Store) Save(ctx context.Context, cluster, run string, r lifecycle.TestReport, check bool, d clusters.Origin) (fresh bool, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if _, err := clusters.Lock(ctx, c, cluster); err != nil { // one report at a time, so that none is counted twice
			return err
		}
		id, err := putReport(ctx, c, cluster, run, r, d.Actor)
		if err != nil {
			return err
		}
		fresh = id.Fresh
		if check {
			err := clusters.SaveEffects(ctx, c, []clusters.Effect{{
				Cause: fmt.Sprintf("tests:%s:%d", id.ID, c.Now.UnixMicro()), Kind: EffectCheck, Installation: id.Installation, Repo: id.Repo, Content: id.ID,
			}})
			if err != nil {
				return err
			}
		}
		said := fmt.Sprintf("%s: %d of %d failed", r.Name, r.Failed, r.Total)
		if r.Crashed > 0 {
			said += fmt.Sprintf(", suites that crashed: %d", r.Crashed)
		}
		if err := clusters.RecordAction(c, d, "tests_reported", cluster, clusters.Action{Move: db.Move{Why: said}, Note: id.ID}); err != nil {
			return err
		}
		return refresh(ctx, c, cluster)
	})
	if err != nil {
		return false, fmt.Errorf("save a test report of %s: %w", cluster, err)
	}
	return fresh, nil
}

// refresh has the cluster's comment updated, if it has one.
func refresh(ctx context.Context, c *db.Tx, cluster string) error {
	var shown bool
	err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM subscribers WHERE cluster_id = $1 AND kind = $2 AND NOT muted)`, cluster, clusters.KindComment).Scan(&shown)
	if err != nil || !shown {
		return err
	}
	return clusters.Refresh(ctx, c, cluster)
}

// put is a stored report, and where its run is.
type put struct {
	ID           string
	Fresh        bool
	Installation int64
	Repo         string
}

func putReport(ctx context.Context, c *db.Tx, cluster, run string, r lifecycle.TestReport, principal string) (out put, err error) {
	failures, err := list(r.Failures)
	if err != nil {
		return out, err
	}
	slowest, err := list(r.Slowest)
	if err != nil {
		return out, err
	}
	crashes, err := list(r.Crashes)
	if err != nil {
		return out, err
	}
	flaky, err := list(r.FlakyTests)
	if err != nil {
		return out, err
	}
	args := pgx.NamedArgs{
		"id": db.NewID("tst"), "cluster": cluster, "run": run, "attempt": r.Attempt, "job": r.Job, "name": r.Name, "total": r.Total, "passed": r.Passed,
		"failed": r.Failed, "skipped": r.Skipped, "duration": r.Duration, "failures": failures, "slowest": slowest, "url": r.URL, "head": r.Run.Head,
		"flaky": r.Flaky, "crashed": r.Crashed, "flaky_tests": flaky, "crashes": crashes, "principal": principal, "now": c.Now, "most": MostReports,
	}
	var others int
	err = c.QueryRow(ctx, `
		SELECT count(*) FROM test_reports WHERE cluster_id = @cluster AND run_id = @run AND attempt = @attempt AND (job, name) <> (@job, @name)`, args).Scan(&others)
	if err != nil {
		return out, fmt.Errorf("count its reports: %w", err)
	}
	if others >= MostReports {
		return out, ErrTooMany
	}
	return db.One[put](ctx, c, `
		WITH stored AS (
			INSERT INTO test_reports AS t (id, cluster_id, run_id, attempt, job, name, total, passed, failed, skipped, duration, failures, slowest, url, head,
				flaky, crashed, flaky_tests, crashes, principal, reported_at)
			VALUES (@id, @cluster, @run, @attempt, @job, @name, @total, @passed, @failed, @skipped, @duration, @failures, @slowest, @url, @head,
				@flaky, @crashed, @flaky_tests, @crashes, @principal, @now)
			ON CONFLICT (cluster_id, run_id, attempt, job, name) DO UPDATE SET total = @total, passed = @passed, failed = @failed, skipped = @skipped,
				duration = @duration, failures = @failures, slowest = @slowest, url = @url, head = @head,
				flaky = @flaky, crashed = @crashed, flaky_tests = @flaky_tests, crashes = @crashes, principal = @principal, reported_at = @now
			RETURNING t.id, t.run_id)
		SELECT s.id, s.id = @id AS fresh, r.installation, r.repo FROM stored s JOIN runs r ON r.id = s.run_id`, args)
}

func list(of any) (json.RawMessage, error) {
	raw, err := json.Marshal(of)
	if string(raw) == "null" {
		raw = json.RawMessage(`[]`)
	}
	return raw, err
}

// record is a stored report.
type record struct {
	Name                           string
	Total, Passed, Failed, Skipped int
	Flaky, Crashed                 int
	Duration                       time.Duration
	Failures, FlakyTests, Crashes  []lifecycle.TestFailure
	Slowest                        []lifecycle.SlowTest
	URL, Head                      string
	Attempt                        int
	Job                            string
	ReportedAt                     time.Time
	RunID, Workflow, Event, RunURL string
	Since                          time.Time
}

const columns = `t.name, t.total, t.passed, t.failed, t.skipped, t.flaky, t.crashed, t.duration, t.failures, t.flaky_tests, t.crashes, t.slowest, t.url, coalesce(nullif(t.head, ''), r.head_sha) AS head,
	t.attempt, t.job, t.reported_at, r.id AS run_id, r.name AS workflow, r.event, r.url AS run_url, r.created_at AS since`

func (r record) report() lifecycle.TestReport {
	return lifecycle.TestReport{
		Name: r.Name, Total: r.Total, Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped, Duration: r.Duration, Failures: r.Failures, Slowest: r.Slowest,
		Flaky: r.Flaky, Crashed: r.Crashed, FlakyTests: r.FlakyTests, Crashes: r.Crashes,
		URL: r.URL, Attempt: r.Attempt, Job: r.Job, At: r.ReportedAt.UTC(),
		Run: lifecycle.TestRun{ID: r.RunID, Workflow: r.Workflow, Event: r.Event, URL: r.RunURL, Head: r.Head, Since: r.Since.UTC()},
	}
}

func reports(ctx context.Context, from db.Source, sql string, args pgx.NamedArgs) ([]lifecycle.TestReport, error) {
	all, err := db.All[record](ctx, from, sql, args)
	out := make([]lifecycle.TestReport, len(all))
	for i, one := range all {
		out[i] = one.report()
	}
	return out, err
}
