// Package chatopstest has clusters in every state that people can see, for the tests of what they are shown.
package chatopstest

import (
	"maps"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Start is when all of them were accepted.
var Start = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

// Card is a cluster that was just accepted.
func Card() lifecycle.Card {
	c := lifecycle.Card{
		Name: "pr41-shop", Platform: "aws", Profile: "aws-minimal-test", Release: "4.20.3", Region: "us-east-1", BaseDomain: "labs.example.com", Generation: 1,
		Owner: "maya", Team: "platform", RequestedBy: "github:maya", TTL: 24 * time.Hour, AcceptedAt: Start, DestroyAt: Start.Add(24 * time.Hour), UpdatedAt: Start,
		ListCents: 75, HourlyCents: 75, Meter: price.Meter{ToCome: 75}, JobID: "job_1",
	}
	c.ID, c.Desired, c.MaxTries = "clu_1", lifecycle.Present, 2
	c.Ends = lifecycle.Ends{TTL: Start.Add(24 * time.Hour), Max: Start.Add(72 * time.Hour)}
	return At(c, lifecycle.Pending, lifecycle.Queued, "maya set the label ocp/aws-minimal-test")
}

// At is the cluster in another state.
func At(c lifecycle.Card, s lifecycle.Status, p lifecycle.Phase, why string) lifecycle.Card {
	c.Status, c.Phase, c.Why = s, p, lifecycle.MoveReason{Words: why}
	if c.Meter.Since, c.Meter.Rate = Start, 0; s != lifecycle.Pending {
		c.Meter.Rate = c.ListCents
	}
	return c
}

// Ready is a cluster that became ready after forty minutes.
func Ready() lifecycle.Card {
	c := At(Card(), lifecycle.Ready, lifecycle.PhaseReady, "installed on attempt 1 of 2")
	c.ReadyAt, c.UpdatedAt = Start.Add(40*time.Minute), Start.Add(40*time.Minute)
	c.APIURL, c.ConsoleURL = "https://api.pr41-shop.labs.example.com:6443", "https://console-openshift-console.apps.pr41-shop.labs.example.com"
	c.Identities = []string{"pr41-shop-x7k2p"}
	return c
}

// Going is a cluster that is being destroyed because its pull request was closed.
func Going(p lifecycle.Phase, why string) lifecycle.Card {
	c := At(Ready(), lifecycle.Destroying, p, why)
	c.Desired, c.DesiredWhy, c.UpdatedAt = lifecycle.Absent, lifecycle.Reason{Code: lifecycle.ReasonPRClosed}, Start.Add(3*time.Hour+10*time.Minute)
	return c
}

// Lives is a card for each thing that can be seen.
func Lives() map[string]lifecycle.Card {
	installing := At(Card(), lifecycle.Creating, lifecycle.Installing, "the cluster is being created")
	installing.Progress = lifecycle.Progress{Percent: 47, Step: "waiting for bootstrapping to complete", ETA: Start.Add(38 * time.Minute), Late: Start.Add(53 * time.Minute)}
	late := installing
	late.Progress.ETA = time.Time{}
	approval := At(Card(), lifecycle.Pending, lifecycle.AwaitingApproval, "a maintainer has to approve it first")
	approval.NeedsApproval, approval.ApproveBy = true, Start.Add(4*time.Hour)
	scaling := At(Ready(), lifecycle.Ready, lifecycle.PhaseReady, "scaling from 3 to 1 worker")
	scaling.WorkersBase, scaling.WorkersWanted = new(3), new(1)
	scaled := At(Ready(), lifecycle.Ready, lifecycle.ScaledDown, "it runs with 1 of its profile's 3 workers")
	scaled.WorkersBase, scaled.Workers = new(3), new(1)
	held := Ready()
	held.Ends.PRClosed, held.Ends.Hold, held.HoldWhy = Start.Add(2*time.Hour), Start.Add(30*time.Hour), "a demo on Friday"
	kept := Ready()
	kept.Ends.Hold, kept.HoldWhy = kept.Ends.Max, "the label ocp/keep"
	drained := held
	drained.Ends.Drain = Start.Add(3 * time.Hour)
	drained.Ends.DrainWhy = lifecycle.Reason{Code: lifecycle.ReasonDrain, By: "Will Smith", Words: "the account is closed", Where: lifecycle.Place{Account: "123456789012"}}
	cleaning := At(Card(), lifecycle.Creating, lifecycle.Cleaning, "what the last attempt created is removed first")
	cleaning.FailReason, cleaning.FailMessage = "InstallFailed", "bootstrap did not complete in time"
	closed := Ready()
	closed.Ends.PRClosed = Start.Add(2 * time.Hour)
	unlabelled := Ready()
	unlabelled.Ends.LabelRemoved = Start.Add(2 * time.Hour)
	idle := Ready()
	idle.Idle, idle.Ends.Idle = lifecycle.Idle{TellAfter: time.Hour, EndAfter: 6 * time.Hour}, idle.ReadyAt.Add(6*time.Hour)
	linked := Ready()
	linked.Links = []lifecycle.Link{{Title: "The shop", URL: "https://web-shop.apps.pr41-shop.labs.example.com/login"}, {URL: "http://api-shop.apps.pr41-shop.labs.example.com"},
		{Title: "@acme/all [sign in](https://evil.example) /ocp destroy", URL: "https://odd.apps.pr41-shop.labs.example.com"}}
	expiring := At(Ready(), lifecycle.Ready, lifecycle.Expiring, "it ends at 12:00 UTC on 4 January")
	expiring.Why.Code, expiring.Why.Cause = lifecycle.MoveExpires, lifecycle.Reason{Code: lifecycle.ReasonMaximum}
	expiring.Ends.TTL, expiring.UpdatedAt = expiring.Ends.Max, Start.Add(71*time.Hour)
	verifying := Going(lifecycle.Verifying, "counting what is left in the cloud")
	verifying.Progress = lifecycle.Progress{Percent: 90, Step: "pass 1 of 2"}
	gone := At(Going("", ""), lifecycle.Destroyed, lifecycle.Released, "nothing of it is left in the cloud")
	gone.Why.Cause = gone.DesiredWhy
	gone.ReleasedAt, gone.Ends.PRClosed = Start.Add(4*time.Hour), Start.Add(3*time.Hour)
	again := At(gone, lifecycle.Destroying, lifecycle.DestroyingRuns, "the cluster's resources are being removed")
	again.ReleasedAt, again.ReopenedAt, again.Reopened = time.Time{}, Start.Add(30*time.Hour), 1
	stopping := Going(lifecycle.Stopping, "the running install is stopped first")
	stopping.Why.Cause = stopping.DesiredWhy
	creating := func(p lifecycle.Phase, percent int, why string) lifecycle.Card {
		c := At(Card(), lifecycle.Creating, p, why)
		c.Progress.Percent = percent
		return c
	}
	lives := map[string]lifecycle.Card{
		"preflight": creating(lifecycle.Preflight, 0, "looking at limits and names first"), "claiming": creating(lifecycle.Claiming, 3, "names outside the installer are written down"),
		"rendering": creating(lifecycle.Rendering, 5, "the install-config is rendered"), "recording": creating(lifecycle.Recording, 8, "what it takes to remove it is kept first"),
		"configuring": creating(lifecycle.Configuring, 95, "add-ons and outputs"), "degraded": At(Ready(), lifecycle.Ready, lifecycle.Degraded, "2 of 33 operators are not available"),
		"restoring": Going(lifecycle.Restoring, "the newest archive is fetched"), "destroying": Going(lifecycle.DestroyingRuns, "the installer is destroying the cluster"),
		"held-to-the-maximum": kept,
		"awaiting-approval":   approval, "scaling": scaling, "scaled-down": scaled,
		"held": held, "drained": drained, "idle": idle, "linked": linked,
		"late":    late,
		"pending": Card(), "installing": installing, "cleaning": cleaning, "ready": Ready(), "ready-closed": closed, "ready-unlabelled": unlabelled, "expiring": expiring,
		"stopping": stopping, "verifying": verifying,
		"destroyed": gone, "found-again": again,
	}
	maps.Copy(lives, failures())
	maps.Copy(lives, queues())
	maps.Copy(lives, nights())
	return lives
}

// failures are the cards of clusters whose install or teardown failed, or that were never ready.
func failures() map[string]lifecycle.Card {
	failed := At(Card(), lifecycle.Failed, lifecycle.CreateFailed, "attempt 2 of 2 failed")
	failed.Desired, failed.DesiredWhy = lifecycle.Absent, lifecycle.Reason{Code: lifecycle.ReasonInstallFailed, Words: "bootstrap did not complete in time"}
	failed.FailReason, failed.FailMessage = "InstallFailed", "bootstrap did not complete in time"
	failed.Why.Failure = failed.FailMessage
	quota := failed
	quota.FailReason, quota.FailMessage = "VcpuLimitExceeded", "the account may run no more standard vCPUs in us-east-1"
	quota.FailWhose, quota.FailNext = "quota", "raise the limit L-1216C47A, or release clusters there; then ask again with /ocp create aws-minimal-test"
	lost := failed
	lost.FailReason, lost.FailMessage = "lost", "nothing was heard from the runner for 15 minutes"
	never := At(failed, lifecycle.Destroyed, lifecycle.Released, "nothing of it is left in the cloud")
	never.Why.Cause = never.DesiredWhy
	never.ReleasedAt, never.Identities = Start.Add(2*time.Hour), []string{"pr41-shop-x7k2p", "pr41-shop-b4r9d"}
	asked := At(Card(), lifecycle.Destroyed, lifecycle.Released, "nothing of it is left in the cloud")
	asked.Desired, asked.DesiredWhy, asked.FailReason, asked.FailMessage = lifecycle.Absent, lifecycle.Reason{Code: lifecycle.ReasonAsked, By: "@maya"}, "stopped", "the runner was told to stop"
	asked.Why.Cause = asked.DesiredWhy
	asked.ReleasedAt, asked.Identities = Start.Add(30*time.Minute), []string{"pr41-shop-x7k2p"}
	blocked := Going("", "")
	blocked = At(blocked, lifecycle.Failed, lifecycle.DestroyBlocked, "3 teardowns left something behind; still there: vpc vpc-0a1. The next attempt is at 15:30:00 UTC on 1 January and there is no last one")
	blocked.Blockers = []lifecycle.Blocker{{Name: "vpc vpc-0a1 (pr41-shop-x7k2p-vpc)", Free: "detach the network interface eni-7 of another team"}, {Name: "network-interface eni-7"}}
	abandoned := At(blocked, lifecycle.Failed, lifecycle.Abandoned, "an admin abandoned it; it still counts until nothing is left")
	return map[string]lifecycle.Card{
		"create-failed": failed, "create-failed-quota": quota, "create-failed-lost": lost, "destroyed-never-ready": never, "destroyed-while-created": asked,
		"destroy-blocked": blocked, "abandoned": abandoned,
	}
}

// queues are the cards of clusters that wait for capacity, for a full quota or for a free runner.
func queues() map[string]lifecycle.Card {
	waiting := At(Card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "waiting for capacity in the cloud account: Elastic IPs: 3 needed, 5 of 5 are in use or reserved")
	waiting.Position, waiting.WaitsSince = 3, Start.Add(4*time.Minute)
	turn := At(Card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "waiting in the queue: team platform has 5 of 5 clusters")
	turn.NeedsTurn, turn.Position, turn.WaitsSince, turn.TurnETA = true, 2, Start.Add(time.Minute), Start.Add(90*time.Minute)
	runner := At(Card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "")
	runner.Why = lifecycle.MoveReason{Runner: "at most 40 run at once in this installation besides teardowns"}
	runner.Position, runner.WaitsSince, runner.TurnETA = 3, Start.Add(time.Minute), Start.Add(30*time.Minute)
	teardown := Going(lifecycle.Restoring, "")
	teardown.Why = lifecycle.MoveReason{Cause: teardown.DesiredWhy, Runner: "at most 50 run at once in this installation"}
	teardown.Position, teardown.WaitsSince = 1, Start.Add(3*time.Hour+10*time.Minute)
	unscaled := At(Ready(), lifecycle.Ready, lifecycle.PhaseReady, "installed on attempt 1 of 2")
	unscaled.Why.Runner = "at most 40 run at once in this installation besides teardowns"
	unscaled.WorkersBase, unscaled.WorkersWanted, unscaled.Position, unscaled.WaitsSince = new(3), new(1), 2, Start.Add(time.Hour)
	frozen := At(Card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "")
	frozen.Why = lifecycle.MoveReason{Brake: lifecycle.Brake{
		ID: "frz_1", Kind: lifecycle.Freeze, Where: lifecycle.Place{Region: "us-east-1"}, By: "Will *Admin*", Words: "AWS has an @outage", Since: Start, Until: Start.Add(4 * time.Hour),
	}}
	unproven := At(Card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "")
	unproven.Why = lifecycle.MoveReason{Brake: lifecycle.Brake{
		ID: "prf_1", Kind: lifecycle.Proof, Where: lifecycle.Place{Platform: "aws", Account: "210987654321"}, Since: Start, Until: Start.Add(lifecycle.LongestProof),
	}}
	return map[string]lifecycle.Card{
		"awaiting-thaw": frozen, "awaiting-proof": unproven,
		"awaiting-capacity": waiting, "awaiting-turn": turn, "awaiting-runner": runner, "teardown-awaiting-runner": teardown, "scaling-awaiting-runner": unscaled,
	}
}

// nights are the cards of a cluster that sleeps, or is about to.
func nights() map[string]lifecycle.Card {
	asleep := At(Ready(), lifecycle.Ready, lifecycle.PhaseAsleep, "it is asleep, with all machines stopped (maya asked for it in a comment)")
	asleep.SleepMode, asleep.SleepWanted, asleep.Power, asleep.SleepUntil = lifecycle.SleepStopped, true, lifecycle.Asleep, Start.Add(18*time.Hour)
	asleep.HourlyCents, asleep.AsleepCents = 22, 22
	asleep.Meter.Rate, asleep.Meter.LessNow = 22, 53
	falling := asleep
	falling.Cluster.Phase, falling.Cluster.Why.Words, falling.Power = lifecycle.GoingToSleep, "it goes to sleep (maya asked for it in a comment)", lifecycle.Changing
	falling.HourlyCents, falling.Meter.Rate, falling.Meter.LessNow = 75, 75, 0
	waking := falling
	waking.Cluster.Phase, waking.Cluster.Why.Words, waking.SleepWanted, waking.SleepUntil = lifecycle.Waking, "it wakes up", false, time.Time{}
	preparing := At(Ready(), lifecycle.Ready, lifecycle.Preparing, "it was claimed from the pool aws-ready and is prepared for its new owner")
	preparing.Pool, preparing.ClaimedAt, preparing.WaitSpared, preparing.ReadyAt = "aws-ready", Start, 38*time.Minute, time.Time{}
	preparing.AskWork(lifecycle.Prepare)
	claimed := Ready()
	claimed.Pool, claimed.ClaimedAt, claimed.WaitSpared, claimed.ReadyAt = "aws-ready", Start, 38*time.Minute, Start.Add(4*time.Second)
	resting := Ready()
	resting.OffHours, resting.SleepMode, resting.UpdatedAt = true, lifecycle.SleepStopped, Start.Add(6*time.Hour+30*time.Minute)
	resting.RestAt, resting.RestWarned = Start.Add(7*time.Hour), Start.Add(7*time.Hour)
	awake := resting
	awake.AwakeUntil, awake.RestAt = Start.Add(19*time.Hour), Start.Add(22*time.Hour)
	return map[string]lifecycle.Card{
		"asleep": asleep, "going-to-sleep": falling, "waking": waking, "falls-asleep-soon": resting, "kept-awake": awake,
		"preparing": preparing, "claimed": claimed,
	}
}
