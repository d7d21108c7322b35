package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// statusCall names a runner's call: claim, reserve, each record, each pass, the destroyer's exit and the result. The number of other
// reports varies between runs, so they are no boundaries.
func (t *Run) statusCall(r *http.Request, body []byte) (call, bool) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/v1/status/attempts/")
	attempt, what, found := strings.Cut(rest, "/")
	if !ok || !found {
		return call{}, false
	}
	switch what {
	case "record":
		var record contract.Record
		_ = json.Unmarshal(body, &record) // the server reports what is wrong with it
		if what = "record the identity"; record.Identity.InfraID == "" {
			what = "record the ccoctl name"
		}
	case "report":
		var report contract.Report
		_ = json.Unmarshal(body, &report)
		switch {
		case report.Pass != nil:
			what = fmt.Sprintf("report pass %d", min(report.Pass.Number, 2))
		case report.ToolExit != nil:
			what = "report the exit"
		default:
			return call{}, false
		}
	}
	pr, kind, ok := t.ownerOf(r.Context(), attempt)
	return call{pr: pr, what: kind + " " + what}, ok
}

// s3Call names a call that stores something of a cluster, or that a teardown uses to fetch it.
func (t *Run) s3Call(r *http.Request, _ []byte) (call, bool) {
	if r.Method != http.MethodPut && r.Method != http.MethodGet {
		return call{}, false
	}
	_, rest, ok := strings.Cut(r.URL.Path, "/clusters/")
	id, key, found := strings.Cut(rest, "/")
	if !ok || !found {
		return call{}, false
	}
	name := path.Base(key)
	if strings.Contains(r.URL.Path, "/operate/") {
		name = "operate/" + name
	}
	pr, ok := t.pullOf(r.Context(), id)
	return call{pr: pr, what: r.Method + " " + name}, ok
}

// ownerOf looks up in the database whose attempt it is. While the database is unavailable nothing is held.
func (t *Run) ownerOf(ctx context.Context, attempt string) (pr int, kind string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := t.pool.QueryRow(ctx, "SELECT c.pr_number, a.kind FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.id = $1", attempt).Scan(&pr, &kind)
	return pr, kind, err == nil
}

func (t *Run) pullOf(ctx context.Context, id string) (pr int, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := t.pool.QueryRow(ctx, "SELECT pr_number FROM clusters WHERE id = $1", id).Scan(&pr)
	return pr, err == nil
}

const (
	// limitLasts is how long GitHub's limit stays exhausted: long enough for released clusters to hit it.
	limitLasts = 14 * time.Second
	// decided is the time within which an end must be set while GitHub does not respond.
	decided = 10 * time.Second
	// wholeSecond is the wait after which an event has a later time on GitHub.
	wholeSecond = 1100 * time.Millisecond
)

func cutGitHub(ctx context.Context, t *Run) error {
	t.GitHubCut.Off()
	return refuses(ctx, t.Ports.GitHub)
}

func mendGitHub(_ context.Context, t *Run) error { t.GitHubCut.On(); return nil }

func spendGitHub(_ context.Context, t *Run) error {
	t.refill = t.GitHub.Spend(0, limitLasts)
	if left := t.GitHub.Left(); left > 0 {
		return fmt.Errorf("%d calls are left of GitHub's limit though it is used up", left)
	}
	return nil
}

// refillGitHub waits for the limit's reset and resets the counts: a test uses one hour's limit.
func refillGitHub(ctx context.Context, t *Run) error {
	for t.GitHub.Left() <= 0 {
		if err := sleep(ctx, glance); err != nil {
			return err
		}
	}
	t.refill()
	return nil
}

// endUnanswered requests the end of unwanted clusters, with comments by a person whose permission GitHub reported before. Each end
// must be set while GitHub does not respond.
func endUnanswered(ctx context.Context, t *Run, cells []*cell) error {
	if err := sleep(ctx, wholeSecond); err != nil {
		return err
	}
	var asked []*cell
	var errs []error
	for _, c := range cells {
		if c.struck && c.Job == creating && !c.wanted {
			asked = append(asked, c)
			errs = append(errs, t.destroy(c.pr))
		}
	}
	if len(asked) > 0 {
		t.say("           %d ends asked for while GitHub gives no answer", len(asked))
	}
	for _, c := range asked {
		going := func(now cluster) bool { return now.Desired == "absent" }
		err := t.awaitWhile(ctx, nameOf(c.pr), "on its way out while GitHub gives no answer", decided, going, func() bool { return true })
		c.err = errors.Join(c.err, err)
	}
	return errors.Join(errs...)
}
