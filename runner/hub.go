package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/status"
)

// createOnHub runs the phases of a create without an installer. Before the acknowledged record nothing exists outside; after it, any exit except
// success needs a teardown.
func (a *attempt) createOnHub(ctx context.Context) (outputs *contract.Outputs, err error) {
	for _, p := range []phase{
		{"preflight", 1, "checking the hub and the rights on it", a.preflightOnHub},
		{"rendering", 10, "writing what will be applied", a.renderOnHub},
		{"recording", 20, "storing the cluster's identity", func(ctx context.Context) error {
			if err := a.requireRecord(ctx); err != nil {
				return err
			}
			return a.recordIdentity(ctx)
		}},
		{"installing", 40, "applying it on the hub", a.applyOnHub},
		{"configuring", 80, "storing addresses and credentials", func(ctx context.Context) error {
			if a.hosted != nil {
				outputs, err = a.configureHosted(ctx)
				return err
			}
			if outputs, err = a.configureOnHub(ctx); err != nil {
				return err
			}
			return a.unlessStopped(ctx, "giving access", a.accessOnHub(ctx))
		}},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

func (a *attempt) preflightOnHub(ctx context.Context) error {
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	problems, err := a.hub.Preflight(ctx, a.cloudTarget(), nil, nil)
	if err == nil && a.hosted != nil {
		var more []cloud.Problem
		more, err = a.hosted.CheckOrder(ctx, a.order())
		problems = append(problems, more...)
	}
	if err := a.checkProblems(ctx, surroundings{problems: problems, problemsErr: err}); err != nil || !a.hub.NeedsPull(a.order()) {
		return err
	}
	_, err = a.pullSecret(ctx)
	return err
}

// renderOnHub chooses the names and writes the directory that is archived: what will be applied, and what a teardown goes by.
func (a *attempt) renderOnHub(context.Context) error {
	a.rendered, a.dir = a.cfg.Now(), filepath.Join(a.cfg.WorkDir, "install")
	a.identity = contract.Identity{InfraID: a.nameScope().NewInfraID(), ClusterUUID: names.NewUUID(), Account: a.account, Region: a.spec.Region}
	files, err := a.hub.Render(a.order())
	if err != nil {
		return failure{
			Reason: "ProfileUnusable", Whose: contract.WhoseOurs, Message: fmt.Sprintf("nothing was made: %v", err),
			Next: "ask an administrator of this installation to correct the profile",
		}
	}
	into := filepath.Join(a.dir, artifacts.RecordDir)
	if err := os.MkdirAll(into, 0o750); err != nil {
		return fmt.Errorf("create the directory: %w", err)
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s\x00%s\x00", name, files[name])
		err = errors.Join(err, os.WriteFile(filepath.Join(into, name), files[name], 0o640))
	}
	a.identity.ReleaseDigest = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	a.identity.Metadata = string(a.nameScope().MetadataJSON(namesOf(a.identity)))
	return errors.Join(err, writeMetadata(a.dir, []byte(a.identity.Metadata)), a.writeRecord())
}

// applyOnHub is the only place where such a create changes a hub, and it is reached only after the record was acknowledged.
func (a *attempt) applyOnHub(ctx context.Context) error {
	if a.api.LeaseOver() {
		a.api.Stop(status.ErrLeaseOver)
		return status.ErrLeaseOver
	}
	if err := a.explainHub(ctx, "it could not be made", a.hub.Create(ctx, a.order(), a.pull)); err != nil || a.hosted == nil {
		return err
	}
	return a.awaitHosted(ctx)
}

// explainHub is the failure of a call of the hub.
func (a *attempt) explainHub(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, cloud.ErrCredentials):
		return failure{
			Reason: "CredentialsRefused", Whose: contract.WhoseOurs, Retryable: true, Message: what + ": " + err.Error(), // it may be renewed meanwhile
			Next: "ocpctl tries again; if it happens again, ask an administrator of this installation to renew the token behind credentials.ref of the account's document",
		}
	}
	return failure{
		Reason: "HubRefused", Whose: contract.WhoseCloud, Retryable: true, Message: what + ": " + err.Error(),
		Next: "ocpctl tries again; if it happens again, ask an administrator of the hub to see that its API works and that the runner has the rights in deploy/hub.yaml",
	}
}

