package runner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	database    = "arn:aws:rds:us-east-1:123456789012:db:orders"
	refusesIt   = `echo "level=debug msg=deleting ` + database + `: unrecognized ARN service rds (` + database + `)" >&2`
	removesOne  = `echo 'level=info msg=Deleted arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1" id=vol-1' >&2`
	loopsUpon   = `trap 'note asked; exit 8' TERM; while :; do ` + refusesIt + `; sleep 0.01; done`
	loopsBusily = `for i in 1 2 3 4 5 6 7 8 9 10; do ` + refusesIt + `; ` + removesOne + `; done`
)

func TestADestroyerThatLoopsIsStoppedAndWhatItLoopsOnIsNamed(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.cfg.Timings.StuckTimes = 5
	w.on("destroy", loopsUpon)
	w.verify = func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Leftovers = false, []contract.Leftover{{Type: "rds", ID: database, Free: "whoever made it"}}
		return p
	}
	require.NoError(t, w.run(t.Context()))
	require.True(t, w.did("installer: asked"), "politely")
	require.Equal(t, contract.Result{
		Outcome: "failed", Reason: "UnsupportedResource", Whose: contract.WhoseUser, Retryable: true,
		Message: "openshift-install cannot remove a resource that has the cluster's tags: " + database + " (unrecognized ARN service rds (" + database + ")); still there: rds " + database + ": UnsupportedResource",
		Next:    "ask the creator of " + database + " to delete it, or to remove the cluster's tags (kubernetes.io/cluster/…) from it",
	}, w.result())
	require.Contains(t, w.logText(), "destroy was stopped: it cannot remove "+database)
	require.Len(t, w.removed, 2, "the rest is removed all the same, and counted twice")
}

func TestADestroyerBlockedByAForeignInterfaceIsStoppedAndTheInterfaceIsNamed(t *testing.T) {
	const vpc = "arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1"
	w := newTeardown(t, "shop-00001")
	w.cfg.Timings.StuckTimes, w.cfg.Timings.BlockedTimes = 2, 5
	w.on("destroy", `trap 'note asked; exit 8' TERM; while :; do echo "level=debug msg=deleting `+vpc+`: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted." >&2; sleep 0.01; done`)
	w.verify = func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Leftovers = false, []contract.Leftover{{Type: "network-interface", ID: "eni-foreign", Free: "its owner"}}
		return p
	}
	require.NoError(t, w.run(t.Context()))
	require.True(t, w.did("installer: asked"))
	require.Equal(t, contract.Result{
		Outcome: "failed", Reason: "ResourceInUse", Whose: contract.WhoseUser, Retryable: true,
		Message: "something else uses a resource: " + vpc + " (DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.); still there: network-interface eni-foreign: its owner",
		Next:    "find what uses " + vpc + " among what is still there, and ask its owner to delete it; ocpctl tries the teardown again",
	}, w.result())
}

func TestADestroyerThatRemovesOtherThingsIsNotStopped(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.cfg.Timings.StuckTimes = 3
	w.on("destroy", loopsBusily)
	require.NoError(t, w.run(t.Context()))
	require.False(t, w.did("installer: asked"))
	require.Equal(t, contract.Result{Outcome: "succeeded"}, w.result())
}

func TestAResourceThatIsGoneWhenItIsCountedBlocksNothing(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.cfg.Timings.StuckTimes = 3
	w.on("destroy", loopsUpon)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{Outcome: "succeeded"}, w.result())
}

func TestACountThatCouldNotBeTakenIsOurs(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.verify = func(_ int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		p.Clean, p.Queries[0].Err = false, "UnauthorizedOperation"
		p.Leftovers = []contract.Leftover{{Type: "refused-query", ID: "ec2:DescribeVpcs", Free: "an administrator"}}
		return p
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "LeftoversFound", w.result().Reason)
	require.Equal(t, contract.WhoseOurs, w.result().Whose)
	require.Contains(t, w.result().Next, "allow the refused queries")
}
