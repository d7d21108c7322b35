package pulls_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// lives numbers the worlds: each has a repository of its own in one database.
var lives atomic.Int64

// world is a repository with pull request 41, as GitHub would have it: whoever asks by a name of before is led to the present one.
type world struct {
	*rapid.T
	h       *fixture
	service servicetest.Services
	file    string

	mu    sync.Mutex
	names []string // the last one is the present one
	pr    pullrequests.PullRequest
	fail  int // this call fails, counted down; 0: none does

	waiting  []happening // told, and not worked
	strange  bool        // somebody who may not ask set a label
	destroys int
	pushes   int
}

// happening is one webhook.
type happening struct {
	what string
	work func() error
}

func newWorld(t *rapid.T, h *fixture) *world {
	n := lives.Add(1)
	w := &world{T: t, h: h, names: []string{fmt.Sprintf("acme/r%d", n)}}
	w.pr = pullrequests.PullRequest{
		Installation: 5001, Repo: w.names[0], RepoID: 1000 + n, Number: 41, Open: true, Author: "will", Head: strings.Repeat("0", 40), HeadRef: "topic",
		Base: "main", UpdatedAt: time.Now().Add(-time.Hour).Truncate(time.Second).UTC(),
	}
	if rapid.Bool().Draw(t, "recreates") {
		w.file = "synchronize: recreate\n"
	}
	c := h.Config()
	c.GitHub = w
	w.service = servicetest.Wire(c)
	w.tell("opened", "will", "")
	return w
}

// ask counts a question, which may fail.
func (w *world) ask() error {
	if w.fail--; w.fail == 0 {
		return errDown
	}
	return nil
}

func (w *world) Permission(_ context.Context, _ int64, _ string, who app.GitHubAccount) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return map[string]string{"will": "write", "toni": "triage"}[who.Login], w.ask()
}

func (w *world) AccountID(context.Context, int64, string) (int64, error) { return 0, nil }

func (w *world) Login(context.Context, int64, int64) (string, error) { return "", nil }

func (w *world) PullRequest(_ context.Context, _ int64, repo string, _ int) (pullrequests.PullRequest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.names, repo) {
		return pullrequests.PullRequest{}, fmt.Errorf("no repository was ever called %s", repo)
	}
	return w.now(), w.ask()
}

func (w *world) RemovesRepositoryFile(context.Context, int64, string, int) (bool, error) {
	return false, nil
}

func (w *world) RepositoryFile(context.Context, int64, string, string) ([]byte, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []byte(w.file), w.file != "", w.ask()
}

func (w *world) Teams(context.Context, int64, string, []string) ([]string, error) { return nil, nil }
func (w *world) OwnLogin(context.Context) (string, error)                         { return own, nil }
func (w *world) InstallationOf(context.Context, string) (int64, error)            { return 5001, nil }

func (w *world) WorkflowRun(context.Context, int64, string, int64) (app.WorkflowRun, error) {
	return app.WorkflowRun{}, app.ErrRefused
}

// Repository leads from every name before to the present one.
func (w *world) Repository(_ context.Context, _ int64, repo string) (app.RepositoryState, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ask(); err != nil || !slices.Contains(w.names, repo) {
		return app.RepositoryState{}, err
	}
	return app.RepositoryState{Installation: 5001, ID: w.pr.RepoID, Name: w.name()}, nil
}

func (w *world) now() pullrequests.PullRequest {
	pr := w.pr
	pr.Labels = slices.Clone(pr.Labels)
	return pr
}
func (w *world) name() string { return w.names[len(w.names)-1] }
func (w *world) will(what string, work func(context.Context) (string, error)) {
	w.waiting = append(w.waiting, happening{what, func() error { _, err := work(w.Context()); return err }})
}
func (w *world) clusters() (rows []clusters.Row) {
	return w.of(store.Filter{Repo: w.name(), Number: 41, Limit: 100})
}

func (w *world) of(f store.Filter) []clusters.Row {
	rows, _, err := w.h.Store.List(w.Context(), f)
	require.NoError(w, err)
	return rows
}

// tell makes a webhook of how the pull request stands.
func (w *world) tell(action, actor, label string) {
	e := pulls.PullRequestEvent{PR: w.now(), Actor: actor, ActorID: servicetest.AccountID(actor), Action: action, Label: label}
	w.will(fmt.Sprintf("%s %s by %s", action, label, actor), func(ctx context.Context) (string, error) { return w.service.SyncPullRequest(ctx, e) })
}

