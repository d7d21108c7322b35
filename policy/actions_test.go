package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

var anybody = func(policy.Act) bool { return true }

func TestWhatCanBeDoneFollowsFromStatusAndDesired(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	least, most := 0, 3
	base := lifecycle.Card{UpdatedAt: now}
	base.Ends = lifecycle.Ends{TTL: now.Add(time.Hour), Max: now.Add(48 * time.Hour)}
	base.SleepMode, base.WorkersLeast, base.WorkersMost, base.Addons = lifecycle.SleepStopped, &least, &most, []string{"cert-manager"}
	present := []policy.Verb{policy.VerbExtend, policy.VerbHold, policy.VerbShare, policy.VerbTransfer, policy.VerbDestroy}
	ready := append(slices.Clone(present), policy.VerbKubeconfig, policy.VerbConsole, policy.VerbScale, policy.VerbRefresh, policy.VerbSleep, policy.VerbLogs, policy.VerbBreakGlass)
	logs := []policy.Verb{policy.VerbLogs}
	for name, c := range map[string]struct {
		change func(c *lifecycle.Card)
		want   []policy.Verb
	}{
		"pending":        {func(c *lifecycle.Card) { c.Status = lifecycle.Pending }, present},
		"needs approval": {func(c *lifecycle.Card) { c.Status, c.NeedsApproval = lifecycle.Pending, true }, append(slices.Clone(present), policy.VerbApprove, policy.VerbRefuse)},
		"tried once":     {func(c *lifecycle.Card) { c.Status, c.Phase, c.Tries = lifecycle.Pending, lifecycle.Queued, 1 }, append(slices.Clone(present), logs...)},
		"no capacity":    {func(c *lifecycle.Card) { c.Status, c.Phase = lifecycle.Pending, lifecycle.AwaitingCapacity }, append(slices.Clone(present), logs...)},
		"stopped once":   {func(c *lifecycle.Card) { c.Status, c.RetryAt = lifecycle.Pending, now }, append(slices.Clone(present), logs...)},
		"creating":       {func(c *lifecycle.Card) { c.Status = lifecycle.Creating }, append(slices.Clone(present), logs...)},
		"ready":          {func(c *lifecycle.Card) { c.Status = lifecycle.Ready }, ready},
		"asleep": {func(c *lifecycle.Card) { c.Status, c.SleepWanted, c.Power = lifecycle.Ready, true, lifecycle.Asleep }, append(slices.DeleteFunc(slices.Clone(ready), func(v policy.Verb) bool {
			return v == policy.VerbSleep || v == policy.VerbKubeconfig || v == policy.VerbConsole
		}), policy.VerbWake)},
		"held": {func(c *lifecycle.Card) { c.Status, c.Ends.Hold = lifecycle.Pending, now.Add(2*time.Hour) }, append(slices.Clone(present), policy.VerbUnhold)},
		"drained": {func(c *lifecycle.Card) { c.Status, c.Ends.Drain = lifecycle.Pending, now.Add(30*time.Minute) }, slices.DeleteFunc(slices.Clone(present), func(v policy.Verb) bool {
			return v == policy.VerbHold || v == policy.VerbExtend
		})},
		"drained later":   {func(c *lifecycle.Card) { c.Status, c.Ends.Drain = lifecycle.Pending, now.Add(2*time.Hour) }, present},
		"at its maximum":  {func(c *lifecycle.Card) { c.Status, c.Ends.TTL = lifecycle.Pending, c.Ends.Max }, present[1:]},
		"off-hours":       {func(c *lifecycle.Card) { c.Status, c.OffHours = lifecycle.Pending, true }, append(slices.Clone(present), policy.VerbTonight)},
		"to be destroyed": {func(c *lifecycle.Card) { c.Status, c.Desired = lifecycle.Ready, lifecycle.Absent }, logs},
		"destroying":      {func(c *lifecycle.Card) { c.Status, c.Desired = lifecycle.Destroying, lifecycle.Absent }, logs},
		"teardown blocked": {func(c *lifecycle.Card) {
			c.Status, c.Phase, c.Desired = lifecycle.Destroying, lifecycle.DestroyBlocked, lifecycle.Absent
		}, append(slices.Clone(logs), policy.VerbRetry, policy.VerbAbandon)},
		"waits in a pool":         {func(c *lifecycle.Card) { c.Status, c.Pool, c.Pooled = lifecycle.Ready, "stock", true }, append(slices.Clone(logs), policy.VerbDestroy)},
		"was claimed from a pool": {func(c *lifecycle.Card) { c.Status, c.Pool = lifecycle.Ready, "stock" }, ready},
		"gone": {func(c *lifecycle.Card) {
			c.Status, c.Phase, c.Desired = lifecycle.Destroyed, lifecycle.Released, lifecycle.Absent
		}, logs},
		"never ready": {func(c *lifecycle.Card) {
			c.Status, c.Phase, c.Desired, c.FailReason = lifecycle.Destroyed, lifecycle.Released, lifecycle.Absent, "Quota"
		}, append(slices.Clone(logs), policy.VerbRecreate)},
	} {
		t.Run(name, func(t *testing.T) {
			card := base
			card.Desired = lifecycle.Present
			c.change(&card)
			require.ElementsMatch(t, c.want, slices.DeleteFunc(policy.Possible(policy.Actions(card, anybody, now)), func(v policy.Verb) bool { return v == policy.VerbBundle }))
		})
	}
}

func TestNothingIsPossibleWithoutTheRight(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	c := lifecycle.Card{UpdatedAt: now}
	c.Desired, c.Status, c.Ends = lifecycle.Present, lifecycle.Ready, lifecycle.Ends{TTL: now.Add(time.Hour), Max: now.Add(2 * time.Hour)}
	onlySee := func(act policy.Act) bool { return act == policy.ActSee }
	require.Equal(t, []policy.Verb{policy.VerbLogs}, policy.Possible(policy.Actions(c, onlySee, now)))
	for _, a := range policy.Actions(c, onlySee, now) {
		if a.Act != policy.ActSee {
			require.Equal(t, policy.NotPermitted, a.Obstacle, a.Verb)
		}
	}
	owner := policy.Possible(policy.Actions(c, policy.MayAsOwner, now))
	require.Contains(t, owner, policy.VerbExtend)
	require.NotContains(t, owner, policy.VerbAbandon)
}
