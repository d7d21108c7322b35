package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/platform"
)

// noProgram is the exit code of a program that could not be run, as in shells.
const noProgram = 127

// destroyCluster runs the installer's destroy for every identity, the newest last, then ccoctl's delete for every name it was run with,
// and then removes by exact name what both are known to leave behind. Their results decide nothing, because an exit code is not a
// count. But their end is reported, because only a count taken after it is a proof.
func (a *attempt) destroyCluster(ctx context.Context, dirs []string) error {
	if len(a.spec.Identities) == 0 {
		return nil // nothing was recorded, so nothing was created, and no name is known to be ours
	}
	mentions, err := a.refuseContested(ctx)
	if err != nil {
		return err
	}
	if len(mentions) > 0 { // the cloud's names tell everything of the cluster, and what the destroyer would do is done by exact name
		a.noteLine("openshift-install destroy does not run: it takes whatever mentions the cluster in its name, and these are somebody else's: %s", listContested(mentions))
		dirs = nil
	}
	if err := a.detachNetworks(ctx); err != nil {
		return err
	}
	last := contract.ToolExit{Code: noProgram}
	if a.hub != nil {
		last.Code = 0
	}
	if a.hosted != nil {
		a.endHosted(ctx)
	}
	err = a.destroyAll(ctx, dirs, &last)
	if err == nil && ctx.Err() == nil {
		a.removeCredentials(ctx, &last)
	}
	last.At = time.Now().UTC()
	a.say.Fact(contract.Report{ToolExit: &last})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	a.removeLeftovers(ctx, a.cloudTarget())
	return nil
}

// refuseContested ends the teardown before anything is deleted if it would also delete resources that may be somebody else's: destroyers
// delete by tag without asking. It is retried like every teardown. What only mentions the cluster is returned.
func (a *attempt) refuseContested(ctx context.Context) (mentions []cloud.Contested, err error) {
	a.say.Step(8, "checking for resources that another cluster also owns")
	contested, err := a.cloud.Contested(ctx, a.cloudTarget())
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, cloudFailed(fmt.Sprintf("nothing was deleted, because ocpctl could not check whether another cluster also owns some of the resources (%v)", err), refusalsOf(err))
	}
	var marked []cloud.Contested
	for _, each := range contested {
		if each.Mention {
			mentions = append(mentions, each)
		} else {
			marked = append(marked, each)
		}
	}
	if len(marked) == 0 {
		return mentions, nil
	}
	return nil, failure{
		Reason: "ResourcesContested", Whose: contract.WhoseOurs, Retryable: true,
		Message: "nothing was deleted: the teardown would also delete these resources, which may not be this cluster's: " + listContested(marked),
		Next:    "ask an administrator to find out whose each resource is, and to remove the wrong tag or to give the resource another name (for a DNS record see docs/runbooks/destroy-blocked.md); ocpctl tries the teardown again",
	}
}

// listContested names the first of contested resources.
func listContested(contested []cloud.Contested) string {
	var named []string
	for _, each := range contested[:min(len(contested), shownItems)] {
		named = append(named, fmt.Sprintf("%s (%s)", each.ID, each.Mark))
	}
	if more := len(contested) - shownItems; more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(named, "; ")
}

// detachNetworks ends what could not be told to be the cluster's after the destroyer. If that fails, the destroyer does not run: something would be
// left that no count sees.
func (a *attempt) detachNetworks(ctx context.Context) error {
	ended, err := a.cloud.Detach(ctx, a.cloudTarget())
	for _, name := range ended {
		a.noteLine("removed without the installer: %s", name)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		refused := append(a.refusals.addUndeleted(err), refusalsOf(err)...)
		return cloudFailed(fmt.Sprintf("the destroyer did not run, because ocpctl could not remove what has to go before it (%v)", err), refused)
	}
	return nil
}

