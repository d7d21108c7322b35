package chatops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatWaitsIsListedInWordsThatNobodyElseWrote(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := Waiting{ID: "apr_1", Cluster: "shop", Team: "platform", By: "github:maya", Why: []string{"it is *big*", "<!channel> look"}, Head: "6dcb09b5b578", Votes: 1, Needs: 2, Until: at}
	two := Waiting{ID: "apr_2", Cluster: "mine", Team: "platform", By: "saml:me", Secret: "kubeadmin password", Why: []string{"lost"}, Needs: 1, Until: at, WhyNot: "you asked for it yourself"}
	got := SlackWaiting([]Waiting{one, two}, true, Links{UI: "https://ui/"})
	for _, text := range []string{
		"`apr_1`: `shop` at `6dcb09b` of team platform, requested by github:maya. It is \\*big\\*; \\<!channel\\> look.", "It has 1 of 2 votes.", "It expires at 2026-03-01 12:00 UTC.",
		"`/ocp approve apr_1` or `/ocp refuse apr_1 <reason>`", "`apr_2`: the kubeadmin password of `mine`", "You asked for it yourself.", "There is more: <https://ui/approvals>",
	} {
		require.Contains(t, got, text)
	}
	require.NotContains(t, got, "approve apr_2", "nobody is offered what would be refused")
	require.Contains(t, SlackWaiting(nil, false, Links{}), "No approval is waiting for you")
}

func TestAVoteInSlackSaysWhatItCameTo(t *testing.T) {
	for _, c := range []struct {
		a              Waiting
		approved, over bool
		want           string
	}{
		{Waiting{Cluster: "shop", Votes: 1, Needs: 2}, true, false, "You approved `shop`. It has 1 of the 2 votes it needs."},
		{Waiting{Cluster: "shop", Head: "6dcb09b5b578"}, true, true, "You approved `shop` at `6dcb09b`. It starts now"},
		{Waiting{Cluster: "shop"}, false, true, "You refused `shop`. It is not created"},
		{Waiting{Cluster: "shop", Secret: "kubeadmin password"}, true, true, "You approved the kubeadmin password of `shop`. The requester can view it once."},
		{Waiting{Cluster: "shop", Secret: "kubeadmin password"}, false, true, "It is not shown."},
	} {
		require.Contains(t, SlackVoted(c.a, c.approved, c.over), c.want)
	}
}
