package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/platform"
)

// attempt is one running attempt. It belongs to one goroutine.
type attempt struct {
	cfg   Config
	spec  contract.Spec
	api   *client
	say   *reporter
	cloud Cloud
	hub   Provisioner // of a cluster that is made on a hub; nil: an installer makes it

	accounts Accounts // of a kind without an API of its own, else nil
	hosted   Hosted   // of a kind with one that an operator makes, else nil

	platform platform.Platform
	store    *artifacts.Store
	// bucketKeys are the store's credentials for the bucket; nil: the runner's own identity.
	bucketKeys aws.CredentialsProvider
	log        *os.File // every line the installer printed, redacted

	pull    secret.Text // looked up once
	keys    cloud.Keys  // the cloud's; empty: the default chain's
	keyFile string      // … as a file

	tools    *installer.Tools
	tool     *installer.Tool // openshift-install; nil until it was needed
	checksum string          // of the tool
	release  string          // the release image to install, pinned (create)
	groupID  string          // of the resource group called ccoName; empty: the cloud has none (create)
	ccoName  string          // of what ccoctl creates; empty: it creates nothing (create)
	roles    []string        // names of the operators' roles that it created (create, AWS)
	account  string          // as the cloud reported it

	dir      string // the current install directory
	renders  int
	rendered time.Time         // when dir was rendered; its content becomes stale
	identity contract.Identity // of dir
	console  string            // URL, read from the log
	heard    []string          // the last lines that the installer printed (create)

	oc         *installer.Tool // for queries of the cluster itself
	kubeconfig string          // path
	counted    *int            // ready workers at the last count; nil: never counted
	addons     []contract.AddonState
	accessSeen int // number of the newest request for access that was met beside other work

	refusals refusals // what could not be removed (destroy)
	timedOut bool     // the destroyer did not end before its deadline (destroy)
	warning  string   // what is not well although the attempt succeeded (wake)
	lacking  failure  // what the control plane lacks although the cluster is awake; zero: nothing (wake)
	turned   bool     // a machine was perhaps started or stopped (sleep, wake)
	awake    bool     // all machines run although the cluster was to sleep (sleep)
}

// phase is one step of an attempt.
type phase struct {
	name    string // spelt as in package lifecycle
	percent int
	step    string
	run     func(context.Context) error
}

