package app

import (
	"context"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// ownsCluster reports whether a cluster is of the pipeline whose token the principal has; false for everybody else.
func (s *Service) ownsCluster(ctx context.Context, p policy.Principal, row clusters.Row) (bool, error) {
	if !p.OfPipeline() {
		return false, nil
	}
	ref, pull := runs.Ref{}, 0
	if run, known := s.Run(p, policy.PipelineRun{}); known {
		ref = s.refOf(run)
		if ref.Unwatched == "" { // another GitHub may have a repository of the same number
			pull = run.Pull
		}
	} else if namespace := p.Proof.Namespace(); namespace != "" { // which run it is of, the token does not say
		ref = runs.Ref{Platform: lifecycle.Tekton, Issuer: p.Proof.Issuer, Scope: namespace}
	}
	ties, err := s.store.Runs.TiesOf(ctx, row.ID, ref, pull)
	if err != nil {
		return false, err
	}
	return p.Owns(policy.Ties{Run: ties.Run, PullRequest: ties.PullRequest, Signal: ties.Signal, Requester: ties.Alone && row.RequestedBy == p.ID}), nil
}