func (w *world) label(actor string) {
	if slices.Contains(w.pr.Labels, label) {
		return
	}
	w.strange = w.strange || actor == "toni"
	w.pr.Labels = append(w.pr.Labels, label)
	w.tell("labeled", actor, label)
}

func (w *world) unlabel(actor string) {
	if i := slices.Index(w.pr.Labels, label); i >= 0 {
		w.pr.Labels = slices.Delete(w.now().Labels, i, i+1)
		w.tell("unlabeled", actor, label)
	}
}

func (w *world) say(body string) {
	e := pulls.CommentEvent{Installation: 5001, Repo: w.name(), Number: 41, ID: lives.Add(1), Author: "will", AuthorID: servicetest.AccountID("will"), Action: "created", Body: body}
	w.will(body, func(ctx context.Context) (string, error) { return w.service.Comment(ctx, e) })
}

func (w *world) rename() {
	e := pulls.RepositoryEvent{Installation: 5001, RepoID: w.pr.RepoID, Action: "renamed", From: w.name(), Actor: "maya", ActorID: servicetest.AccountID("maya")}
	w.pr.Repo = fmt.Sprintf("acme/r%d", lives.Add(1))
	w.names, e.To = append(w.names, w.pr.Repo), w.pr.Repo
	w.will("renamed", func(ctx context.Context) (string, error) { return w.service.RepositoryMoved(ctx, e) })
}

// work works one of what waits, by one or two workers at once; whoever fails leaves it there, and now and then whoever does not.
func (w *world) work(t *rapid.T) {
	if len(w.waiting) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.waiting)-1).Draw(t, "which")
	w.fail = rapid.IntRange(0, 6).Draw(t, "call that fails")
	var group errgroup.Group
	for range rapid.IntRange(1, 2).Draw(t, "workers") {
		group.Go(w.waiting[i].work)
	}
	err := group.Wait()
	w.fail = 0
	if err == nil && rapid.IntRange(0, 3).Draw(t, "and dies") > 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
}

// publish does to the label what the controller would: it makes effects, and takes off what tells the truth no longer. dies: it
// does not remember what it made.
func (w *world) publish(dies bool) {
	newest := func() (clusters.Row, bool) {
		row, err := w.h.Store.ClusterForPR(w.Context(), w.name(), 41, profile)
		return row, err == nil
	}
	row, there := newest()
	stands := there && row.Desired == lifecycle.Present && row.Ends.LabelRemoved.IsZero() && len(w.h.Query(`
		SELECT id FROM subscribers WHERE kind = 'github_label' AND cluster_id = $1`, row.ID)) > 0
	for _, effect := range w.h.Query(`
		SELECT id || ' ' || kind FROM effects WHERE done_at IS NULL AND repo = ANY ($1) AND content = $2 ORDER BY created_at, id`, w.names, label) {
		id, kind, _ := strings.Cut(effect, " ")
		switch {
		case kind == string(outbox.EffectRemoveLabel) && !stands:
			w.unlabel(own)
		case kind == string(outbox.EffectAddLabel) && stands && !slices.Contains(w.pr.Labels, label):
			w.pr.Labels = append(w.now().Labels, label)
			w.tell("labeled", own, label)
		}
		if !dies {
			require.NoError(w, w.h.Store.Outbox.EffectDone(w.Context(), id, "made", false))
		}
	}
	if gone, _ := chatops.LabelGone(row.Card); there && gone {
		for _, place := range w.h.Query(`
			SELECT id FROM subscribers WHERE kind = 'github_label' AND NOT muted AND shown_body <> 'off' AND cluster_id = $1`, row.ID) {
			w.unlabel(own)
			if !dies {
				require.NoError(w, w.h.Store.Outbox.Shown(w.Context(), place, 0, row.Cluster.Version, "off"))
			}
		}
	}
}

// rest lets everything in, in order, until nothing follows any more.
func (w *world) rest() {
	for range 30 {
		for len(w.waiting) > 0 {
			err := w.waiting[0].work()
			if err != nil { // the repository was renamed below it: it is tried again
				err = w.waiting[0].work()
			}
			require.NoError(w, err, w.waiting[0].what)
			w.waiting = w.waiting[1:]
		}
		w.publish(false)
		if len(w.waiting) > 0 {
			continue
		}
		for _, row := range w.of(store.Filter{Live: true, Limit: 500}) { // as polling would
			if row.PR.Repo != w.name() && slices.Contains(w.names, row.PR.Repo) {
				_, err := w.service.RepositoryMoved(w.Context(), pulls.RepositoryEvent{Installation: 5001, RepoID: w.pr.RepoID, Action: "renamed", From: row.PR.Repo, To: w.name()})
				require.NoError(w, err)
			}
		}
		_, err := w.service.SyncPullRequest(w.Context(), pulls.PullRequestEvent{PR: w.now(), Action: pulls.ActionSeen, Seen: true})
		require.NoError(w, err)
		if len(w.undone()) == 0 {
			return
		}
	}
	require.Fail(w, "it never comes to rest")
}