// destroyAll divides the deadline: a destroyer that loops uses up only its own share, and one with nothing to remove leaves its share
// to the next.
func (a *attempt) destroyAll(ctx context.Context, dirs []string, last *contract.ToolExit) error {
	until := time.Now().Add(a.spec.DestroyDeadline)
	for i, dir := range dirs {
		share := max(a.spec.DestroyDeadline/time.Duration(len(dirs)), time.Until(until)/time.Duration(len(dirs)-i))
		exit, err := a.destroyOne(ctx, dir, share)
		if err != nil {
			return err
		}
		last.Code = exit.Code
		a.cfg.Log.Info("destroyer ended", "code", exit.Code, "stopped", exit.Stopped)
		switch {
		case ctx.Err() != nil:
			return nil
		case exit.TimedOut:
			a.timedOut = true
			a.noteLine("destroy did not finish within its deadline and was stopped; what is left is counted")
		case exit.Stopped:
			a.noteLine("destroy was stopped: it cannot remove %s; what is left is counted", a.refusals.describeRefusals(a.refusals.stuck))
		case exit.Code != 0:
			a.noteLine("destroy ended with exit code %d; what is left is counted", exit.Code)
		}
		a.say.Step(10+50*(i+1)/len(dirs), fmt.Sprintf("the installer's destroy ended (%d of %d)", i+1, len(dirs)))
	}
	return nil
}

// errStuck ends a destroyer that would retry the same resources for ever.
var errStuck = errors.New("the destroyer keeps retrying a resource that it cannot remove")

// destroyOne works on a copy, because a successful destroy deletes the metadata that it needs.
func (a *attempt) destroyOne(ctx context.Context, dir string, deadline time.Duration) (installer.Exit, error) {
	work := dir + "-work"
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		return installer.Exit{}, fmt.Errorf("copy the restored directory: %w", err)
	}
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	refusals := installer.NewRefusals(a.cfg.Timings.StuckTimes, a.cfg.Timings.BlockedTimes)
	exit, err := a.tool.Run(run, installer.Command{
		Args: []string{"destroy", "cluster", "--dir", work, "--log-level=debug"}, Deadline: deadline, OnLine: func(line string) {
			a.addLine(line)
			if refusals.Line(line) {
				stop(errStuck)
			}
		},
	})
	if err != nil && ctx.Err() != nil {
		return exit, context.Cause(ctx)
	}
	a.refusals.hearRefusals(refusals.All())
	return exit, err
}

// removeCredentials removes what ccoctl created, under every name it was ever run with. ccoctl always exits with 0, so its output
// goes to the log and the count decides. Without ccoctl it removes what it finds by name.
func (a *attempt) removeCredentials(ctx context.Context, last *contract.ToolExit) {
	var done []string
	for _, id := range a.spec.Identities {
		if id.CCOName == "" || slices.Contains(done, id.CCOName) {
			continue
		}
		done = append(done, id.CCOName)
		tool, err := a.findCcoctl(ctx)
		if err == nil && a.platform.DeleteNeedsRequests() {
			err = a.tools.CredentialsRequests(ctx, a.ccoDir("credentials-requests"), "--cloud="+a.spec.Platform)
		}
		if err != nil {
			a.noteLine("ccoctl is not available (%v); what it created as %s is removed by name and counted", err, id.CCOName)
			continue
		}
		a.say.Step(62, "removing the cluster's own credentials")
		exit, err := tool.Run(ctx, installer.Command{
			Args: a.platform.DeleteCredentials(platform.Credentials{
				Name: id.CCOName, Region: cmp.Or(id.Region, a.spec.Region), Requests: a.ccoDir("credentials-requests"),
			}),
			Deadline: a.cfg.Timings.CCODelete, OnLine: func(line string) {
				a.addLine(line)
				if refused, ok := installer.RefusalIn(line); ok {
					a.refusals.keepRefusal(refused)
				}
			},
		})
		if err != nil {
			a.noteLine("ccoctl did not run: %v; what it created as %s is counted", err, id.CCOName)
			continue
		}
		last.Code = exit.Code
		a.cfg.Log.Info("ccoctl ended", "code", exit.Code, "stopped", exit.Stopped)
		if exit.Code != 0 {
			a.noteLine("ccoctl delete ended with exit code %d; what is left of %s is counted", exit.Code, id.CCOName)
		}
	}
}

// removeLeftovers deletes, by exact name, what the installer cannot find. What it cannot delete is found by the verification.
func (a *attempt) removeLeftovers(ctx context.Context, target cloud.Target) {
	if len(a.spec.Identities) == 0 {
		return // nothing was recorded, so no name is known to be ours
	}
	deleted, err := a.cloud.Remove(ctx, target)
	how := "removed"
	if a.hub == nil {
		how = "removed without the installer"
	}
	for _, name := range deleted {
		a.noteLine("%s: %s", how, name)
	}
	if err != nil && ctx.Err() == nil {
		a.refusals.addUndeleted(err)
	}
	if err != nil {
		a.noteLine("not everything could be removed by name: %v", err)
	}
}
