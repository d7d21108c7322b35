package api

import (
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
)

// obstacleTexts say why something cannot be done with a cluster.
var obstacleTexts = map[policy.Obstacle]string{
	policy.NotPermitted: "Your roles do not allow it.",
	policy.IsGone:       "The cluster is gone.",
	policy.IsEnding:     "The cluster is being destroyed.",
	policy.IsWanted:     "The cluster is not being destroyed.",
	policy.NoTeardown:   "Nothing of the cluster waits to be torn down.",
	policy.IsPooled:     "The cluster waits in its pool, and nobody uses or changes it before it is claimed.",
	policy.NotReady:     "The cluster is not READY.",
	policy.NotStarted:   "The installation has not started.",
	policy.OutOfReach:   "The cluster's machines are stopped.",
	policy.NotWaiting:   "The cluster waits for no approval.",
	policy.OwnRequest:   "You requested the cluster, so somebody else has to approve it.",
	policy.HasVoted:     "You have already voted, and the cluster waits for further approvals.",
	policy.AtMaximum:    "The cluster ends at its profile's maximum.",
	policy.EndsBefore:   "Something else ends the cluster before its lifetime is over.",
	policy.NotHeld:      "Nobody holds the cluster.",
	policy.NoOffHours:   "The cluster does not sleep outside working hours.",
	policy.AsleepByHand: "A person put the cluster to sleep.",
	policy.CannotSleep:  "The cluster's profile does not let it sleep.",
	policy.SpotMachines: "The cluster's profile orders spot machines, which AWS ends instead of stopping them.",
	policy.IsAsleep:     "The cluster is asleep.",
	policy.IsAwake:      "The cluster is awake.",
	policy.FixedWorkers: "The cluster's profile fixes the number of workers.",
	policy.NoAddons:     "The cluster has no add-ons.",
	policy.NotBlocked:   "The teardown is not blocked.",
	policy.GivenUp:      "The teardown was given up.",
	policy.NeverFailed:  "The cluster did not fail before it was ready.",
	policy.WasReplaced:  "A newer cluster is in its place.",
	policy.NotOfKind:    "Clusters of its kind have nothing of the sort.",
}

func listActions(all []policy.Action) []v1.Action {
	out := make([]v1.Action, 0, len(all))
	for _, a := range all {
		out = append(out, v1.Action{Verb: string(a.Verb), Possible: a.Obstacle == "", Code: string(a.Obstacle), Reason: obstacleTexts[a.Obstacle]})
	}
	return out
}
