package pulls_test

import (
	"fmt"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store/clusters"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func (h *fixture) click(cause, actor, button string, row clusters.Row) string {
	h.Helper()
	note, err := h.Service.CheckAction(h.Context(), pulls.CheckEvent{
		Installation: 5001, Repo: repo, Cluster: row.ID, Identifier: button, Actor: actor, ActorID: servicetest.AccountID(actor), Cause: cause,
	})
	require.NoError(h, err)
	return note
}

func TestTheButtonsOfACheck(t *testing.T) {
	h := ready(t)
	row := h.Only()
	h.click("d1", "will", chatops.ActionExtend, row)
	h.click("d1", "will", chatops.ActionExtend, row)
	require.Equal(t, row.Ends.TTL.Add(4*time.Hour), h.Only().Ends.TTL, "one click is one")
	h.click("d2", "rita", chatops.ActionDestroy, row)
	require.Contains(t, h.LastReply(), "write is needed")
	h.click("d3", "will", chatops.ActionRetry, row)
	require.Contains(t, h.LastReply(), "nothing to retry")
	require.Contains(t, h.click("d4", "will", "explode", row), "no button")
	h.click("d5", "will", chatops.ActionDestroy, row)
	require.Equal(t, "@will asked for it with the destroy button of its check", h.Only().DesiredWhy.String())
	got := h.Replies()
	h.click("d6", "maya", chatops.ActionRetry, row)
	h.click("d6", "maya", chatops.ActionRetry, row)
	require.Equal(t, 2, len(h.Clusters()))
	require.Equal(t, got, h.Replies(), "one that made a cluster is not told that another took the place of its own")
	for i, button := range []string{chatops.ActionExtend, chatops.ActionDestroy, chatops.ActionRetry} {
		h.click(fmt.Sprintf("late-%d", i), "will", button, row)
		require.Contains(t, h.LastReply(), "took its place")
	}
	require.Equal(t, lifecycle.Present, h.Clusters()[1].Desired)
	require.Empty(t, h.Query(`SELECT id FROM effects WHERE target = 0 AND kind = 'react'`))
	require.Empty(t, h.Query(`SELECT thread FROM replies WHERE thread <> '' AND cause NOT LIKE 'comment:%'`), "a click is no line of a comment: its answer stands alone")

	note, err := h.Service.CheckAction(t.Context(), pulls.CheckEvent{Installation: 1, Repo: "evil/shop", Cluster: row.ID, Identifier: chatops.ActionDestroy, Actor: "will", ActorID: servicetest.AccountID("will"), Cause: "d9"})
	require.NoError(t, err)
	require.Equal(t, "no cluster of this repository", note)
}

func (h *fixture) dispatch(cause, actor, kind, payload string) string {
	h.Helper()
	note, err := h.Service.Dispatch(h.Context(), pulls.DispatchEvent{
		Installation: 5001, Repo: "acme/ci", Type: kind, Payload: []byte(payload), Actor: actor, ActorID: servicetest.AccountID(actor), Cause: cause,
	})
	require.NoError(h, err)
	return note
}

func TestARepositoryDispatchIsTakenAsItIsSent(t *testing.T) {
	h := opened(t)
	h.GitHub.Installed = map[string]int64{repo: 5001}
	create := `{"pr_number":"41","repository":"shop","branch":"feature/x","install_postgres":"true","else":{"x":[1]}}`
	h.dispatch("d1", "will", "create_ephemeral_cluster", create)
	h.dispatch("d1", "will", "create_ephemeral_cluster", create)
	row := h.Only()
	require.Contains(t, row.Spec.Advice, "install_postgres", "said in the cluster's own comment")
	require.Equal(t, profile, row.Profile)
	require.Equal(t, 41, row.PR.Number)
	require.Contains(t, h.dispatch("d2", "will", "create_ephemeral_cluster", `{"pr_number":41,"repository":"acme/shop"}`), "is there already")
	require.Empty(t, h.Replies(), "a workflow that asks at every push is no news")

	h.dispatch("d3", "rita", "delete_ephemeral_cluster", `{"cluster_name":"pr-shop-41","pr_number":"41","repository":"shop"}`)
	require.Equal(t, lifecycle.Present, h.Only().Desired)
	require.Contains(t, h.LastReply(), "write is needed")
	h.Sync(h.Event("closed", "will", false))
	h.dispatch("d4", "will", "delete_ephemeral_cluster", `{"cluster_name":"pr-shop-41","pr_number":"41","repository":"shop"}`)
	require.Equal(t, "@will asked for it by repository_dispatch from acme/ci", h.Only().DesiredWhy.String())
}

