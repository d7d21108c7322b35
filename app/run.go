package app

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/strict"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// RunRequest is how a cluster is to belong to the pipeline's run whose token the requester has.
type RunRequest struct {
	Reuse    policy.Reuse       // empty: none
	Slot     string             // which of the run's clusters it is
	Lifetime lifecycle.Lifetime // empty: run
	OnReady  OnReady            // empty: none
	policy.PipelineRun
}

// OnReady is what happens for a pipeline when the cluster is ready or failed, so that no runner has to wait.
type OnReady string

// The kinds.
const (
	OnReadyNone       OnReady = "none"
	OnReadyDeployment         = OnReady(lifecycle.SignalDeployment)
	OnReadyDispatch           = OnReady(lifecycle.SignalDispatch)
)

// mostSlot is the most bytes of a slot.
const mostSlot = 100

var (
	reuses    = []string{string(policy.ReuseNone), string(policy.ReuseRun), string(policy.ReusePullRequest)}
	lifetimes = []string{string(lifecycle.LifetimeRun), string(lifecycle.LifetimeJob), string(lifecycle.LifetimeTTL)}
	onReadies = []string{string(OnReadyNone), string(OnReadyDeployment), string(OnReadyDispatch)}
	runFields = []string{"reuse", "slot", "lifetime", "onReady", "kind", "name", "uid"}
)

// readRun reads the field run of a request.
func (r *CreateRequest) readRun(n *yaml.Node, refuse func(name string, p messages.Problem)) {
	if n.Kind != yaml.MappingNode {
		refuse("run", messages.NotARun(asWritten(n)))
		return
	}
	r.Run = &RunRequest{}
	texts := map[string]*string{
		"reuse": (*string)(&r.Run.Reuse), "slot": &r.Run.Slot, "lifetime": (*string)(&r.Run.Lifetime), "onReady": (*string)(&r.Run.OnReady), "kind": &r.Run.Kind, "name": &r.Run.Name, "uid": &r.Run.UID,
	}
	for _, m := range strict.Members(n, runFields) {
		switch {
		case m.Fault == strict.Twice:
			refuse("run."+m.Name, messages.GivenTwice)
		case m.Fault == strict.Unknown:
			refuse("run."+m.Name, messages.UnknownField(m.Near, runFields))
		case !strict.IsString(m.Value):
			refuse("run."+m.Name, messages.NotAString(asWritten(m.Value)))
		default:
			*texts[m.Name] = m.Value.Value
		}
	}
}

// Run returns the pipeline's run whose token the principal has; ok is false if it is not a run's.
func (s *Service) Run(p policy.Principal, named policy.PipelineRun) (run policy.Run, ok bool) {
	if p.Proof == nil {
		return policy.Run{}, false
	}
	return policy.RunOf(*p.Proof, named, s.site)
}

// checkRun returns the run of the principal's token, and what is wrong with what the request says about it. known is false if the
// token is not a run's.
func (s *Service) checkRun(p policy.Principal, r RunRequest, given bool) (run policy.Run, known bool, wrong []Field) {
	refuse := func(name string, problem messages.Problem) { wrong = append(wrong, ProblemOf("run"+name, problem)) }
	run, known = s.Run(p, r.PipelineRun)
	switch {
	case !given:
		return run, known, nil
	case !known && p.Proof != nil && p.Proof.Namespace() != "":
		refuse(".uid", messages.Problem{"A service account's token does not name its PipelineRun, so the request has to.",
			[]string{"run.kind PipelineRun, run.name and run.uid of the PipelineRun: $(context.pipelineRun.name) and $(context.pipelineRun.uid)"}})
	case !known:
		refuse("", messages.Problem{"The request's token is not the token of a pipeline's run, so the cluster can belong to none.",
			[]string{"no run", "the OIDC token of a job of GitHub Actions or GitLab CI, or of a Kubernetes service account, from an issuer that the server's oidc configuration lists with its platform"}})
	}
	if r.Reuse != "" && !slices.Contains(reuses, string(r.Reuse)) {
		refuse(".reuse", messages.Problem{fmt.Sprintf("%.100q is not a kind of reuse.", string(r.Reuse)), reuses})
	}
	if len(r.Slot) > mostSlot {
		refuse(".slot", messages.TooLong(len(r.Slot), mostSlot))
	}
	switch l := r.Lifetime; {
	case l != "" && !slices.Contains(lifetimes, string(l)):
		refuse(".lifetime", messages.Problem{fmt.Sprintf("%.100q is not a lifetime.", string(l)), lifetimes})
	case r.Reuse == policy.ReusePullRequest && l != "" && l != lifecycle.LifetimeRun:
		refuse(".lifetime", messages.Problem{"A cluster of the pull request ends with the pull request.", []string{"no lifetime", "another reuse"}})
	case r.Reuse == policy.ReuseRun && l == lifecycle.LifetimeTTL:
		refuse(".lifetime", messages.Problem{"A cluster that the run reuses ends with the run or the job.", []string{"run", "job"}})
	case known && l == lifecycle.LifetimeJob && run.Job == "":
		refuse(".lifetime", messages.Problem{"The token does not name its job (check_run_id), so the end of the job cannot be noticed.", []string{"run", "ttl"}})
	}
	switch on := r.OnReady; {
	case on == "" || on == OnReadyNone:
	case !slices.Contains(onReadies, string(on)):
		refuse(".onReady", messages.Problem{fmt.Sprintf("%.100q is not a kind of signal.", string(on)), onReadies})
	case r.Lifetime == lifecycle.LifetimeJob:
		refuse(".onReady", messages.Problem{"A cluster that ends with the job cannot wait for the run that its signal starts.", []string{"lifetime run or ttl", "onReady none"}})
	case known && !s.onGitHub(run):
		refuse(".onReady", messages.Problem{"Signals go to workflows on the GitHub that the server's App belongs to, and this run is elsewhere.", []string{"none"}})
	}
	if known && r.Reuse == policy.ReusePullRequest && run.Pull == 0 {
		refuse(".reuse", messages.Problem{
			fmt.Sprintf("The run is not one of a pull request: its event is %.50q and its ref %.200q.", run.Event, run.Ref),
			[]string{"none", "run", "a workflow with on: pull_request, whose ref is refs/pull/<number>/merge"},
		})
	}
	return run, known, wrong
}

