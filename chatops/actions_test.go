package chatops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/chatopstest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// A comment and a message in Slack offer the same verbs of a cluster, those that policy allows its owner; the page and explain are made from
// the same list.
func TestCommentAndSlackOfferWhatPolicyAllows(t *testing.T) {
	typed := map[chatops.Verb]string{
		chatops.VerbApprove: "approve", chatops.VerbRefuse: "refuse", chatops.VerbKubeconfig: "kubeconfig", chatops.VerbWake: "wake", chatops.VerbExtend: "extend",
		chatops.VerbSleep: "sleep", chatops.VerbRetry: "retry", chatops.VerbLogs: "logs", chatops.VerbDestroy: "destroy",
	}
	for name, c := range chatopstest.Lives() {
		want := chatops.VerbsOf(policy.Actions(c, policy.MayAsOwner, c.UpdatedAt))
		if c.Status == lifecycle.Destroyed && !c.NeverReady() { // its log can be read and is not advertised
			want = slices.DeleteFunc(want, func(verb chatops.Verb) bool { return verb == chatops.VerbLogs })
			require.Empty(t, want, name)
			want = nil
		}
		require.Equal(t, want, chatops.SummaryOf(c, chatops.Detail{}, chatops.Links{}).Acts, name)
		_, offer, found := strings.Cut(chatops.Comment(c, chatops.Detail{}, chatops.Links{}), "You can type: ")
		if !found {
			continue // a newer cluster is in its place, or its pull request ended
		}
		for verb, command := range typed {
			require.Equal(t, slices.Contains(want, verb), strings.Contains(offer, "`"+chatops.Prefix+" "+command), "%s: %s", name, command)
		}
	}
}