func TestADispatchTakesDownWhatADispatchCreates(t *testing.T) {
	h := newFixture(t)
	h.File("defaultProfile: aws-standard\n")
	h.GitHub.Installed = map[string]int64{repo: 5001}
	h.Labeled("will", label)
	h.dispatch("d1", "will", "create_ephemeral_cluster", `{"pr_number":41,"repository":"acme/shop"}`)
	require.Equal(t, "aws-standard", h.Clusters()[1].Profile)
	h.dispatch("d2", "will", "delete_ephemeral_cluster", `{"cluster_name":"pr-shop-41","pr_number":41,"repository":"acme/shop"}`)
	require.Equal(t, []string{"present", "absent"}, h.Query(`SELECT desired FROM clusters ORDER BY created_at`), "and leaves the label's alone")
}

func TestADispatchThatNamesWhatIsNotTheirsTellsNothing(t *testing.T) {
	h := opened(t)
	h.GitHub.Installed = map[string]int64{repo: 5001, "other/thing": 5001}
	notes := map[string]bool{}
	for name, c := range map[string]struct{ actor, payload string }{
		"not in the table": {"will", `{"pr_number":1,"repository":"other/thing"}`},
		"not the App's":    {"will", `{"pr_number":1,"repository":"acme/secret"}`},
		"not to be read":   {"zoe", `{"pr_number":41,"repository":"acme/shop"}`},
	} {
		note := h.dispatch(name, c.actor, "create_ephemeral_cluster", c.payload)
		require.Contains(t, note, "no repository")
		notes[strings.NewReplacer("other/thing", "R", "acme/secret", "R", "acme/shop", "R", "will", "A", "zoe", "A").Replace(note)] = true
	}
	require.Len(t, notes, 1, "in the same words")
	for _, payload := range []string{`{"repository":"shop"}`, `{"pr_number":"x"}`, `{"pr_number":-1}`, `{"pr_number":2147483648,"repository":"shop"}`, `{"pr_number":1,"repository":"a/b/c"}`, `{"pr_number":1,"repository":"../x"}`, `[]`, `{"pr_number":{"a":1}}`} {
		require.NotContains(t, h.dispatch(payload, "will", "create_ephemeral_cluster", payload), "accepted", payload)
	}
	_, err := h.Service.Dispatch(h.Context(), pulls.DispatchEvent{
		Installation: 5001, Repo: "acme/ci", Type: "create_ephemeral_cluster", Payload: []byte(`{"pr_number":999,"repository":"shop"}`), Actor: "will", Cause: "unseen",
	})
	require.ErrorIs(t, err, app.ErrNoPullRequest, "it may have been opened just now, and is asked for again for a while")
	for _, dots := range []string{"acme/..", "../shop", "."} {
		require.Contains(t, h.dispatch(dots, "will", "create_ephemeral_cluster", `{"pr_number":1,"repository":"`+dots+`"}`), "must be owner/name")
	}
	require.Contains(t, h.dispatch("d", "will", "deploy", `{}`), "nothing listens")
	for _, payload := range []string{`{"pr_number":"` + strings.Repeat("9", 9000) + `"}`, `{"pr_number":1,"repository":"\u0000` + strings.Repeat("`", 9000) + `"}`} {
		note := h.dispatch("long", "will", "create_ephemeral_cluster", payload)
		require.Less(t, len(note), 300)
		require.True(t, app.Keepable(note))
	}
	require.Empty(t, h.Replies())
	require.Empty(t, h.Clusters())
}
