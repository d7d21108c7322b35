package command

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// runInput names the pipeline's run in which a command runs, for tokens that do not name it: those of Kubernetes' service accounts.
type runInput struct{ kind, name, uid string }

func (r *runInput) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.kind, "run-kind", "", optionUsage("create", "run-kind"))
	f.StringVar(&r.name, "run-name", "", optionUsage("create", "run-name"))
	f.StringVar(&r.uid, "run-uid", "", optionUsage("create", "run-uid"))
}

var runKinds = []string{string(v1.RunRequestKindPipelineRun)}

// readRun returns the run that flags and environment name, empty if they name none, and what is wrong with it.
func (r *runInput) readRun(env func(string) string) (runInput, []exit.Field) {
	out := runInput{cmp.Or(r.kind, env("OCPCTL_RUN_KIND")), cmp.Or(r.name, env("OCPCTL_RUN_NAME")), cmp.Or(r.uid, env("OCPCTL_RUN_UID"))}
	if out.name == "" && out.uid == "" && r.kind == "" {
		return runInput{}, nil // a kind alone in the environment names nothing
	}
	out.kind = cmp.Or(out.kind, runKinds[0])
	var wrong []exit.Field
	if !slices.Contains(runKinds, out.kind) {
		wrong = append(wrong, exit.Field{Name: "--run-kind", Detail: fmt.Sprintf("%q is not supported.", out.kind), Accepted: runKinds})
	}
	for _, need := range []struct{ flag, value, accepted string }{
		{"--run-name", out.name, "$(context.pipelineRun.name)"}, {"--run-uid", out.uid, "$(context.pipelineRun.uid)"},
	} {
		if need.value == "" {
			wrong = append(wrong, exit.Field{Name: need.flag, Detail: "Required to name a run.", Accepted: []string{"in Tekton: " + need.accepted}})
		}
	}
	return out, wrong
}

// readTurnRun is named for a command about turns.
func (r *runInput) readTurnRun(env func(string) string) (runInput, error) {
	of, wrong := r.readRun(env)
	if len(wrong) > 0 {
		return of, exit.With(exit.Usage, &exit.Problem{Title: "The pipeline's run is not named completely.", Fields: wrong})
	}
	return of, nil
}
