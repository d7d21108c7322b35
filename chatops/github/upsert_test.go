package github

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func TestOneCommentIsPostedAndThenEdited(t *testing.T) {
	server, c := start(t)
	target := comment(41)
	id, err := c.UpsertComment(t.Context(), target, "pending")
	require.NoError(t, err)
	target.ExternalID = id
	again, err := c.UpsertComment(t.Context(), target, "ready")
	require.NoError(t, err)

	require.Equal(t, id, again)
	all := server.Comments(41)
	require.Len(t, all, 1)
	require.Equal(t, "ready\n\n<!-- ocpctl:sub_01 -->", all[0].Body)
	require.Equal(t, standin.Bot, all[0].Author)
}

func TestACrashBetweenPostAndSaveDoesNotDoubleTheComment(t *testing.T) {
	server, c := start(t)
	server.FailNext(1, standin.APIFault{Method: http.MethodPost, Path: "/comments", After: true})
	_, err := c.UpsertComment(t.Context(), comment(41), "pending")
	require.Error(t, err, "the answer was lost")
	require.Len(t, server.Comments(41), 1, "the comment was not")

	id, err := c.UpsertComment(t.Context(), comment(41), "ready")
	require.NoError(t, err)
	all := server.Comments(41)
	require.Len(t, all, 1)
	require.Equal(t, id, all[0].ID)
	require.Contains(t, all[0].Body, "ready")
}

func TestTheMarkerIsFoundBehindManyComments(t *testing.T) {
	server, c := start(t)
	for range 120 {
		_, err := server.Comment(41, "chatter", "will")
		require.NoError(t, err)
	}
	first, err := c.UpsertComment(t.Context(), comment(41), "one")
	require.NoError(t, err)
	second, err := c.UpsertComment(t.Context(), comment(41), "two")
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestOnlyOurOwnMarkerAtTheEndCounts(t *testing.T) {
	server, c := start(t)
	typed, err := server.Comment(41, "hello <!-- ocpctl:sub_01 -->", "will")
	require.NoError(t, err)
	other := comment(41)
	other.Marker = "rep_02"
	quoting, err := c.UpsertComment(t.Context(), other, "you typed `<!-- ocpctl:sub_01 -->`")
	require.NoError(t, err)

	id, err := c.UpsertComment(t.Context(), comment(41), "pending")
	require.NoError(t, err)
	require.NotContains(t, []int64{typed, quoting}, id)
	require.Len(t, server.Comments(41), 3)
}

func TestADeletedCommentIsGone(t *testing.T) {
	server, c := start(t)
	target := comment(41)
	id, err := c.UpsertComment(t.Context(), target, "pending")
	require.NoError(t, err)
	require.NoError(t, server.DeleteComment(id, "maya"))

	target.ExternalID = id
	_, err = c.UpsertComment(t.Context(), target, "ready")
	require.ErrorIs(t, err, ErrGone)
	target.ExternalID = 0
	anew, err := c.UpsertComment(t.Context(), target, "ready")
	require.NoError(t, err)
	require.NotEqual(t, id, anew)
}

func TestACommentOnALockedConversationIsRefused(t *testing.T) {
	server, c := start(t)
	server.FailNext(1, standin.APIFault{Method: http.MethodPost, Path: "/comments", Status: 403, Message: "Unable to create comment because issue is locked."})
	_, err := c.UpsertComment(t.Context(), comment(41), "pending")
	require.ErrorIs(t, err, ErrRefused)
}

func TestATooLongBodyIsCutAndKeepsItsMarker(t *testing.T) {
	server, c := start(t)
	_, err := c.UpsertComment(t.Context(), comment(41), strings.Repeat("é", 70_000))
	require.NoError(t, err)
	body := server.Comments(41)[0].Body
	require.LessOrEqual(t, utf8.RuneCountInString(body), 65536)
	require.Contains(t, body, "cut: longer than GitHub takes")
	require.True(t, strings.HasSuffix(body, "<!-- ocpctl:sub_01 -->"))
}

func TestAMarkerCannotEndItsHTMLComment(t *testing.T) {
	for _, name := range []string{"a --> b", "a--b", "label:acme/shop#41:ocp/<x>", "line\nline"} {
		mark := markerLine(name)
		require.Equal(t, 1, strings.Count(mark, "--")-1, mark)
		require.NotContains(t, mark, "\n")
	}
	require.Equal(t, "<!-- ocpctl:label:acme/shop#41:ocp/nope -->", markerLine("label:acme/shop#41:ocp/nope"))
}

func TestAReactionIsPutOnce(t *testing.T) {
	server, c := start(t)
	id, err := server.Comment(41, "/ocp status", "will")
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, c.React(t.Context(), standin.Installation, standin.Repo, id, "eyes"))
	}
	require.Equal(t, map[string][]string{"eyes": {standin.Bot}}, server.Comments(41)[0].Reactions)
	require.ErrorIs(t, c.React(t.Context(), standin.Installation, standin.Repo, 12345, "eyes"), ErrGone)
}

