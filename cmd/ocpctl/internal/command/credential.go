package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// asking is how a kubeconfig of our own is asked for.
type asking struct {
	role, lifetime string
	renew, static  bool
}

func (q *asking) addFlags(c *cobra.Command) {
	addTextFlags(c, "kubeconfig", map[string]*string{"role": &q.role, "lifetime": &q.lifetime})
	c.Flags().BoolVar(&q.renew, "renew", false, optionUsage("kubeconfig", "renew"))
}

// addStaticFlag is for commands that write a kubeconfig.
func (a *app) addStaticFlag(c *cobra.Command, q *asking) {
	c.Flags().BoolVar(&q.static, "static", a.Env("CI") != "" || a.Env("OCPCTL_RUN_UID") != "", optionUsage("kubeconfig", "static"))
}

// accessRoles are those that somebody can have in a cluster.
func accessRoles() []string {
	return []string{string(v1.AccessRoleView), string(v1.AccessRoleEdit), string(v1.AccessRoleAdmin)}
}

// minted is a kubeconfig that was made for us; raw is nil while it is being made.
type minted struct {
	raw     []byte
	expires time.Time
}

const (
	mostMaking  = 5 * time.Minute // how long we wait for a kubeconfig that is being made
	usualMaking = time.Second     // between two questions, if the server does not say

	recheckAfter = 10 * time.Minute // the server is asked whether a kept token is still to be had
	mostRecheck  = 5 * time.Second  // kubectl waits meanwhile
	recheckSoon  = time.Minute      // after it did not answer
)

// mintKubeconfig asks for a kubeconfig of our own, and waits until it is made.
func (a *app) mintKubeconfig(ctx context.Context, api *connect.API, id string, q asking) (minted, error) {
	for waited := time.Duration(0); ; {
		got, again, err := a.askOnce(ctx, api, id, q)
		if err != nil || got.raw != nil {
			return got, err
		}
		if waited == 0 {
			a.printNotef("A kubeconfig is being made for you. This takes a few seconds.")
		}
		if waited += again; waited > mostMaking {
			return minted{}, exit.With(exit.TimedOut, fmt.Errorf(
				"the kubeconfig was not made within %s; it is still being made. Repeat the command later. ocpctl access list %s shows what it waits for", duration.Format(mostMaking), humanize.Line(id)))
		}
		if err := a.Sleep(ctx, again); err != nil {
			return minted{}, err
		}
		q.renew = false // the one that is being made is meant
	}
}

// askOnce asks once; without a kubeconfig, it says when to ask again.
func (a *app) askOnce(ctx context.Context, api *connect.API, id string, q asking) (minted, time.Duration, error) {
	run, err := new(runInput).readTurnRun(a.Env)
	if err != nil {
		return minted{}, 0, err
	}
	res, err := api.GetKubeconfig(ctx, id, &v1.GetKubeconfigParams{Role: q.role, Lifetime: q.lifetime, Renew: q.renew,
		RunKind: v1.GetKubeconfigParamsRunKind(run.kind), RunName: run.name, RunUID: run.uid})
	raw, err := connect.Body(res, err)
	if err != nil {
		return minted{}, 0, err
	}
	if res.StatusCode == http.StatusAccepted {
		again := usualMaking
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
			again = time.Duration(seconds) * time.Second
		}
		return minted{}, again, nil
	}
	expires, err := time.Parse(time.RFC3339, res.Header.Get("Ocpctl-Access-Expires"))
	if err != nil {
		return minted{}, 0, errors.New("read the server's response: it does not say when the kubeconfig expires; check that the server is of the same version")
	}
	return minted{raw, expires}, 0, nil
}

// holder gets a cluster's token for kubectl, and keeps it.
type holder struct {
	*app
	api  *connect.API
	id   string // of the cluster
	ask  asking
	keep kube.Keep
}

// questionKey tells apart what may be answered differently: other clusters, roles and lifetimes, and other people on this machine.
func (h holder) questionKey() string {
	c := h.api.Context
	return strings.Join([]string{
		h.id, h.ask.role, h.ask.lifetime, c.Name, string(c.Auth), c.TokenFile, c.TokenCommand, c.AWSProfile,
		h.Env("OCPCTL_TOKEN"), h.Env("AWS_PROFILE"), h.Env("AWS_ACCESS_KEY_ID"),
	}, "\n")
}

// getToken returns a token that is valid. The kept one is returned while the server was asked not long ago.
func (h holder) getToken(ctx context.Context) (kube.Kept, error) {
	have, found := h.keep.Read(h.api.Context.Server, h.questionKey())
	if found && !h.ask.renew && h.Now().Add(time.Minute).Before(have.Expires) {
		if h.Now().Before(have.Checked.Add(recheckAfter)) {
			return have, nil
		}
		return h.recheckToken(ctx, have)
	}
	got, err := h.mintKubeconfig(ctx, h.api, h.id, h.ask)
	if err != nil {
		return kube.Kept{}, err
	}
	return h.keepToken(got)
}

