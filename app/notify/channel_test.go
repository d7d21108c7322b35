package notify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/notify"
	"github.com/ocpctl/ocpctl/policy"
)

func TestWhoMayHaveMessagesPostedInAChannel(t *testing.T) {
	mate, boss := policy.As("a", "A", policy.Requester, "platform"), policy.As("b", "B", policy.PlatformAdmin, "platform")
	admin := policy.As("c", "C", policy.PlatformAdmin)
	for _, c := range []struct {
		p           policy.Principal
		team        string
		in, outside bool
		may         bool
	}{
		{mate, "platform", true, false, true}, {mate, "platform", false, false, false}, {mate, "platform", true, true, false},
		{boss, "platform", true, true, true}, {boss, "platform", false, false, false}, {boss, "payments", true, true, false}, {boss, "", true, true, false},
		{admin, "payments", true, true, true}, {admin, "", true, true, true}, {admin, "", false, true, false},
	} {
		err := notify.MayPost(c.p, c.team, notify.Channel{HasPerson: c.in, Outside: c.outside})
		require.Equal(t, c.may, err == nil, c)
		require.Equal(t, !c.may, app.KindOf(err) == app.Denied, c)
	}
}