func TestOneCheckRunIsLedToItsEnd(t *testing.T) {
	server, c := start(t)
	target := check(server, 41)
	id, err := c.UpsertCheckRun(t.Context(), target, queued("Waiting"))
	require.NoError(t, err)
	target.ExternalID = id
	done := chatops.CheckRun{Title: "Ready", Summary: "words", Status: "completed", Conclusion: "success"}
	again, err := c.UpsertCheckRun(t.Context(), target, done)
	require.NoError(t, err)
	require.Equal(t, id, again)

	all := server.Checks(41)
	require.Len(t, all, 1)
	require.Equal(t, "success", all[0].Conclusion)
	require.Equal(t, "Ready", all[0].Title)
}

func TestACompletedCheckRunIsFollowedByANewOne(t *testing.T) {
	server, c := start(t)
	target := check(server, 41)
	done := chatops.CheckRun{Title: "Ready", Summary: "words", Status: "completed", Conclusion: "success"}
	first, err := c.UpsertCheckRun(t.Context(), target, done)
	require.NoError(t, err)
	target.ExternalID = first

	second, err := c.UpsertCheckRun(t.Context(), target, queued("Going"))
	require.NoError(t, err)
	require.NotEqual(t, first, second)

	// A crash before the new id was saved: the old one is asked for again, and the new run is found by its key.
	third, err := c.UpsertCheckRun(t.Context(), target, queued("Still going"))
	require.NoError(t, err)
	require.Equal(t, second, third)
	require.Len(t, server.Checks(41), 2)
}

func TestTwoClustersOnOneHeadHaveEachTheirCheckRun(t *testing.T) {
	server, c := start(t)
	one := check(server, 41)
	other := one
	other.ExternalKey = "clu_other"
	first, err := c.UpsertCheckRun(t.Context(), one, queued("One"))
	require.NoError(t, err)
	second, err := c.UpsertCheckRun(t.Context(), other, queued("The other"))
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	again, err := c.UpsertCheckRun(t.Context(), one, queued("One, and its id was never saved"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, server.Checks(41), 2)
}

func TestACrashBetweenPostAndSaveDoesNotDoubleTheCheckRun(t *testing.T) {
	server, c := start(t)
	server.FailNext(1, standin.APIFault{Method: http.MethodPost, Path: "/check-runs", After: true})
	_, err := c.UpsertCheckRun(t.Context(), check(server, 41), queued("Waiting"))
	require.Error(t, err)
	_, err = c.UpsertCheckRun(t.Context(), check(server, 41), queued("Waiting"))
	require.NoError(t, err)
	require.Len(t, server.Checks(41), 1)
}

func TestACheckRunThatIsGoneIsToldSo(t *testing.T) {
	server, c := start(t)
	target := check(server, 41)
	target.ExternalID = 12345
	_, err := c.UpsertCheckRun(t.Context(), target, queued("Waiting"))
	require.ErrorIs(t, err, ErrGone)
}

func TestACommentIsMinimizedOnce(t *testing.T) {
	server, c := start(t)
	id, err := c.UpsertComment(t.Context(), comment(41), "words")
	require.NoError(t, err)
	minimize := func(id int64) error {
		return c.MinimizeComment(t.Context(), standin.Installation, standin.Repo, id, "OUTDATED")
	}
	for range 2 {
		require.NoError(t, minimize(id))
	}
	require.Equal(t, "outdated", server.Comments(41)[0].Minimized)
	require.ErrorIs(t, minimize(1), ErrGone)
	m := standin.Registered()
	m.Permissions["pull_requests"] = "read"
	server.SetManifest(m)
	require.ErrorIs(t, minimize(id), ErrRefused)
}
