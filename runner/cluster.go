package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

// errRefusedByOC is an answer of the cluster that does not change by asking again.
var errRefusedByOC = errors.New("refused")

// askCluster queries the cluster once, through oc. It returns the JSON output; other output becomes the error.
func (a *attempt) askCluster(ctx context.Context, args ...string) ([]byte, error) {
	var document []string
	err := a.listenToCluster(ctx, func(line string) {
		if len(document) > 0 || strings.HasPrefix(line, "{") {
			document = append(document, line)
		}
	}, args...)
	if err != nil {
		return nil, err
	}
	if end := len(document); end > 0 {
		for end > 1 && document[end-1] != "}" {
			end-- // a warning follows the document
		}
		document = document[:end]
	}
	return []byte(strings.Join(document, "\n")), nil
}

// listenToCluster queries the cluster once, and passes on each line that oc prints, its warnings among them. If oc fails, the last line is the reason.
func (a *attempt) listenToCluster(ctx context.Context, hear func(line string), args ...string) error {
	last := ""
	code, err := a.callCluster(ctx, nil, func(line string) {
		last = line
		hear(line)
	}, args...)
	switch said := installer.Message(last); {
	case err != nil:
		return err
	case code == 0:
		return nil
	case last == "":
		return fmt.Errorf("oc %s: exit code %d", args[0], code)
	case isRefusal(said):
		return fmt.Errorf("oc %s: %w: %s", args[0], errRefusedByOC, said)
	default:
		return fmt.Errorf("oc %s: %s", args[0], said)
	}
}

// askSecret queries the cluster once for something that is a secret, and keeps the answer away from the log.
func (a *attempt) askSecret(ctx context.Context, args ...string) (secret.Text, error) {
	complaint := ""
	var out installer.SecretOutput
	exit, err := a.runCommand(ctx, installer.Command{Secret: &out, OnLine: func(line string) { complaint = line }}, args...)
	switch {
	case err != nil:
		return secret.Text{}, err
	case exit == 0:
		return out.Text(), nil
	case complaint == "":
		complaint = fmt.Sprintf("exit code %d", exit)
	}
	complaint = installer.Message(complaint)
	if isDenial(complaint) {
		return secret.Text{}, fmt.Errorf("oc %s: %w: %s", args[0], errRefusedByOC, complaint)
	}
	return secret.Text{}, fmt.Errorf("oc %s: %s", args[0], complaint)
}

// callCluster runs oc against the cluster, with an argument list and without a shell. An error means that it did not end by itself.
func (a *attempt) callCluster(ctx context.Context, input []byte, hear func(string), args ...string) (code int, err error) {
	return a.runCommand(ctx, installer.Command{Input: input, OnLine: hear}, args...)
}

func (a *attempt) runCommand(ctx context.Context, c installer.Command, args ...string) (code int, err error) {
	c.Args = append([]string{"--kubeconfig=" + a.kubeconfig, "--request-timeout=" + a.cfg.Timings.OC.String()}, args...)
	c.Deadline = 2 * a.cfg.Timings.OC
	exit, err := a.oc.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, err
	case exit.TimedOut:
		return 0, fmt.Errorf("oc %s: no answer within %s", args[0], duration.Format(2*a.cfg.Timings.OC))
	}
	return exit.Code, nil
}

// isRefusal reports a permanent error of the API: "Error from server (Forbidden): …", or that something does not exist.
func isRefusal(text string) bool {
	for _, sign := range []string{"(Forbidden)", "(Unauthorized)", "(Invalid)", "(BadRequest)", "(NotFound)", "the server doesn't have a resource type", "must be logged in"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// askPatiently queries the cluster and retries for a while: its API moves between machines now and then.
func (a *attempt) askPatiently(ctx context.Context, args ...string) ([]byte, error) {
	const step = "querying the cluster's API"
	defer a.say.Recovered(step)
	until := time.Now().Add(a.cfg.Timings.Reach)
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.RetryMax) {
		document, err := a.askCluster(ctx, args...)
		switch {
		case err == nil:
			return document, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, errRefusedByOC):
			return nil, failure{
				Reason: "ScaleRefused", Whose: contract.WhoseUser, Message: fmt.Sprintf("the cluster refused it: %v", err),
				Next: "check what the message names in the cluster (oc get machinesets -n " + machineAPI + "), or request a new cluster",
			}
		case time.Now().After(until):
			return nil, failure{
				Reason: "ClusterUnreachable", Whose: contract.WhoseCloud, Retryable: true, Message: fmt.Sprintf("the cluster's API did not answer: %v", err),
				Next: "try again later; if it happens again, check that its control plane runs and that the runner can reach its API",
			}
		}
		a.say.Retrying(step, err)
		a.cfg.Log.Warn("the cluster did not answer, retrying", "err", err.Error())
		if err := status.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}