// configureOnHub stores what the cluster is. No kubeconfig of its own is made: readers have theirs, and a runner asks the hub.
func (a *attempt) configureOnHub(ctx context.Context) (*contract.Outputs, error) {
	out := &contract.Outputs{APIURL: a.spec.Server, StoredAt: a.cfg.Now().UTC()}
	return out, a.keepArtifact(ctx, artifacts.MetadataKey(a.spec.Cluster, a.spec.Number, out.StoredAt), []byte(a.identity.Metadata), a.cfg.Timings.Save)
}

// hubKubeconfig returns a kubeconfig for people: with the hub's address as its document says, which runners may reach in another way.
func (a *attempt) hubKubeconfig(t provision.Token) ([]byte, error) {
	a.cfg.Redact.Add(t.Secret)
	return writeKubeconfig(a.spec.Name, a.order().InfraID, a.spec.Server, base64.StdEncoding.EncodeToString([]byte(t.CA)), object{"token": t.Secret.Reveal()})
}

// accessOnHub brings the accounts of a cluster into agreement with what the server says. What cannot be done is reported for each.
func (a *attempt) accessOnHub(ctx context.Context) error {
	work, err := a.api.accessWork(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // the answer said stop
		return context.Cause(ctx)
	}
	there, trouble := a.accounts.Accounts(ctx, a.order())
	stays := slices.Clone(work.Keep)
	for _, one := range work.Give {
		stays = append(stays, one.Account)
	}
	for _, one := range work.Take {
		err := trouble
		if err == nil {
			err = a.accounts.Take(ctx, a.order(), one.Account)
		}
		a.reportAccess(contract.AccessState{Removed: true}, err, one)
		trouble = cmp.Or(trouble, err)
	}
	for _, account := range there {
		if !slices.Contains(stays, account) {
			trouble = cmp.Or(trouble, a.accounts.Take(ctx, a.order(), account))
		}
	}
	for _, one := range work.Give {
		state, err := a.giveOnHub(ctx, one)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.reportAccess(state, err, one)
		trouble = cmp.Or(trouble, err)
	}
	if console := work.Console; console != nil {
		a.reportAccess(contract.AccessState{Console: true, Removed: true}, nil, console.Take...)
		a.reportAccess(contract.AccessState{}, errors.New("it has no console of its own"), console.Give...)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if trouble == nil {
		return nil
	}
	return failure{
		Reason: "AccessUnchanged", Whose: contract.WhoseCloud, Retryable: true, Message: a.cfg.Redact.Text(trouble.Error()),
		Next: "see that the hub's API works and that the runner can reach it; docs/runbooks/access-not-revoked.md has the steps",
	}
}

// giveOnHub makes a reader's account, and stores the kubeconfig with its token where the server finds it.
func (a *attempt) giveOnHub(ctx context.Context, one contract.Access) (contract.AccessState, error) {
	token, err := a.accounts.Give(ctx, a.order(), one.Account, one.Role, max(one.Lifetime, 10*time.Minute))
	if err != nil {
		return contract.AccessState{}, err
	}
	kubeconfig, err := a.hubKubeconfig(token)
	if err != nil {
		return contract.AccessState{}, err
	}
	return a.storeAccess(ctx, one, kubeconfig, token.Expires)
}

// order describes the cluster for its kind.
func (a *attempt) order() provision.Order {
	infraID, _ := a.cloudTarget().NewestIdentity()
	return provision.Order{Cluster: a.spec.Cluster, Name: a.spec.Name, InfraID: infraID, Text: a.spec.InstallConfig, Tags: a.spec.Tags, Version: a.spec.Version, Release: a.spec.ReleaseImage, Domain: a.spec.BaseDomain}
}
