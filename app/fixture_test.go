package app_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	adminpkg "github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/slash"
	"github.com/ocpctl/ocpctl/internal/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
)

const (
	repo    = "acme/shop"
	profile = "aws-minimal-test"
	label   = "ocp/" + profile
	grace   = 10 * time.Minute
	own     = "ocpctl[bot]"
)

// people answers for GitHub: who may do what, and how pull requests stand.
type people struct {
	permission map[string]string
	prs        map[int]store.PullRequest // how they stand, whatever was told
	mu         sync.Mutex
	told       map[int]store.PullRequest // of the others: as they were told of last
	asked      atomic.Int64
	down       atomic.Bool
	files      map[string]string              // of the repository, by branch or commit
	removes    bool                           // pull requests delete the repository's file
	teams      map[string][]string            // by login
	installed  map[string]int64               // by repository
	repos      map[string]app.RepositoryState // by a name they have or had; others are as installed says, and cannot be seen
	reaching   func(repo string)              // told of each question for a repository's installation; nil: nobody
	silent     bool                           // of installations and repositories it tells nothing
	meanwhile  func()                         // happens once, while GitHub is asked; nil: nothing
}

var errDown = errors.New("GitHub does not answer")

func (p *people) Permission(_ context.Context, _ int64, _, login string) (string, error) {
	p.asked.Add(1)
	if happens := p.meanwhile; happens != nil {
		p.meanwhile = nil
		happens()
	}
	if p.down.Load() {
		return "", errDown
	}
	if found, ok := p.permission[login]; ok {
		return found, nil
	}
	return "none", nil
}

func (p *people) PullRequest(_ context.Context, installation int64, _ string, number int) (store.PullRequest, error) {
	if p.down.Load() {
		return store.PullRequest{}, errDown
	}
	pr, ok := p.prs[number]
	if !ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		pr, ok = p.told[number]
	}
	if pr.Installation = installation; ok {
		return pr, nil
	}
	return store.PullRequest{}, fmt.Errorf("%w: pull request %d", app.ErrNoPullRequest, number)
}

// stands makes a state what GitHub says of a pull request, unless it said a newer one.
func (p *people) stands(pr store.PullRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !pr.UpdatedAt.Before(p.told[pr.Number].UpdatedAt) {
		p.told[pr.Number] = pr
	}
}

func (p *people) RepositoryFile(_ context.Context, _ int64, _, ref string) ([]byte, bool, error) {
	if p.down.Load() {
		return nil, false, errDown
	}
	raw, found := p.files[ref]
	return []byte(raw), found, nil
}

func (p *people) RemovesRepositoryFile(context.Context, int64, string, int) (bool, error) {
	return p.removes, nil
}

func (p *people) Teams(_ context.Context, _ int64, login string, teams []string) ([]string, error) {
	p.asked.Add(1)
	if p.down.Load() {
		return nil, errDown
	}
	return slices.DeleteFunc(slices.Clone(teams), func(t string) bool { return !slices.Contains(p.teams[login], t) }), nil
}

func (p *people) OwnLogin(context.Context) (string, error) { return own, nil }

func (p *people) InstallationOf(_ context.Context, repo string) (int64, error) {
	p.asked.Add(1)
	if p.reaching != nil {
		p.reaching(repo)
	}
	switch {
	case p.down.Load():
		return 0, errDown
	case p.silent:
		return 0, fmt.Errorf("%w: forbidden", app.ErrUnreadable)
	}
	return p.installed[repo], nil
}

func (p *people) Repository(ctx context.Context, _ int64, repo string) (app.RepositoryState, error) {
	if is, ok := p.repos[repo]; ok && !p.silent && !p.down.Load() {
		return is, nil
	}
	there, err := p.InstallationOf(ctx, repo)
	return app.RepositoryState{Installation: there}, err
}

// shelf is a bucket of one test.
type shelf = servicetest.Shelf

// fixture is a service on a database of its own.
type fixture struct {
	*testing.T
	url       string
	store     *store.Store
	service   services
	slash     *slash.Service
	catalogue catalogue.Catalogue
	github    *people
	shelf     shelf
	clock     time.Time // updated_at of the next event
}

// services are what requests of every source lead to but Slack's.
type services struct {
	*coreService
	*credentialsService
	*adminService
	*pullsService
}

type (
	coreService        = app.Service
	pullsService       = pulls.Service
	credentialsService = credentials.Service
	adminService       = adminpkg.Service
)

func newServices(c app.Config) (services, *slash.Service) {
	core := app.New(c)
	links := credentials.New(core, c)
	return services{core, links, adminpkg.New(core, c), pulls.New(core, links, c)}, slash.New(core, links, c)
}

