package pulls_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// typed is a comment on pull request 41 by an account that GitHub numbers, written a minute from now, after every cluster was
// accepted.
func typed(login string, account int64, body string) pulls.CommentEvent {
	return pulls.CommentEvent{
		Installation: 5001, Repo: repo, Number: 41, ID: 900 + account, Author: login, AuthorID: account, Action: "created", Body: body,
		At: time.Now().Add(time.Minute),
	}
}

// seenThenAway has GitHub report a person's permission, and then go away.
func (h *fixture) seenThenAway(login string, account int64) {
	h.Helper()
	h.Labeled("will", label)
	_, err := h.Service.Comment(h.Context(), typed(login, account, "/ocp status"))
	require.NoError(h, err)
	h.GitHub.Down.Store(true)
}

func TestDestroySetsTheEndWhileGitHubIsAwayByThePermissionSeenInTheLastHour(t *testing.T) {
	h := newFixture(t)
	h.seenThenAway("maya", 7)
	destroy := typed("maya", 7, "/ocp destroy\n/ocp status")
	for range 2 { // it is tried again while GitHub is away
		_, err := h.Service.Comment(t.Context(), destroy)
		require.ErrorIs(t, err, errDown, "its answer waits for GitHub")
	}
	row := h.Only()
	require.Equal(t, lifecycle.Absent, row.Desired)
	require.Contains(t, row.DesiredWhy.String(), "GitHub gave no answer, and their permission maintain was seen at")

	h.GitHub.Down.Store(false)
	note, err := h.Service.Comment(t.Context(), destroy)
	require.NoError(t, err)
	require.Contains(t, note, "already going")
	require.Len(t, h.Query(`SELECT id FROM jobs WHERE job_type = 'DESTROY'`), 1)
}

func TestNothingIsDestroyedByAPermissionThatIsNotRemembered(t *testing.T) {
	for name, given := range map[string]struct {
		event pulls.CommentEvent
		aged  string // what is done to what is remembered
	}{
		"somebody whose permission was never seen": {event: typed("will", 8, "/ocp destroy")},
		"another account of the same name":         {event: typed("maya", 9, "/ocp destroy")},
		"a permission seen two hours ago": {
			event: typed("maya", 7, "/ocp destroy"), aged: `UPDATE seen_permissions SET seen_at = seen_at - interval '2 hours' WHERE login = 'maya' RETURNING login`,
		},
		"a permission that is not enough": {
			event: typed("maya", 7, "/ocp destroy"), aged: `UPDATE seen_permissions SET permission = 'read' WHERE login = 'maya' RETURNING login`,
		},
		"another command": {event: typed("maya", 7, "/ocp extend 4h")},
		"a comment that is older than the cluster": {event: func() pulls.CommentEvent {
			e := typed("maya", 7, "/ocp destroy")
			e.At = time.Now().Add(-time.Hour)
			return e
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.seenThenAway("maya", 7)
			if given.aged != "" {
				require.Len(t, h.Query(given.aged), 1)
			}
			before := h.Only()
			_, err := h.Service.Comment(t.Context(), given.event)
			require.ErrorIs(t, err, errDown)
			require.Equal(t, before.Ends, h.Only().Ends)
			require.Equal(t, lifecycle.Present, h.Only().Desired)
		})
	}
}

func TestThePermissionThatGitHubReportedLastReplacesTheOneBefore(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	for _, permission := range []string{"write", "read"} {
		h.GitHub.Permissions["maya"] = permission
		e := typed("maya", 7, "/ocp status")
		e.ID = int64(len(permission))
		_, err := h.Service.Comment(t.Context(), e)
		require.NoError(t, err)
	}
	h.GitHub.Down.Store(true)
	_, err := h.Service.Comment(t.Context(), typed("maya", 7, "/ocp destroy"))
	require.ErrorIs(t, err, errDown)
	require.Equal(t, lifecycle.Present, h.Only().Desired)
}

func TestTheDestroyButtonSetsTheEndWhileGitHubIsAway(t *testing.T) {
	h := newFixture(t)
	h.seenThenAway("maya", 7)
	click := pulls.CheckEvent{Installation: 5001, Repo: repo, Cluster: h.Only().ID, Identifier: chatops.ActionDestroy, Actor: "maya", ActorID: 7, Cause: "d1"}
	_, err := h.Service.CheckAction(t.Context(), click)
	require.ErrorIs(t, err, errDown)
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
}

func TestACommentThatIsHeldUpEndsItsClusterAtOnce(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	require.NoError(t, h.Service.EndEarly(t.Context(), typed("zoe", 3, "/ocp destroy")))
	require.Equal(t, lifecycle.Present, h.Only().Desired, "GitHub answers, and they may not")
	require.NoError(t, h.Service.EndEarly(t.Context(), typed("maya", 7, "/ocp destroy")))
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
	require.NotContains(t, h.Only().DesiredWhy.String(), "gave no answer")
}