// undone are the changes on GitHub that were written down and are not made yet.
func (w *world) undone() []string {
	return w.h.Query(`SELECT cause FROM effects WHERE done_at IS NULL AND kind <> 'react' AND repo = ANY ($1)`, w.names)
}

func (w *world) check() {
	said := fmt.Sprintf("names %v, open %t, labels %v, strange %t, destroys %d, pushes %d\n%s", w.names, w.pr.Open, w.pr.Labels, w.strange, w.destroys, w.pushes,
		strings.Join(w.h.Query(`SELECT actor || ' ' || action || ' ' || metadata::text FROM audit_events WHERE target_cluster_id IN (SELECT id FROM clusters WHERE repo = ANY ($1)) ORDER BY id`, w.names), "\n"))
	require.Equal(w, len(w.clusters()), len(w.h.Query(`SELECT id FROM clusters WHERE repo = ANY ($1)`, w.names)), "all are found under the present name: "+said)
	require.LessOrEqual(w, len(w.h.Query(`SELECT repo FROM pull_requests WHERE repo_id = $1`, w.pr.RepoID)), 1, said)
	wanted := slices.DeleteFunc(w.clusters(), func(r clusters.Row) bool { return r.Desired != lifecycle.Present })
	require.LessOrEqual(w, len(wanted), 1, said)
	stands := slices.Contains(w.pr.Labels, label)
	if stands && w.pr.Open && w.destroys == 0 && !w.strange {
		require.NotEmpty(w, wanted, "who may asked for it by the label: "+said)
	}
	for _, row := range w.clusters() {
		require.NotEqual(w, servicetest.OnGitHub("toni"), row.RequestedBy, "whoever may not ask asked for nothing: "+said)
	}
	for _, row := range wanted {
		require.Equal(w, !w.pr.Open, !row.Ends.PRClosed.IsZero(), said)
		require.Equal(w, row.Source == string(policy.SourceLabel) && !stands, !row.Ends.LabelRemoved.IsZero(), said)
	}
	require.LessOrEqual(w, len(w.clusters()), 1+w.destroys+w.pushes, "one for each end: "+said)
	require.Empty(w, w.undone(), said)
	require.Empty(w, w.h.Query(`SELECT cause FROM replies WHERE cause LIKE 'comment:%' AND repo = ANY ($1) GROUP BY cause HAVING count(*) > 1`, w.names), said)
}

// TestWhateverHappensAtOnceNoRequestIsLostOrMadeTwice lives random lives of one pull request: people and we ourselves change it,
// its repository is renamed, GitHub fails in the middle of anything, workers die behind what they did, two work the same at once,
// and what is told comes in any order. make seeds lives more of them, -rapid.seed one again.
func TestWhateverHappensAtOnceNoRequestIsLostOrMadeTwice(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "20"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	h := newFixture(t)
	h.Catalogue.Quotas = nil
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, h)
		origin := func(do func()) func(*rapid.T) {
			return func(t *rapid.T) {
				if rapid.Bool().Draw(t, "a second later") {
					w.pr.UpdatedAt = w.pr.UpdatedAt.Add(time.Second)
				}
				do()
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"label":   origin(func() { w.label("will") }),
			"strange": origin(func() { w.label("toni") }),
			"unlabel": origin(func() { w.unlabel("will") }),
			"close":   origin(func() { w.pr.Open = false; w.tell("closed", "will", "") }),
			"reopen": origin(func() {
				if !w.pr.Open {
					w.pr.Open = true
					w.tell("reopened", "will", "")
				}
			}),
			"push": origin(func() {
				w.pushes++
				w.pr.Head = strings.Repeat(fmt.Sprint(w.pushes%3), 40)
				w.tell("synchronize", "will", "")
			}),
			"rename":  origin(w.rename),
			"create":  origin(func() { w.say("/ocp create") }),
			"destroy": origin(func() { w.destroys++; w.say("/ocp destroy") }),
			"work":    w.work, "work more": w.work, "work on": w.work,
			"publish": func(t *rapid.T) { w.publish(rapid.Bool().Draw(t, "dies")) },
		})
		w.rest()
		w.check()
	})
}