// bindToRun returns how a cluster that the principal asks for belongs to the run of its token, and the signal that the run wants; nil: to none,
// and none.
func (s *Service) bindToRun(p policy.Principal, r *RunRequest) (*runs.Ask, *runs.SignalAsk, []Field) {
	var said RunRequest
	if r != nil {
		said = *r
	}
	run, known, wrong := s.checkRun(p, said, r != nil)
	if len(wrong) > 0 || !known {
		return nil, nil, wrong
	}
	var signal *runs.SignalAsk
	if said.OnReady != "" && said.OnReady != OnReadyNone {
		signal = &runs.SignalAsk{Ref: s.refOf(run), Kind: lifecycle.SignalKind(said.OnReady)}
	}
	if said.Lifetime == lifecycle.LifetimeTTL {
		return nil, signal, nil
	}
	ask := &runs.Ask{Ref: s.refOf(run), Slot: said.Slot, Lifetime: lifecycle.LifetimeRun, Job: run.Job}
	if said.Lifetime == lifecycle.LifetimeJob {
		ask.Lifetime = lifecycle.LifetimeJob
	}
	if said.Reuse == policy.ReuseRun {
		ask.Reuse = func(row clusters.Row) error { return checkReusable(p, row) }
	}
	return ask, signal, nil
}

// checkReusable returns an error if the run's cluster cannot be handed to the principal.
func checkReusable(p policy.Principal, row clusters.Row) error {
	if !p.MayOnOwn(policy.ActUse, row.Team) {
		return Fail(Denied, messages.RunOfAnotherTeam(row.Name, row.Team))
	}
	return nil
}

// Asker is the run whose token the principal has, as the store names it, and the run's job; nil: it is no run's token.
func (s *Service) Asker(p policy.Principal, named policy.PipelineRun) (*runs.Ref, string) {
	run, known := s.Run(p, named)
	if !known {
		return nil, ""
	}
	ref := s.refOf(run)
	return &ref, run.Job
}

// refOf is a run as the store names it.
func (s *Service) refOf(r policy.Run) runs.Ref {
	return runs.Ref{
		Platform: r.Platform, Issuer: r.Issuer, Scope: r.Scope, Key: r.Key, Attempt: r.Attempt, Repo: r.Repo, Name: r.Name, URL: r.URL,
		Event: r.Event, Ref: r.Ref, Head: r.Head, Number: r.Pull, Actor: r.Actor, Unwatched: s.whyUnwatched(r),
	}
}

// whyUnwatched returns why nobody can be asked about a run; empty: its platform can be.
func (s *Service) whyUnwatched(r policy.Run) string {
	at := policy.Claims{Issuer: r.Issuer}.GitHub(s.site)
	switch {
	case r.Platform == lifecycle.GitLab:
		return "pipelines of GitLab are not watched"
	case r.Platform == lifecycle.Tekton && slices.Contains(s.tekton, r.Issuer):
		return ""
	case r.Platform == lifecycle.Tekton:
		return messages.UnwatchedCluster(r.Issuer)
	case s.site == "":
		return "no GitHub App is configured"
	case at != s.site:
		return fmt.Sprintf("the run is on %s and the GitHub App on %s", at, s.site)
	}
	return ""
}

// RunRefusal turns a refusal of the store into an answer; nil: err is none.
func RunRefusal(err error) error {
	var r *runs.Refusal
	if !errors.As(err, &r) {
		return nil
	}
	switch {
	case errors.Is(r, runs.ErrReplaced):
		return Fail(Conflict, messages.RunReplaced(r.Run.URL, r.Run.Attempt))
	case errors.Is(r, runs.ErrSlotTaken):
		return Fail(Conflict, fmt.Sprintf("The run has the cluster %s in this slot. To get that one, ask with reuse run; for another one, name another slot, such as the job's name with the matrix index.", r.Cluster))
	}
	return Fail(Conflict, messages.RunOver(r.Run.URL, r.Run.Conclusion))
}
