package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/tekton"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/runs"
)

// lookAtPipelineRun asks the Kubernetes cluster about a PipelineRun, as look asks GitHub about a workflow run. Tekton sends no events, so
// this is the only way in which its end is noticed.
func (s *Service) lookAtPipelineRun(ctx context.Context, run runs.Run, now time.Time) (runs.Run, error) {
	state, err := s.tekton.PipelineRun(ctx, run.Issuer, run.Scope, run.Name, lifecycle.ShownKey(run.Key))
	switch {
	case errors.Is(err, tekton.ErrNotFound):
		return s.store.Runs.Miss(ctx, run.ID, now.Add(min(s.every, leastAbsence)))
	case errors.Is(err, tekton.ErrUnknownCluster):
		return s.store.Runs.Unwatch(ctx, run.ID, messages.UnwatchedCluster(run.Issuer), now.Add(unseenFactor*s.every)) // it may be configured later
	case errors.Is(err, tekton.ErrForbidden), errors.Is(err, tekton.ErrNoTekton):
		s.log.WarnContext(ctx, "PipelineRuns cannot be read", "run", run.ID, "issuer", run.Issuer, "err", err)
		return s.store.Runs.Unwatch(ctx, run.ID, sayUnwatchedPipelineRuns(run.Issuer, errors.Is(err, tekton.ErrNoTekton)), now.Add(unseenFactor*s.every))
	case err != nil && now.Sub(run.SeenAt) >= unseenFactor*s.every:
		s.log.WarnContext(ctx, "a Kubernetes API does not answer", "run", run.ID, "issuer", run.Issuer, "err", err)
		return s.store.Runs.Unwatch(ctx, run.ID, "the Kubernetes API for the issuer "+run.Issuer+" does not answer", now.Add(s.every))
	case err != nil:
		return runs.Run{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	seen := runs.Seen{Attempt: run.Attempt, State: lifecycle.RunRunning, UpdatedAt: state.At, Confirmed: true}
	if state.Finished {
		seen.State, seen.Conclusion = lifecycle.RunFinished, state.Conclusion
	}
	return s.store.Runs.See(ctx, run.ID, seen, now.Add(s.every))
}

// sayUnwatchedPipelineRuns says that the Kubernetes API of an issuer refuses to show PipelineRuns, or knows none.
func sayUnwatchedPipelineRuns(issuer string, none bool) string {
	if none {
		return "the Kubernetes API for the issuer " + issuer + " knows no PipelineRuns (tekton.dev/v1)"
	}
	return "the Kubernetes API for the issuer " + issuer + " does not let the server read PipelineRuns; its service account needs the right to get them"
}
