package runner_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestWhatLacksTheClustersTagsGetsThem(t *testing.T) {
	w := newIBMWorld(t, contract.KindTag)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{Outcome: "succeeded", Message: "1 resource got the cluster's tags"}, w.result())
	require.Equal(t, []string{"tagging"}, w.phases())
	require.Equal(t, w.spec.Tags, w.tagged)
	require.Empty(t, w.records, "nothing is made under a new name")
	require.Equal(t, []string{"server: claim answered", "cloud: account asked", "server: result answered"}, w.happened(), "neither the installer nor oc is needed")
}

func TestAnAttemptAtTheTagsThatFailsSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		spoil     func(*world)
		reason    string
		says      string
		retryable bool
	}{
		"a resource is refused": {func(w *world) { w.untaggable = errors.New("IBM Cloud did not attach the tags to crn:v1:pvc-1") }, "NotTagged",
			"1 resource got the cluster's tags, but some could not be tagged: IBM Cloud did not attach the tags to crn:v1:pvc-1", true},
		"another account": {func(w *world) { w.account = "another" }, "WrongAccount", "belong to account another", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newIBMWorld(t, contract.KindTag)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, []any{"failed", c.reason, c.retryable}, []any{got.Outcome, got.Reason, got.Retryable}, got.Message)
			require.Contains(t, got.Message, c.says)
		})
	}
}

// A cluster works without these tags, and its teardown goes by the recorded name.
func TestWhatCcoctlCreatedIsTaggedRightAfterItAndARefusalEndsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		refused int
		calls   int
	}{"at once": {0, 1}, "after a bad moment": {2, 3}, "never": {100, 12}} {
		t.Run(name, func(t *testing.T) {
			w := manual(t, contract.KindCreate)
			w.untagged = func(n int) error {
				if n <= c.refused {
					return errors.New("AccessDenied: iam:TagOpenIDConnectProvider")
				}
				return nil
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
			require.Equal(t, c.calls, w.tagTries)
			did := w.happened()
			tagged := indexOf(did, "cloud: tag credentials")
			require.Greater(t, tagged, indexOf(did, "installer: ccoctl create-all"))
			require.Less(t, tagged, indexOf(did, "installer: create manifests"))
		})
	}
}