// recheckToken asks the server again. A token that is valid is used further if the server does not answer, or needs time to make the next one.
func (h holder) recheckToken(ctx context.Context, have kube.Kept) (kube.Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, mostRecheck)
	defer cancel()
	got, _, err := h.askOnce(ctx, h.api, h.id, h.ask)
	switch {
	case isRefused(err): // we may no longer have it
		return kube.Kept{}, errors.Join(err, h.keep.Drop(h.api.Context.Server, h.questionKey()))
	case err == nil && got.raw != nil:
		return h.keepToken(got)
	}
	have.Checked = h.Now().Add(recheckSoon - recheckAfter)
	return have, h.keep.Write(h.api.Context.Server, h.questionKey(), have)
}

// keepToken keeps the token of a kubeconfig.
func (h holder) keepToken(got minted) (kube.Kept, error) {
	token, err := kube.TokenOf(got.raw)
	if err != nil {
		return kube.Kept{}, err
	}
	kept := kube.Kept{Token: token, Expires: got.expires, Checked: h.Now()}
	return kept, h.keep.Write(h.api.Context.Server, h.questionKey(), kept)
}

// isRefused reports that the server answered, and that we may not have the cluster. Any other answer says nothing about the token that we have.
func isRefused(err error) bool {
	var said *connect.Status
	return errors.As(err, &said) && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, said.Code)
}

// askAgainAt is when kubectl has to ask us again: once the token expires, or the server has to be asked whether we may still have it.
func askAgainAt(kept kube.Kept) time.Time {
	if recheck := kept.Checked.Add(recheckAfter); recheck.Before(kept.Expires) {
		return recheck
	}
	return kept.Expires
}

func (a *app) newCredentialCommand() *cobra.Command {
	var q asking
	var folder string
	c := &cobra.Command{
		Use: "credential CLUSTER", Short: "Print a cluster's token for kubectl, which calls this itself",
		Long: `Print a token for a cluster in the form that kubectl and oc expect (client.authentication.k8s.io/v1). The kubeconfigs of ocpctl
kubeconfig and ocpctl shell call this command, so that they hold no token and never expire while you may use the cluster.

The token is kept in memory ($XDG_RUNTIME_DIR) or in your cache folder, in a file that only you can read. Every ten minutes the server is
asked whether you may still have it, so the time that kubectl is told is at most ten minutes away. If the cluster answers Unauthorized,
its account was removed: get a new token with ocpctl kubeconfig CLUSTER --renew. ocpctl logout deletes what is kept.`,
		Example: "  ocpctl credential --cluster-id team-a-smoke-01 --role view",
	}
	q.addFlags(c)
	c.Flags().StringVar(&folder, "keep", "", "the `folder` for the token between two calls; default: $XDG_RUNTIME_DIR/ocpctl/tokens or ~/.cache/ocpctl/tokens")
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		if (a.OutTTY || a.OutLogged) && a.Env("KUBERNETES_EXEC_INFO") == "" {
			return exit.Misused("a token is a credential and is not printed to a terminal or a log. kubectl calls this command; see ocpctl kubeconfig --help")
		}
		keep := kube.DefaultKeep(a.Env)
		if folder != "" {
			keep.Folder = folder
		}
		kept, err := holder{a, api, id, q, keep}.getToken(ctx)
		if err != nil {
			return err
		}
		return kube.WriteCredential(a.Out, kept.Token, askAgainAt(kept))
	})
}

// renewingKubeconfig returns a kubeconfig that calls us for its token, and keeps the token that we have. folder is where it is kept; empty: where
// it usually is.
func (a *app) renewingKubeconfig(api *connect.API, id string, q asking, got minted, folder string) ([]byte, error) {
	program, err := a.Program()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	p := kube.Program{Path: program, Args: []string{"credential", "--cluster-id", id}}
	for _, flag := range []struct{ name, value string }{
		{"--role", q.role}, {"--lifetime", q.lifetime}, {"--context", api.Context.Name}, {"--keep", folder},
	} {
		if flag.value != "" {
			p.Args = append(p.Args, flag.name, flag.value)
		}
	}
	if api.Context.Name == "" {
		p.Args = append(p.Args, "--server", api.Context.Server)
	}
	if own := a.Env("OCPCTL_CONFIG"); own != "" {
		if own, err = filepath.Abs(own); err != nil {
			return nil, err
		}
		p.Env = map[string]string{"OCPCTL_CONFIG": own}
	}
	keep := kube.DefaultKeep(a.Env)
	if folder != "" {
		keep.Folder = folder
	}
	q.renew = false
	if _, err := (holder{a, api, id, q, keep}).keepToken(got); err != nil {
		return nil, err
	}
	return kube.Renewing(got.raw, p)
}