func newFixture(t *testing.T) *fixture {
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	return fixtureWith(t, terms)
}

// houseWith is a fixture with a catalogue of its own, which a test may change, and settings that are not everybody's.
func fixtureWith(t *testing.T, terms catalogue.Catalogue, set ...func(*policy.Settings)) *fixture {
	settings := policy.Settings{Grace: grace, Installation: "test"}
	for _, s := range set {
		s(&settings)
	}
	h := &fixture{
		T: t, url: pgtest.New(t), shelf: shelf{}, clock: time.Now().Add(-time.Hour).Truncate(time.Second).UTC(),
		github: &people{told: map[int]store.PullRequest{}, permission: map[string]string{"maya": "maintain", "will": "write", "rita": "read", "toni": "triage"}},
	}
	s, err := store.Open(t.Context(), h.url, store.Options{
		Limits: lifecycle.Limits{
			LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second, RetryBase: time.Second, RetryMax: time.Hour,
			BlockAfter: 3, VerifyGap: time.Second, WarnBefore: time.Minute,
		},
		Lease: time.Minute, Installation: "test",
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	h.store = s
	h.catalogue = terms
	h.service, h.slash = newServices(app.Config{
		Store: s, Catalogue: func() catalogue.Catalogue { return h.catalogue }, GitHub: h.github, Artifacts: h.shelf,
		Policy: settings,
		Repositories: []app.Repository{
			{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}},
		},
		Runs: app.Runs{PullSecretRef: "file:/run/pull-secret", Account: "123456789012"},
		UI:   "http://127.0.0.1:8080",
	})
	return h
}

// pr is pull request 41 as it stands a second after the event before.
func (h *fixture) pr(open bool, labels ...string) store.PullRequest {
	h.clock = h.clock.Add(time.Second)
	return store.PullRequest{
		Installation: 5001, Repo: repo, Number: 41, Open: open, Labels: labels, Author: "will",
		Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e", Base: "main", UpdatedAt: h.clock,
	}
}

func (h *fixture) sync(e pulls.PullRequestEvent) string {
	h.Helper()
	h.github.stands(e.PR)
	note, err := h.service.SyncPullRequest(h.Context(), e)
	require.NoError(h, err)
	return note
}

func (h *fixture) labeled(actor string, labels ...string) string {
	h.Helper()
	return h.sync(pulls.PullRequestEvent{PR: h.pr(true, labels...), Actor: actor, Action: "labeled", Label: labels[len(labels)-1]})
}

// comment writes on pull request 41, a second after whatever happened before.
func (h *fixture) comment(id int64, author, body string) string {
	h.Helper()
	h.clock = h.clock.Add(time.Second)
	note, err := h.service.Comment(h.Context(), pulls.CommentEvent{
		Installation: 5001, Repo: repo, Number: 41, ID: id, Author: author, Action: "created", Body: body, At: h.clock,
	})
	require.NoError(h, err)
	return note
}

// clusters are all there ever were, oldest first.
func (h *fixture) clusters() []store.Row {
	h.Helper()
	rows, _, err := h.store.List(h.Context(), store.Filter{Limit: 100})
	require.NoError(h, err)
	slices.Reverse(rows)
	return rows
}

func (h *fixture) only() store.Row {
	h.Helper()
	rows := h.clusters()
	require.Len(h, rows, 1)
	return rows[0]
}

// query reads one column straight from the tables: what was written, not what the product says of it.
func (h *fixture) query(sql string, args ...any) []string {
	h.Helper()
	conn, err := pgx.Connect(h.Context(), h.url)
	require.NoError(h, err)
	defer conn.Close(h.Context())
	rows, err := conn.Query(h.Context(), sql, args...)
	require.NoError(h, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(h, err)
	return out
}

// replies are the answers to post, oldest first.
func (h *fixture) replies() []string {
	h.Helper()
	return h.query(`SELECT body FROM replies ORDER BY id`)
}

// effects are the changes to make on GitHub beside what shows a cluster, oldest first.
func (h *fixture) effects() []string {
	h.Helper()
	return h.query(`SELECT kind || ' ' || content FROM effects ORDER BY created_at, id`)
}

// event is something that happens to pull request 41, a second after the event before.
func (h *fixture) event(action, actor string, open bool, labels ...string) pulls.PullRequestEvent {
	return pulls.PullRequestEvent{PR: h.pr(open, labels...), Actor: actor, Action: action}
}

// destroyed takes a cluster down by hand.
func (h *fixture) destroyed(row store.Row) {
	h.Helper()
	_, err := h.store.Destroy(h.Context(), row.ID, store.Deed{Actor: "github:will", Why: "by hand"})
	require.NoError(h, err)
}
