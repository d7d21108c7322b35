package hooks

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
)

// deliver sends a body that GitHub signed, under the name of an event and an id of the sender's own.
func (l *life) deliver(event string, body []byte) (status int, said string) {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), http.MethodPost, l.address+"/webhooks/github", bytes.NewReader(body))
	require.NoError(l, err)
	for name, value := range signed(event, github.GUID(), body) {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(l, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(l, err)
	return answer.StatusCode, string(raw)
}

func (l *life) ending() []string {
	return l.query(`SELECT id FROM clusters WHERE end_pr_closed IS NOT NULL`)
}

// inBulk are bodies of events that end the clusters of a whole repository, or of a whole installation.
func inBulk(t *testing.T) map[string]github.Event {
	shop := []github.RepoRef{{ID: github.RepoID, Name: github.Repo}}
	return map[string]github.Event{
		"deleted":     {Name: "repository", Action: "deleted"},
		"archived":    {Name: "repository", Action: "archived"},
		"transferred": {Name: "repository", Action: "transferred", OldName: github.Repo, Repo: github.RepoRef{ID: github.RepoID, Name: "nobody/shop"}},
		"renamed":     {Name: "repository", Action: "renamed", OldName: "shop", Repo: github.RepoRef{ID: github.RepoID, Name: "acme/elsewhere"}},
		"removed":     {Name: "installation_repositories", Action: "removed", Repos: shop},
		"suspended":   {Name: "installation", Action: "suspend", Repos: shop},
		"uninstalled": {Name: "installation", Action: "deleted", Repos: shop},
	}
}

// Three pull requests have a cluster each. Nothing that is told of their repository ends one of them while GitHub says that it is not so,
// while it does not answer, or while it refuses to tell.
func TestWhatIsToldOfARepositoryEndsNothingByItself(t *testing.T) {
	for name, fault := range map[string]github.APIFault{
		"not so":    {},
		"an outage": {Status: http.StatusBadGateway, Message: "Server Error"},
		"forbidden": {Status: http.StatusForbidden, Message: "Resource not accessible by integration"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			for range 3 {
				l.label(l.open(), "ocp/"+first)
			}
			l.settle()
			require.Len(t, l.query(`SELECT id FROM clusters WHERE desired = 'present'`), 3)
			for what, e := range inBulk(t) {
				e.Sender = "maya"
				body, err := github.Payload(e)
				require.NoError(t, err)
				status, said := l.deliver(e.Name, body)
				require.Equal(t, http.StatusAccepted, status, "%s: %s", what, said)
				if fault.Status != 0 {
					l.github.FailNext(1, fault)
				}
				err = l.work(l.undone()[0])
				require.Equal(t, fault.Status == http.StatusBadGateway, err != nil, "%s: %v", what, err)
				require.Empty(t, l.ending(), what)
				l.settle()
				require.Empty(t, l.ending(), what)
			}
			require.Len(t, l.query(`SELECT id FROM clusters WHERE repo = $1 AND installation = $2::bigint`, github.Repo, "5001"), 3)
			require.Empty(t, l.query(`SELECT concat_ws(' ', event, note) FROM deliveries WHERE state <> 'done'`))
		})
	}
}

func TestWhatHappenedToARepositoryEndsItsClusters(t *testing.T) {
	for name, happens := range map[string]func(s *github.Server) error{
		"deleted":     func(s *github.Server) error { return s.Delete("maya") },
		"archived":    func(s *github.Server) error { return s.Archive("maya") },
		"transferred": func(s *github.Server) error { return s.Transfer("nobody", "maya") },
		"removed":     func(s *github.Server) error { return s.SetAccess(false, "maya") },
		"suspended":   func(s *github.Server) error { return s.Suspend("maya") },
		"uninstalled": func(s *github.Server) error { return s.Uninstall("maya") },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			for range 3 {
				l.label(l.open(), "ocp/"+first)
			}
			l.settle()
			require.NoError(t, happens(l.github))
			l.settle()
			require.Len(t, l.ending(), 3, "%v", l.notes())
		})
	}
}
