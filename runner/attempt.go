package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/store/artifacts"
)

// attempt is one attempt at work. It belongs to one goroutine.
type attempt struct {
	cfg   Config
	spec  contract.Spec
	api   *client
	say   *reporter
	cloud Cloud
	store *artifacts.Store
	tool  *installer.Tool
	log   *os.File // every line the installer printed, redacted

	account string // as the cloud told it

	dir       string // the install directory in use
	renders   int
	rendered  time.Time         // when dir was begun; what is in it goes stale
	identity  contract.Identity // of dir
	console   string            // URL, read from the log
	complaint string            // the last error the installer told of
}

// phase is one step of an attempt.
type phase struct {
	name    string // as lifecycle spells it
	percent int
	step    string
	run     func(context.Context) error
}

var plainVersion = regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]{0,63}$`)

// work makes the attempt and says how it ended. It never fails otherwise.
func (a *attempt) work(ctx context.Context) contract.Result {
	err := a.prepare(ctx)
	if err == nil {
		switch a.spec.Kind {
		case contract.KindCreate:
			var outputs *contract.Outputs
			if outputs, err = a.create(ctx); err == nil {
				return contract.Result{Outcome: succeeded, Outputs: outputs}
			}
		case contract.KindDestroy:
			if err = a.destroy(ctx); err == nil {
				return contract.Result{Outcome: succeeded}
			}
		default:
			err = failure{Reason: "UnknownKind", Message: fmt.Sprintf("this runner knows no attempt of kind %q; it is older than its server, upgrade it", a.spec.Kind)}
		}
	}
	return a.ending(ctx, err)
}

// prepare makes what every phase needs. It asks nobody anything.
func (a *attempt) prepare(ctx context.Context) (err error) {
	if !plainVersion.MatchString(a.spec.Version) {
		return failure{Reason: "UnknownVersion", Message: fmt.Sprintf("%q is no OpenShift version; correct the profile", a.spec.Version)}
	}
	temp := filepath.Join(a.cfg.WorkDir, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return fmt.Errorf("make the work directory: %w", err)
	}
	a.log, err = os.OpenFile(filepath.Join(a.cfg.WorkDir, "attempt.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("make the attempt's log: %w", err)
	}
	a.tool = &installer.Tool{
		Binary: filepath.Join(a.cfg.Installers, a.spec.Version, "openshift-install"), Home: filepath.Join(a.cfg.WorkDir, "home"),
		Env: a.cfg.Env, Redact: a.cfg.Redact, StopWait: a.cfg.Timings.StopWait,
	}
	a.store, err = artifacts.New(ctx, artifacts.Config{
		Bucket: a.spec.Bucket, KMSKey: a.spec.KMSKey, OperateKMSKey: a.spec.OperateKMSKey, TempDir: temp, Now: a.cfg.Now,
	})
	if err != nil {
		return err
	}
	a.cloud, err = a.cfg.Cloud(ctx, a.spec.Region)
	return err
}

// begin tells that a phase began and runs it, unless the attempt was stopped before.
func (a *attempt) begin(ctx context.Context, p phase) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.say.Phase(p.name, p.percent, p.step)
	return p.run(ctx)
}

// line takes one line the installer printed, redacted already.
func (a *attempt) line(line string) {
	fmt.Fprintln(a.log, line)
	a.say.Line(line)
}

// note puts words of our own into the log people see.
func (a *attempt) note(format string, args ...any) {
	a.line("ocpctl: " + a.cfg.Redact.Text(fmt.Sprintf(format, args...)))
}

// needTool refuses an attempt whose installer is not there, before anything was begun with it.
func (a *attempt) needTool() error {
	if _, err := os.Stat(a.tool.Binary); err != nil {
		return failure{
			Reason:  "InstallerMissing",
			Message: fmt.Sprintf("this installation has no openshift-install for version %s; an administrator has to add it", a.spec.Version),
		}
	}
	return nil
}

// target is the cluster as the cloud has to look for it.
func (a *attempt) target() cloud.Target {
	return cloud.Target{
		Region: a.spec.Region, Name: a.spec.Name, BaseDomain: a.spec.BaseDomain, Cluster: a.spec.Cluster,
		Installation: a.spec.Installation, Account: a.spec.Account, Identities: a.spec.Identities,
	}
}

// compareAccount asks which account our credentials belong to and compares it with every one that was recorded.
// A teardown in another account finds nothing, exits with 0 and leaks everything.
func (a *attempt) compareAccount(ctx context.Context) error {
	account, err := a.cloud.Account(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failure{Reason: "CloudUnanswered", Retryable: true, Message: fmt.Sprintf("the cloud did not say which account the runner's credentials belong to (%v); nothing was begun, it is tried again", err)}
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
	return failure{Reason: "WrongAccount", Message: fmt.Sprintf(
		"the runner's credentials belong to account %s, the cluster to account %s; nothing was done. An administrator has to give the runner credentials of account %s", have, want, want)}
}

// clean removes what the attempt left in its work directory: it holds secrets. Only the redacted log stays.
func (a *attempt) clean() {
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
