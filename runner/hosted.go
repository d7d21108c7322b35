package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/status"
)

// awaitHosted waits within the deadline of creates until the hub's operator has made the cluster.
func (a *attempt) awaitHosted(ctx context.Context) error {
	return a.awaitHub(ctx, a.spec.CreateDeadline, func() (provision.Look, error) { return a.hosted.Look(ctx, a.order()) })
}

// awaitHub looks until something is ready, can never be, or the time is over; 0: it never is. A hub may be away for a while.
func (a *attempt) awaitHub(ctx context.Context, most time.Duration, lookOnce func() (provision.Look, error)) error {
	const asking = "looking at the hosted cluster"
	until, answered, shown := time.Now().Add(most), time.Now(), ""
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.RetryMax) {
		look, err := lookOnce()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && (errors.Is(err, cloud.ErrCredentials) || time.Since(answered) > a.cfg.Timings.Reach):
			return a.explainHub(ctx, "the hosted cluster cannot be looked at", err)
		case err != nil:
			a.say.Retrying(asking, err)
		default:
			answered = time.Now()
			a.say.Recovered(asking)
			over := most > 0 && time.Now().After(until)
			switch {
			case look.Ready:
				return nil
			case !look.Waits || over:
				return failure{Reason: look.Reason, Whose: look.Whose, Retryable: look.Waits, Message: look.Message, Next: look.Next}
			}
			a.say.Step(look.Percent, look.Step)
			if shown != look.Step {
				shown = look.Step
				a.noteLine("%s: %s", look.Step, look.Message)
			}
		}
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// configureHosted stores what opens the cluster, as for one that an installer made, and gives the access that was asked for.
func (a *attempt) configureHosted(ctx context.Context) (*contract.Outputs, error) {
	access, err := a.hosted.Access(ctx, a.order())
	if err != nil {
		return nil, a.explainHub(ctx, "the cluster's credentials could not be read", err)
	}
	a.cfg.Redact.Add(access.Kubeconfig, access.Password)
	kubeconfig, err := a.plainKubeconfig([]byte(access.Kubeconfig.Reveal()))
	if err != nil {
		return nil, failure{
			Reason: "HostedLate", Whose: contract.WhoseCloud, Retryable: true, Message: "the hub's operator wrote a kubeconfig that cannot be used: " + err.Error(),
			Next: "ask an administrator of the hub to look at the secrets in namespace " + a.order().InfraID,
		}
	}
	auth := filepath.Join(a.dir, "auth")
	err = os.MkdirAll(auth, 0o700)
	for name, data := range map[string][]byte{"kubeconfig": kubeconfig, "kubeadmin-password": []byte(access.Password.Reveal())} {
		if err == nil {
			err = os.WriteFile(filepath.Join(auth, name), data, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	outputs, err := a.configureCluster(ctx)
	if err != nil {
		return nil, err
	}
	return outputs, a.giveAccess(ctx)
}

// plainKubeconfig returns a kubeconfig with the address and the certificates of another, and nothing else of it.
func (a *attempt) plainKubeconfig(raw []byte) ([]byte, error) {
	if err := a.hideKeys(raw); err != nil {
		return nil, err
	}
	var of struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     string `yaml:"certificate-authority-data"`
			}
		}
		Users []struct {
			User struct {
				Certificate string `yaml:"client-certificate-data"`
				Key         string `yaml:"client-key-data"`
			}
		}
	}
	if yaml.Unmarshal(raw, &of) != nil || len(of.Clusters) == 0 || len(of.Users) == 0 || of.Users[0].User.Key == "" {
		return nil, errors.New("it names no cluster, or no certificate of its user")
	}
	on, user := of.Clusters[0].Cluster, of.Users[0].User
	return writeKubeconfig(a.spec.Name, "", on.Server, on.CA, object{"client-certificate-data": user.Certificate, "client-key-data": user.Key})
}

// endHosted has the hub's operator remove the cluster, and waits within the deadline of teardowns. What is left is counted, and named there.
func (a *attempt) endHosted(ctx context.Context) {
	until := time.Now().Add(a.spec.DestroyDeadline)
	for wait := a.cfg.Timings.RetryMin; ctx.Err() == nil; wait = min(2*wait, a.cfg.Timings.RetryMax) {
		left, err := a.hosted.End(ctx, a.cloudTarget())
		step := "the hub's operator removes " + strings.Join(left, "; ")
		switch {
		case err != nil:
			step = "the hub could not be asked to remove it: " + err.Error()
		case len(left) == 0:
			return
		}
		a.say.Step(30, a.cfg.Redact.Text(step))
		if time.Now().After(until) {
			a.timedOut = true
			a.noteLine("%s; it did not end within its deadline, and what is left is counted", step)
			return
		}
		_ = status.Sleep(ctx, wait) // an end is seen by the loop
	}
}
