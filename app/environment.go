package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// WorkflowRun is a workflow run as GitHub returns it.
type WorkflowRun struct {
	RepoID     int64
	Repo, Name string // owner/name; of the workflow
	Attempt    int    // the newest
	Completed  bool   // that attempt
	Event      string // what triggered it
	Head       string // SHA
	Fork       bool   // that commit is in another repository, or in a deleted one
	URL        string
	Actor      string // who started that attempt
	ActorID    int64
	Bot        bool     // that account is a bot's, by its type
	Waits      []string // the environments for which jobs wait, by whichever rule
}

// Waiting are jobs of a workflow run that wait for an environment by the App's protection rule.
type Waiting struct {
	Installation int64
	RepoID, Run  int64
	Deployment   int64  // that waits
	Environment  string // ocp/<profile>
	Number       int    // of the run's pull request; 0: none
	WorkflowRun         // as GitHub shows it
}

// EnvironmentProfile returns the profile that an environment is named after; ok is false if it is none of ocpctl's.
func EnvironmentProfile(environment string) (profile string, ok bool) {
	if len(environment) <= len(chatops.LabelPrefix) || !strings.EqualFold(environment[:len(chatops.LabelPrefix)], chatops.LabelPrefix) {
		return "", false
	}
	return strings.ToLower(environment[len(chatops.LabelPrefix):]), true
}

// ForEnvironment makes a request one for the cluster for which jobs wait: the one that their run has for the environment, or else a new
// one that ends with the run. The jobs are told how it stands, or why there is none.
func (s *Service) ForEnvironment(r ClusterRequest, w Waiting) ClusterRequest {
	profile, _ := EnvironmentProfile(w.Environment)
	r.Request.Profile = profile
	r.Request.Name = policy.RunName(w.Repo, fmt.Sprintf("%d/%d/%d/%s/%d", w.RepoID, w.Run, w.Attempt, profile, w.Deployment))
	r.Actor, r.Key = w.Actor, fmt.Sprintf("environment:%d:%d:%d:%s:%d", w.RepoID, w.Run, w.Attempt, profile, w.Deployment)
	r.run = &runs.Ask{
		Ref: s.waitingRun(w), Slot: environmentSlot(profile), Lifetime: lifecycle.LifetimeRun,
		Reuse: func(row clusters.Row) error {
			switch {
			case r.Request.Bot:
				return Fail(Denied, "A bot started this attempt of the run, and environments get no clusters for bots. Re-run the workflow yourself.")
			case !r.Request.MayFor(row.Team):
				return Fail(Denied, messages.RunOfAnotherTeam(row.Name, row.Team))
			}
			return nil
		},
	}
	r.wait = s.waitAsk(w)
	return r
}

// RejectWaiting has jobs told that they get no cluster, although policy was not asked.
func (s *Service) RejectWaiting(ctx context.Context, w Waiting, why string) error {
	return s.store.Runs.Refuse(ctx, *s.waitAsk(w), why)
}

func (s *Service) waitAsk(w Waiting) *runs.WaitAsk {
	return &runs.WaitAsk{Ref: s.waitingRun(w), Installation: w.Installation, Environment: w.Environment, Event: strconv.FormatInt(w.Deployment, 10)}
}

// waitingRun is the run of waiting jobs, as their tokens will name it.
func (s *Service) waitingRun(w Waiting) runs.Ref {
	return runs.Ref{
		Platform: lifecycle.GitHub, Issuer: s.jobIssuer, Scope: strconv.FormatInt(w.RepoID, 10), Key: strconv.FormatInt(w.Run, 10), Attempt: w.Attempt, Repo: w.Repo,
		Name: w.Name, URL: w.URL, Event: w.Event, Head: w.Head, Number: w.Number, Actor: w.Actor,
	}
}

// environmentSlot is the slot of the cluster for which jobs of a run wait.
func environmentSlot(profile string) string { return runs.EnvironmentPrefix + profile }
