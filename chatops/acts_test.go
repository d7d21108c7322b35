package chatops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAThreadTellsActsWithWhoDidThem(t *testing.T) {
	at, until := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC), time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		act       Act
		what, why string
	}{
		{Act{Action: "extended", By: "@rob", Until: until}, "extended by @rob", "its lifetime ends 2025-01-02 12:00 UTC"},
		{Act{Action: "hold_set", By: "Maya", Until: until}, "held by Maya", "until 2025-01-02 12:00 UTC"},
		{Act{Action: "approval_approved", By: "Maya"}, "approved by Maya", ""},
		{Act{Action: "refresh_asked", By: "Maya", Why: "the owner asked for it"}, "add-ons applied again by Maya", "the owner asked for it"},
		{Act{Action: "handover_expired", Why: "nobody accepted it in time"}, "offer expired", "nobody accepted it in time"},
		{Act{Action: "scale_asked", By: "Maya", Count: 2}, "scaled to 2 workers by Maya", ""},
		{Act{Action: "retry_asked", By: "Maya", Why: "vpc-1 is freed"}, "teardown tried again by Maya", "vpc-1 is freed"},
	} {
		m, told := c.act.Moment(at)
		require.True(t, told, c.act.Action)
		require.Equal(t, Moment{At: at, What: c.what, Why: c.why}, m)
	}
	for _, action := range []string{"", "destroy_asked", "approval_refused", "link_made", "kubeadmin_asked"} { // steps tell the first two
		_, told := Act{Action: action, By: "Maya"}.Moment(at)
		require.False(t, told, action)
	}
}
