package servicetest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// PR is pull request 41 as it stands a second after the event before.
func (h *Fixture) PR(open bool, labels ...string) pullrequests.PullRequest {
	h.Clock = h.Clock.Add(time.Second)
	return pullrequests.PullRequest{
		Installation: Installation, Repo: Repo, Number: 41, Open: open, Labels: labels, Author: "will", AuthorID: AccountID("will"),
		Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e", Base: "main", UpdatedAt: h.Clock,
	}
}

// Event is something that happens to pull request 41, a second after the event before.
func (h *Fixture) Event(action, actor string, open bool, labels ...string) pulls.PullRequestEvent {
	return pulls.PullRequestEvent{PR: h.PR(open, labels...), Actor: actor, ActorID: AccountID(actor), Bot: strings.HasSuffix(actor, "[bot]"), Action: action}
}

// Sync tells of an event that GitHub bears out, and returns the note of what came of it.
func (h *Fixture) Sync(e pulls.PullRequestEvent) string {
	h.Helper()
	h.GitHub.Stands(e.PR)
	note, err := h.Service.SyncPullRequest(h.Context(), e)
	require.NoError(h, err)
	return note
}

// Open has will open pull request 41.
func (h *Fixture) Open() string {
	h.Helper()
	return h.Sync(h.Event("opened", "will", true))
}

// Labeled has somebody set the last of the labels that pull request 41 has then.
func (h *Fixture) Labeled(actor string, labels ...string) string {
	h.Helper()
	return h.Sync(pulls.PullRequestEvent{PR: h.PR(true, labels...), Actor: actor, ActorID: AccountID(actor), Bot: strings.HasSuffix(actor, "[bot]"), Action: "labeled", Label: labels[len(labels)-1]})
}

// Comment has somebody comment on pull request 41, a second after the event before.
func (h *Fixture) Comment(id int64, author, body string) string {
	h.Helper()
	h.Clock = h.Clock.Add(time.Second)
	note, err := h.Service.Comment(h.Context(), pulls.CommentEvent{
		Installation: Installation, Repo: Repo, Number: 41, ID: id, Author: author, AuthorID: AccountID(author), Action: "created", Body: body, At: h.Clock,
	})
	require.NoError(h, err)
	return note
}

// File gives the repository a .github/ocpctl.yaml on its base branch, and on no other.
func (h *Fixture) File(text string) { h.GitHub.Files = map[string]string{"main": text} }

// Create creates a cluster of the default profile for team platform by the API.
func (h *Fixture) Create(p policy.Principal, name string) clusters.Row {
	h.Helper()
	made, err := h.Service.Create(h.Context(), p, app.CreateRequest{
		Source: policy.SourceAPI, Name: name, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test",
	})
	require.NoError(h, err)
	require.NotEmpty(h, made.Row.ID, "%v", made.Verdict.Refusals())
	return made.Row
}

// Usable makes the only cluster READY without outputs, as if its install had succeeded, and returns it. Ready gives a cluster
// outputs too.
func (h *Fixture) Usable() clusters.Row {
	h.Helper()
	id := h.Only().ID
	_, err := h.Store.Pool().Exec(h.Context(), `UPDATE jobs SET status = 'SUCCEEDED', started_at = created_at, ended_at = created_at WHERE cluster_id = $1`, id)
	require.NoError(h, err)
	_, err = h.Store.Pool().Exec(h.Context(), `UPDATE clusters SET status = 'READY', phase = 'ready', ready_at = created_at WHERE id = $1`, id)
	require.NoError(h, err)
	return h.Only()
}

// Destroy asks for a cluster's teardown.
func (h *Fixture) Destroy(row clusters.Row) {
	h.Helper()
	_, err := h.Store.Destroy(h.Context(), row.ID, clusters.Origin{Actor: OnGitHub("will"), Why: "by hand"})
	require.NoError(h, err)
}

// Release makes a cluster one that is gone, as a finished teardown leaves it.
func (h *Fixture) Release(row clusters.Row) {
	h.Helper()
	h.Query(`UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', desired_why = '{"code":"other","words":"by hand"}', teardown = 'DESTROY',
		destroyed_at = now() WHERE id = $1 RETURNING id`, row.ID)
}