var plainVersion = regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]{0,63}$`)

// runWork runs the attempt and returns how it ended. It never fails in another way.
func (a *attempt) runWork(ctx context.Context) contract.Result {
	err := a.prepareWork(ctx)
	if err == nil && a.spec.Kind != contract.KindCreate {
		a.tryRecord(ctx)
	}
	if err == nil && a.hub != nil && !a.isLikeInstalled() {
		var result contract.Result
		if result, err = a.runOnHub(ctx); err == nil {
			return result
		}
		return a.endAttempt(ctx, err)
	}
	if err == nil {
		switch a.spec.Kind {
		case contract.KindCreate:
			var outputs *contract.Outputs
			if outputs, err = a.runCreate(ctx); err == nil {
				return contract.Result{Outcome: succeeded, Outputs: outputs, Addons: a.readyAddons()}
			}
		case contract.KindDestroy:
			if err = a.runDestroy(ctx); err == nil {
				return contract.Result{Outcome: succeeded}
			}
		case contract.KindScale:
			if err = a.runScale(ctx); err == nil {
				a.tagResources(ctx)
				return contract.Result{Outcome: succeeded, Workers: a.counted}
			}
		case contract.KindConfigure:
			if err = a.runConfigure(ctx); err == nil {
				a.tagResources(ctx)
				return contract.Result{Outcome: succeeded, Addons: a.readyAddons()}
			}
		case contract.KindAccess:
			if err = a.changeAccess(ctx); err == nil {
				return contract.Result{Outcome: succeeded}
			}
		case contract.KindSleep, contract.KindWake:
			if err = a.runPower(ctx); err == nil {
				a.tagResources(ctx)
				return a.powerResult()
			}
		case contract.KindObserve:
			var last time.Time
			if last, err = a.runObserve(ctx); err == nil {
				return contract.Result{Outcome: succeeded, Message: formatLastUse(last), LastUse: last}
			}
		case contract.KindInform:
			var links *[]contract.Link
			if links, err = a.runInform(ctx); err == nil {
				return contract.Result{Outcome: succeeded, Message: formatLinks(links), Links: links}
			}
		case contract.KindPrepare:
			if err = a.runPrepare(ctx); err == nil {
				return contract.Result{Outcome: succeeded, Addons: a.readyAddons()}
			}
		case contract.KindTag:
			var tagged int
			if tagged, err = a.tagAgain(ctx); err == nil {
				return contract.Result{Outcome: succeeded, Message: formatTagged(tagged)}
			}
		default:
			err = failure{
				Reason: "UnknownKind", Whose: contract.WhoseOurs, Message: fmt.Sprintf("this runner does not support attempts of kind %q: it is older than the server", a.spec.Kind),
				Next: "ask an administrator of this installation to upgrade ocpctl-runner",
			}
		}
	}
	return a.endAttempt(ctx, err)
}

// prepareWork sets up what every phase needs. It contacts nothing except to look up the cloud's keys if they are a reference.
func (a *attempt) prepareWork(ctx context.Context) (err error) {
	if kinds.Can(a.spec.Provisioner, kinds.OwnAPI) && !plainVersion.MatchString(a.spec.Version) {
		return failure{
			Reason: "UnknownVersion", Whose: contract.WhoseOurs, Message: fmt.Sprintf("%q is not an OpenShift version", a.spec.Version),
			Next: "ask an administrator of this installation to correct the profile; a version looks like 4.20.3",
		}
	}
	temp := filepath.Join(a.cfg.WorkDir, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return fmt.Errorf("create the work directory: %w", err)
	}
	a.log, err = os.OpenFile(filepath.Join(a.cfg.WorkDir, "attempt.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("create the attempt's log: %w", err)
	}
	a.bucketKeys = a.bucketCredentials()
	a.store, err = artifacts.New(ctx, artifacts.Config{
		Bucket: a.spec.Bucket, KMSKey: a.spec.KMSKey, OperateKMSKey: a.spec.OperateKMSKey, Credentials: a.bucketKeys, TempDir: temp, Now: a.cfg.Now,
	})
	if err != nil {
		return err
	}
	if err := a.usePlatform(); err != nil {
		return err
	}
	if err := a.useKeys(ctx); err != nil {
		return err
	}
	a.makeTools()
	return a.openKind(ctx)
}

// usePlatform refuses a cloud that this runner does not know.
func (a *attempt) usePlatform() (err error) {
	a.platform, err = platform.Of(a.spec.Platform)
	if _, known := a.cfg.Clouds[a.spec.Platform]; err != nil || !known && kinds.Can(a.spec.Provisioner, kinds.Installer) {
		return failure{
			Reason: "UnknownPlatform", Whose: contract.WhoseOurs, Message: fmt.Sprintf("this runner does not know the platform %q: it is older than the server", a.spec.Platform),
			Next: "ask an administrator of this installation to upgrade ocpctl-runner",
		}
	}
	return nil
}

// beginPhase reports that a phase began and runs it, unless the attempt was stopped before.
func (a *attempt) beginPhase(ctx context.Context, p phase) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.say.Phase(p.name, p.percent, p.step)
	ctx, span := tracing.Start(ctx, tracing.Internal, "phase "+p.name)
	defer span.End()
	err := p.run(ctx)
	if err != nil {
		span.Fail("the phase failed or was stopped; the attempt's result says why")
	}
	return err
}

// addLine handles one line from the installer, already redacted.
func (a *attempt) addLine(line string) {
	fmt.Fprintln(a.log, line)
	a.say.Line(line)
}

// noteLine writes a line of the runner's own into the log that people see.
func (a *attempt) noteLine(format string, args ...any) {
	a.addLine("ocpctl: " + a.cfg.Redact.Text(fmt.Sprintf(format, args...)))
}

// nameScope is what this attempt's names and addresses must lie within.
func (a *attempt) nameScope() names.Scope {
	return names.Scope{
		Platform: a.spec.Platform, Installation: a.spec.Installation, Cluster: a.spec.Cluster, Attempt: a.spec.Number,
		Name: a.spec.Name, BaseDomain: a.spec.BaseDomain, Region: a.spec.Region,
	}
}

// cloudTarget describes the cluster for searches in the cloud.
func (a *attempt) cloudTarget() cloud.Target {
	identities := a.spec.Identities
	if a.identity.InfraID != "" || a.identity.CCOName != "" { // this attempt's own
		identities = append(slices.Clone(identities), a.identity)
	}
	var recorded time.Time
	if a.spec.Accepted != nil {
		recorded = a.spec.Accepted.At
	}
	return cloud.Target{
		Accepted: contract.AcceptedAt(recorded, a.spec.Cluster),
		Region:   a.spec.Region, Name: a.spec.Name, BaseDomain: a.spec.BaseDomain, Cluster: a.spec.Cluster,
		Installation: a.spec.Installation, Account: a.spec.Account, Publish: a.spec.Publish, Tags: a.spec.Tags, WaitedTags: a.spec.WaitedTags, Identities: identities,
	}
}

// compareAccount compares the account of our credentials with every recorded one. A teardown in another account finds nothing, exits
// with 0 and leaks everything.
func (a *attempt) compareAccount(ctx context.Context) error {
	account, err := a.cloud.Account(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, cloud.ErrCredentials) {
		return failure{
			Reason: "CredentialsRefused", Whose: contract.WhoseOurs, Retryable: a.hub != nil, // a hub does not say whether a token is wrong or expired
			Message: fmt.Sprintf("nothing was started: %v", err),
			Next:    cmp.Or(a.keys.Role.Advice("that ocpctl account show prints"), "ask an administrator of this installation to renew them and to test them with: "+a.platform.TestCredentials()),
		}
	}
	if errors.Is(err, cloud.ErrCredentialsExpired) {
		return failure{
			Reason: "CredentialsExpired", Whose: contract.WhoseOurs, Retryable: true,
			Message: fmt.Sprintf("nothing was started: %v", err),
			Next:    "the next attempt uses new credentials; if they have expired as well, ask an administrator of this installation to check what renews them",
		}
	}
	if err != nil {
		return failure{
			Reason: "CloudUnanswered", Whose: contract.WhoseCloud, Retryable: true,
			Message: fmt.Sprintf("ocpctl could not find out which account the runner's credentials belong to (%v), so nothing was started", err),
			Next:    "try again later; if it happens again, ask an administrator to run with the same credentials: " + a.platform.TestCredentials(),
		}
	}
	a.account = account
	a.say.Account(account)
	wanted := []string{a.spec.Account}
	for _, id := range a.spec.Identities {
		wanted = append(wanted, id.Account)
	}
	for _, want := range wanted {
		if want != "" && want != account {
			return wrongAccount(account, want)
		}
	}
	return nil
}

func wrongAccount(have, want string) failure {
	return failure{
		Reason: "WrongAccount", Whose: contract.WhoseOurs,
		Message: fmt.Sprintf("the runner's credentials belong to account %s, but the cluster belongs to account %s; nothing was changed", have, want),
		Next:    "ask an administrator of this installation to give the runner credentials for account " + want,
	}
}

// removeWorkDir deletes what the attempt left in its work directory, because it contains secrets. Only the redacted log stays.
func (a *attempt) removeWorkDir() {
	if a.log != nil {
		_ = a.log.Close()
	}
	entries, err := os.ReadDir(a.cfg.WorkDir)
	for _, entry := range entries {
		if entry.Name() != "attempt.log" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(a.cfg.WorkDir, entry.Name())))
		}
	}
	if err != nil {
		a.cfg.Log.Error("work directory not cleaned", "err", err.Error())
	}
}
