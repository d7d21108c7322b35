package servicetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// GitHub answers for GitHub: who may do what, and how pull requests and repositories stand.
type GitHub struct {
	Permissions  map[string]string                // by login; everybody else has none
	PRs          map[int]pullrequests.PullRequest // how they stand, whatever was told
	Accounts     map[string]int64                 // by login, of accounts that were renamed; others have the number AccountID gives, 0 is nobody's
	Hidden       string                           // a login whose account it refuses to tell
	Asked        atomic.Int64                     // how many questions about people and installations
	Down         atomic.Bool                      // it answers nothing
	Files        map[string]string                // .github/ocpctl.yaml of every repository, by branch or commit
	Removes      bool                             // pull requests delete that file
	TeamsOf      map[string][]string              // by login
	Installed    map[string]int64                 // by repository
	Repos        map[string]app.RepositoryState   // by a name they have or had; others are as Installed says, and cannot be seen
	Reaching     func(repo string)                // told of each question for a repository's installation; nil: nobody
	Silent       bool                             // of installations and repositories it tells nothing
	Meanwhile    func()                           // happens once, while GitHub is asked for a permission; nil: nothing
	mu           sync.Mutex
	webhookState map[int]pullrequests.PullRequest // of the others: as they were told of last
}

// ErrDown is the error of every question while GitHub is down.
var ErrDown = errors.New("GitHub does not answer")

func newGitHub() *GitHub {
	return &GitHub{
		webhookState: map[int]pullrequests.PullRequest{},
		Permissions:  map[string]string{"maya": "maintain", "will": "write", "rita": "read", "toni": "triage"},
	}
}

// Permission is what Permissions says.
func (g *GitHub) Permission(_ context.Context, _ int64, _ string, who app.GitHubAccount) (string, error) {
	g.Asked.Add(1)
	login := who.Login
	if happens := g.Meanwhile; happens != nil {
		g.Meanwhile = nil
		happens()
	}
	if g.Down.Load() {
		return "", ErrDown
	}
	if holder, moved := g.Accounts[login]; moved && holder != who.ID {
		return "", app.ErrOtherAccount
	}
	if found, ok := g.Permissions[login]; ok {
		return found, nil
	}
	return "none", nil
}

// AccountID returns the number of the account that has had a login from the beginning.
func AccountID(login string) int64 {
	if login == "" {
		return 0
	}
	sum := fnv.New32a()
	sum.Write([]byte(strings.ToLower(login)))
	return int64(sum.Sum32()) + 1
}

// OnGitHub returns the principal of the account that has had a login from the beginning.
func OnGitHub(login string) string { return profiles.GitHubPrincipal(AccountID(login)) }

// AccountID is what Accounts says, else what the function of that name says.
func (g *GitHub) AccountID(_ context.Context, _ int64, login string) (_ int64, err error) {
	defer must.Catch(&err)
	must.EndIf(g.Down.Load(), ErrDown)
	must.EndIf(login == g.Hidden, app.ErrRefused)
	if id, moved := g.Accounts[login]; moved {
		return id, nil
	}
	return AccountID(login), nil
}

// Login is what Accounts says.
func (g *GitHub) Login(_ context.Context, _ int64, account int64) (string, error) {
	if g.Down.Load() {
		return "", ErrDown
	}
	for login, id := range g.Accounts {
		if id == account {
			return login, nil
		}
	}
	return "", nil
}

// PullRequest is what PRs says, else what Stands was told last.
func (g *GitHub) PullRequest(_ context.Context, installation int64, _ string, number int) (pullrequests.PullRequest, error) {
	if g.Down.Load() {
		return pullrequests.PullRequest{}, ErrDown
	}
	pr, ok := g.PRs[number]
	if !ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		pr, ok = g.webhookState[number]
	}
	if pr.Installation = installation; ok {
		return pr, nil
	}
	return pullrequests.PullRequest{}, fmt.Errorf("%w: pull request %d", app.ErrNoPullRequest, number)
}

// Stands makes a state what GitHub says of a pull request, unless it said a newer one.
func (g *GitHub) Stands(pr pullrequests.PullRequest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !pr.UpdatedAt.Before(g.webhookState[pr.Number].UpdatedAt) {
		g.webhookState[pr.Number] = pr
	}
}

// RepositoryFile is what Files says.
func (g *GitHub) RepositoryFile(_ context.Context, _ int64, _, ref string) ([]byte, bool, error) {
	if g.Down.Load() {
		return nil, false, ErrDown
	}
	raw, found := g.Files[ref]
	return []byte(raw), found, nil
}

// RemovesRepositoryFile is what Removes says.
func (g *GitHub) RemovesRepositoryFile(context.Context, int64, string, int) (bool, error) {
	return g.Removes, nil
}

// Teams is what TeamsOf says.
func (g *GitHub) Teams(_ context.Context, _ int64, login string, teams []string) ([]string, error) {
	g.Asked.Add(1)
	if g.Down.Load() {
		return nil, ErrDown
	}
	return slices.DeleteFunc(slices.Clone(teams), func(t string) bool { return !slices.Contains(g.TeamsOf[login], t) }), nil
}

// WorkflowRun knows no run.
func (g *GitHub) WorkflowRun(context.Context, int64, string, int64) (app.WorkflowRun, error) {
	return app.WorkflowRun{}, app.ErrRefused
}

// OwnLogin is the constant of that name.
func (g *GitHub) OwnLogin(context.Context) (string, error) { return OwnLogin, nil }

// InstallationOf is what Installed says, unless GitHub is silent.
func (g *GitHub) InstallationOf(_ context.Context, repo string) (int64, error) {
	g.Asked.Add(1)
	if g.Reaching != nil {
		g.Reaching(repo)
	}
	switch {
	case g.Down.Load():
		return 0, ErrDown
	case g.Silent:
		return 0, fmt.Errorf("%w: forbidden", app.ErrUnreadable)
	}
	return g.Installed[repo], nil
}

// Repository is what Repos says, else what Installed says.
func (g *GitHub) Repository(ctx context.Context, _ int64, repo string) (app.RepositoryState, error) {
	if is, ok := g.Repos[repo]; ok && !g.Silent && !g.Down.Load() {
		return is, nil
	}
	there, err := g.InstallationOf(ctx, repo)
	return app.RepositoryState{Installation: there}, err
}
