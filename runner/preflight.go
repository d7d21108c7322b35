package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/status"
)

// The installer's credentials modes that matter here.
const (
	modeManual = "Manual" // ccoctl makes the roles
	modeMint   = "Mint"   // the cluster creates users with the keys it was installed with
)

// runPreflight compares the account, looks for obstacles and reserves capacity. Only a proven shortfall ends the attempt; everything
// else is logged and the install goes on.
func (a *attempt) runPreflight(ctx context.Context) error {
	if err := a.tools.Check(); err != nil {
		return a.noTool(ctx, "openshift-install", err)
	}
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	if err := a.checkKeys(); err != nil {
		return err
	}
	look := a.lookAround(ctx)
	if err := a.checkProblems(ctx, look); err != nil {
		return err
	}
	if err := a.reserveCapacity(ctx, look); err != nil {
		return err
	}
	if a.tool == nil && look.toolErr == nil { // after waiting for capacity, because every try would download half a gigabyte again
		return a.prepareTool(ctx)
	}
	return look.toolErr
}

// surroundings are what a preflight learns by looking alone.
type surroundings struct {
	problems    []cloud.Problem
	problemsErr error
	quotas      []contract.Quota
	quotasErr   error
	toolErr     error // of the program in the installers' directory
}

// lookAround asks everything at once that changes nothing: the cloud's obstacles and limits, an installer that is in the installers'
// directory, and the bucket's credentials, which the next phase needs.
func (a *attempt) lookAround(ctx context.Context) (s surroundings) {
	if len(a.spec.ShortZones) > 0 {
		a.noteLine("zones: %s, because earlier attempts found no capacity in %s", strings.Join(a.spec.Zones, ", "), strings.Join(a.spec.ShortZones, ", "))
	}
	plan := cloud.ReadPlan(a.spec.Platform, a.platform.DefaultType(), a.spec.InstallConfig, a.spec.Zones, a.spec.Spot)
	var together sync.WaitGroup
	together.Go(func() {
		s.problems, s.problemsErr = a.cloud.Preflight(ctx, a.cloudTarget(), a.spec.Zones, plan.Types())
	})
	together.Go(func() { s.quotas, s.quotasErr = a.cloud.Quotas(ctx, a.cloudTarget(), plan) })
	if _, err := a.tools.Installed(); err == nil {
		together.Go(func() { s.toolErr = a.prepareTool(ctx) })
	}
	if a.bucketKeys != nil {
		together.Go(func() { _, _ = a.bucketKeys.Retrieve(ctx) }) // kept if they come; who needs them asks again
	}
	together.Wait()
	return s
}

// prepareTool finds the installer and the release that it installs.
func (a *attempt) prepareTool(ctx context.Context) error {
	if err := a.needTool(ctx); err != nil {
		return err
	}
	return a.needRelease(ctx)
}

// checkKeys refuses what the installer would refuse: with Mint the keys are copied into the cluster, so they must be permanent.
func (a *attempt) checkKeys() error {
	if mode := a.spec.CredentialsMode; mode != modeMint && mode != "" || !a.keys.Empty() && !a.keys.Temporary() {
		return nil
	}
	return failure{
		Reason: "TemporaryCredentials", Whose: contract.WhoseOurs,
		Message: "credentials mode Mint copies the runner's keys into the cluster, but these keys are temporary",
		Next:    "choose a profile with credentials mode Manual, or ask an administrator to set permanent keys in clouds.aws.credentials_ref, or in credentials.ref of the account without a role",
	}
}

// checkProblems ends the attempt if something would make the install fail.
func (a *attempt) checkProblems(ctx context.Context, look surroundings) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if look.problemsErr != nil {
		a.noteLine("preflight could not be finished: %v", look.problemsErr)
	}
	var messages, next []string
	var reason, whose string
	for _, p := range look.problems {
		if !p.Block {
			a.noteLine("preflight: %s: %s; the attempt continues; %s", p.Code, p.Message, p.Next)
			continue
		}
		a.noteLine("preflight: %s: %s; %s", p.Code, p.Message, p.Next)
		if reason == "" {
			reason, whose = p.Code, cmp.Or(p.Whose, contract.WhoseUser)
		}
		messages = append(messages, p.Message)
		if !slices.Contains(next, p.Next) {
			next = append(next, p.Next)
		}
	}
	if reason == "" {
		return nil
	}
	return failure{Reason: reason, Whose: whose, Message: strings.Join(messages, "; "), Next: strings.Join(next, "; ")}
}

// waitForQuota ends an attempt that has to wait for quota. Nothing was begun, so it is not a failure.
type waitForQuota struct{ text string }

func (n waitForQuota) Error() string { return n.text }

// waitResult reports that the attempt waits.
func (n waitForQuota) waitResult() contract.Result {
	return contract.Result{
		Outcome: waiting, Reason: "QuotaInUse", Message: n.text, Whose: contract.WhoseQuota, Retryable: true,
		Next: "wait: the install starts when there is enough capacity. To start sooner, destroy a cluster or have the quota raised",
	}
}

// reserveCapacity asks the server to reserve capacity within the account's limits. What could not be measured blocks nothing.
func (a *attempt) reserveCapacity(ctx context.Context, look surroundings) error {
	quotas := look.quotas
	if look.quotasErr != nil {
		a.noteLine("preflight: quotas could not be looked up: %v; the install continues", look.quotasErr)
	}
	for i, q := range quotas {
		if q.Unknown != "" {
			quotas[i].Unknown = a.cfg.Redact.Text(q.Unknown) // the text comes from the cloud, and the server stores it
			a.noteLine("preflight: quota %s (%s) could not be looked up: %s; the install continues", q.Name, q.Code, q.Unknown)
		}
	}
	if len(quotas) == 0 {
		return nil
	}
	answer, err := a.api.sendReservation(ctx, contract.Demand{Account: a.account, Region: a.spec.Region, Quotas: quotas})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, status.ErrRefused):
		return failure{
			Reason: "ReserveRefused", Whose: contract.WhoseOurs, Message: "the server refused to reserve capacity, so nothing was created: " + err.Error(),
			Next: "report it: this is a bug in ocpctl",
		}
	case err != nil:
		a.api.Stop(err) // fenced, or the lease is over
		return err
	case answer.Answer.Stop != "":
		return status.StopAsked{Why: answer.Answer.Stop}
	case answer.Never != "":
		return failure{Reason: "QuotaTooSmall", Whose: contract.WhoseQuota, Message: answer.Never, Next: a.explainQuotas(quotas)}
	case answer.Wait != "":
		return waitForQuota{answer.Wait} // the position in the queue changes while it waits; the server reports it
	}
	return nil
}

// explainQuotas says which limits have to be raised, and where to request that.
func (a *attempt) explainQuotas(quotas []contract.Quota) string {
	var asks []string
	for _, q := range quotas {
		if q.Unknown == "" && q.Need > q.Limit {
			asks = append(asks, fmt.Sprintf("%s (%s) from %d to %d or more at %s", q.Name, q.Code, q.Limit, q.Need, a.platform.LimitsAt(a.spec.Region, q)))
		}
	}
	if len(asks) == 0 {
		asks = []string{"the limit that is too low at " + a.platform.LimitsAt(a.spec.Region, contract.Quota{})}
	}
	slices.Sort(asks)
	return fmt.Sprintf("choose a smaller profile or another region, or ask the owner of account %s to raise %s", a.account, strings.Join(slices.Compact(asks), ", and "))
}
