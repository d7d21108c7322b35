package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestWhatHappensToAChannelIsKnownBeforeAMessageFails(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{})
	troubles := func() []string {
		return h.Query(`SELECT workspace || ' ' || channel || ' ' || problem FROM slack_channels WHERE problem <> '' ORDER BY 1`)
	}
	for _, c := range []struct {
		event, subject string
		want           []string
	}{
		{"channel_archive", "C1", []string{"T1 C1 is_archived"}},
		{"channel_rename", "C1", []string{"T1 C1 is_archived"}},
		{"channel_unarchive", "C1", []string{}},
		{"member_left_channel", "C1", []string{"T1 C1 not_in_channel"}},
		{"member_joined_channel", "C1", []string{}},
		{"group_deleted", "G1", []string{"T1 G1 channel_not_found"}},
		{"app_uninstalled", "", []string{"T1  account_inactive", "T1 G1 channel_not_found"}},
		{"tokens_revoked", "", []string{"T1  token_revoked", "T1 G1 channel_not_found"}},
	} {
		r := inbound.Request{Kind: inbound.Lifecycle, ID: "Ev1", Workspace: "T1", Event: c.event, Subject: c.subject}
		for range 2 {
			_, err := h.service.Handle(t.Context(), r)
			require.NoError(t, err)
		}
		require.Equal(t, c.want, troubles(), c.event)
	}
}
