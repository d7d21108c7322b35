package slack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/profiles"
)

// opensHome has a person open the app's Home, and returns what it shows.
func (h *onScreen) opensHome(user string) string {
	h.Helper()
	h.handle(h.request(inbound.HomeOpened, user))
	require.Equal(h, []string{user}, h.Query(`DELETE FROM river_job WHERE kind = 'home' RETURNING args->>'person'`))
	require.NoError(h, h.service.ShowHome(h.Context(), "T1", user))
	return h.homes[user]
}

// waiting returns how many Homes are to be shown again.
func (h *onScreen) waiting() int {
	h.Helper()
	return len(h.Query(`SELECT args::text FROM river_job WHERE kind = 'home' AND state = 'available'`))
}

// later lets time pass since every Home was shown.
func (h *onScreen) later() {
	h.Helper()
	h.Query(`UPDATE slack_homes SET shown_at = shown_at - interval '11 seconds' RETURNING person`)
	h.Query(`UPDATE clusters SET updated_at = updated_at - interval '20 seconds' RETURNING id`)
}

func TestHomeShowsWhatThePersonMaySeeAndDo(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name mine")
	h.slack("UROB", "create aws-minimal-test --name robs")
	h.slack("UPAY", "create aws-minimal-test --name theirs --team payments")
	home := h.opensHome("UMATE")
	for _, want := range []string{"mine", "robs", "My team", "Clusters at once, team platform", "2 of 5 used, 3 left", "ocp_destroy", "ocp_form"} {
		require.Contains(t, home, want)
	}
	require.NotContains(t, home, "theirs")
	require.NotContains(t, home, "ocp_kubeconfig", "neither is ready")
	audit := h.opensHome("UAUDIT")
	require.Contains(t, audit, "theirs")
	require.NotContains(t, audit, "ocp_destroy", "an auditor changes nothing")

	nobody := h.opensHome("UNOBODY")
	require.Contains(t, nobody, "Link it with `/ocp link`")
	require.Contains(t, nobody, "ocp_link")
	require.NotContains(t, nobody, "/links/", "the link itself is for the person alone")
	require.NotContains(t, nobody, "mine")
}

func TestHomeOffersNoRetryOfWhatWasRequestedAgain(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name demo")
	row := h.Only()
	h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'create_failed', fail_reason = 'QuotaExceeded', desired = 'absent', desired_why = '{"code":"install_failed"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
	require.Contains(t, h.opensHome("UROB"), "ocp_retry")
	require.Contains(t, h.press("UMATE", blocks.Press{Verb: chatops.VerbRetry, Cluster: row.ID}), "is accepted")
	for _, user := range []string{"UMATE", "UROB"} {
		home := h.opensHome(user)
		require.Contains(t, home, "demo", user)
		require.NotContains(t, home, "ocp_retry", user)
	}
}

func TestHomeShowsWhatWaitsForAPersonsApproval(t *testing.T) {
	f := inSlack(t, profiles.ApprovalTerms{})
	h := screenedWith(f)
	a := h.waits()
	require.Contains(t, h.opensHome("UBOSS"), a.ID)
	require.NotContains(t, h.opensHome("UMATE"), a.ID, "others decide that")
}

func TestHomeFitsHoweverMuchThereIs(t *testing.T) {
	h := screened(t)
	h.Catalogue.Quotas = nil
	for i := range 20 {
		user := []string{"UMATE", "UROB"}[i%2]
		r := h.request(inbound.Command, user)
		r.Channel, r.Text = "C1", fmt.Sprintf("create aws-minimal-test --name c%d", i)
		h.handle(r)
	}
	require.Len(t, h.Clusters(), 20)
	require.Contains(t, h.opensHome("UMATE"), "There are more clusters.")
}

func TestHomeIsShownAgainWhenSomethingOnItChanges(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name mine")
	h.opensHome("UMATE")
	h.opensHome("UPAY")
	h.opensHome("UNOBODY")
	refresh := func() int {
		n, err := h.Store.Outbox.RefreshHomes(t.Context())
		require.NoError(t, err)
		return n
	}
	require.Zero(t, refresh(), "it was just shown")
	h.later()
	h.Query(`UPDATE clusters SET updated_at = now() + interval '1 second' RETURNING id`)
	require.Equal(t, 1, refresh(), "the others do not show it")
	require.Equal(t, 1, refresh(), "nobody showed it yet")
	require.Equal(t, 1, h.waiting(), "once")

	before := h.shown
	h.Query(`UPDATE clusters SET why = '{"words": "something else"}', status = 'CREATING', phase = 'preflight' RETURNING id`)
	require.NoError(t, h.service.ShowHome(t.Context(), "T1", "UMATE"))
	require.Equal(t, before+1, h.shown)
	require.NoError(t, h.service.ShowHome(t.Context(), "T1", "USTRANGER"), "who never opened it sees nothing")
	require.Equal(t, before+1, h.shown)

	h.Query(`UPDATE slack_homes SET opened_at = opened_at - interval '25 hours' RETURNING person`)
	h.later()
	h.Query(`UPDATE clusters SET updated_at = now() + interval '1 minute' RETURNING id`)
	require.Zero(t, refresh(), "nobody looked for a day")
}

func TestWhatAPersonDoesIsSoonOnTheirHome(t *testing.T) {
	h := screened(t)
	h.slack("UMATE", "create aws-minimal-test --name mine")
	require.Zero(t, h.waiting(), "nobody opened Home")
	h.opensHome("UMATE")
	press := h.request(inbound.Press, "UMATE")
	press.Value = blocks.Press{Verb: "destroy", Cluster: h.Only().ID}.Encode()
	h.handle(press)
	require.Equal(t, 1, h.waiting())
	require.NoError(t, h.service.ShowHome(t.Context(), "T1", "UMATE"))
	require.NotContains(t, h.homes["UMATE"], "ocp_destroy")
}

func TestAHomeThatSlackDidNotTakeIsShownLater(t *testing.T) {
	h := screened(t)
	h.opensHome("UMATE")
	h.slack("UMATE", "create aws-minimal-test --name mine")
	h.homeless = errDown
	require.ErrorIs(t, h.service.ShowHome(t.Context(), "T1", "UMATE"), errDown)
	h.homeless = fmt.Errorf("%w (token_revoked)", slack.ErrRefused)
	require.ErrorIs(t, h.service.ShowHome(t.Context(), "T1", "UMATE"), slack.ErrRefused)
	h.later()
	n, err := h.Store.Outbox.RefreshHomes(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "the next try comes with the next change")
	h.homeless = nil
	require.NoError(t, h.service.ShowHome(t.Context(), "T1", "UMATE"))
	require.Contains(t, h.homes["UMATE"], "mine")
}
