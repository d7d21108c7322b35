package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/provision"
)

// Provisioner is a kind of cluster that is made on a hub: what it supplies besides what the hub does for every kind (Cloud: preflight, removal by exact
// name, count). The runner does the rest: the record before anything is made, the archive, what is stored, and who has access.
type Provisioner interface {
	Cloud

	// Render returns what Create applies, as files, by name. It calls nobody, and what it returns has no secret.
	Render(o provision.Order) (map[string][]byte, error)
	// NeedsPull reports that Create needs the installation's pull secret. It calls nobody.
	NeedsPull(o provision.Order) bool
	// Create makes what was rendered. It is called only after the record was acknowledged, and may be repeated. pull is empty if it is not needed.
	Create(ctx context.Context, o provision.Order, pull secret.Text) error
}

// Accounts is what a kind supplies besides if its clusters have no API of their own: then readers' accounts are on the hub.
type Accounts interface {
	// Accounts returns the names of the accounts that Give made.
	Accounts(ctx context.Context, o provision.Order) ([]string, error)
	// Give makes an account with a role, and returns a token of it. Both may be repeated.
	Give(ctx context.Context, o provision.Order, account, role string, lifetime time.Duration) (provision.Token, error)
	// Take removes an account. Its tokens open nothing from then on.
	Take(ctx context.Context, o provision.Order, account string) error
}

// Hosted is what a kind supplies besides if an operator on the hub makes clusters with an API of their own.
type Hosted interface {
	// CheckOrder returns what would keep the operator from making the cluster.
	CheckOrder(ctx context.Context, o provision.Order) ([]cloud.Problem, error)
	// Look looks once how far the operator is. It may be repeated.
	Look(ctx context.Context, o provision.Order) (provision.Look, error)
	// Turn has the nodes start again, or end, and looks once how far that is. It may be repeated.
	Turn(ctx context.Context, o provision.Order, on bool) (provision.Look, error)
	// Access returns how a cluster is opened that Look found ready.
	Access(ctx context.Context, o provision.Order) (provision.Access, error)
	// End has the operator remove the target's clusters, and returns what is still there, for people. It may be repeated, and comes before Remove.
	End(ctx context.Context, t cloud.Target) ([]string, error)
}

// OpenProvisioner opens a kind of cluster on a hub. It makes no call yet.
type OpenProvisioner func(region string, keys cloud.Keys) (Provisioner, error)

// openKind opens the kind that the cluster is of: nothing more for the installer's, which the platform's cloud is opened for.
func (a *attempt) openKind(ctx context.Context) (err error) {
	if kinds.Can(a.spec.Provisioner, kinds.Installer) {
		a.cloud, err = a.cfg.Clouds[a.spec.Platform].Open(ctx, a.spec.Region, a.keys)
		return err
	}
	open, known := a.cfg.Provisioners[a.spec.Provisioner]
	if !known {
		return failure{
			Reason: "UnknownKind", Whose: contract.WhoseOurs, Message: fmt.Sprintf("this runner makes no clusters of the kind %q: it is older than the server", a.spec.Provisioner),
			Next: "ask an administrator of this installation to upgrade ocpctl-runner",
		}
	}
	if a.hub, err = open(a.spec.Region, a.keys); err != nil {
		return failure{
			Reason: "InvalidCloudCredentials", Whose: contract.WhoseOurs, Message: err.Error(),
			Next: "ask an administrator of this installation to correct the secret behind credentials.ref of the account's document",
		}
	}
	a.cloud = a.hub
	a.accounts, _ = a.hub.(Accounts)
	a.hosted, _ = a.hub.(Hosted)
	return nil
}

// isLikeInstalled reports that an attempt at a cluster on a hub is the same as at one that an installer made: its API is its own.
func (a *attempt) isLikeInstalled() bool {
	switch a.spec.Kind {
	case contract.KindDestroy, contract.KindAccess:
		return kinds.Can(a.spec.Provisioner, kinds.OwnAPI)
	case contract.KindSleep, contract.KindWake:
		return a.hosted != nil
	case contract.KindObserve, contract.KindInform:
		return kinds.Can(a.spec.Provisioner, kinds.Look)
	}
	return false
}

// runOnHub runs an attempt at a cluster that no installer makes.
func (a *attempt) runOnHub(ctx context.Context) (result contract.Result, err error) {
	result.Outcome = succeeded
	switch a.spec.Kind {
	case contract.KindCreate:
		result.Outputs, err = a.createOnHub(ctx)
	case contract.KindDestroy:
		err = a.runDestroy(ctx)
	case contract.KindAccess:
		err = a.beginPhase(ctx, phase{"accessing", 20, "changing who has access", a.accessOnHub})
	default:
		err = failure{
			Reason: "NotOfKind", Whose: contract.WhoseOurs, Message: fmt.Sprintf("nothing of the kind %q can be done with it: %s", a.spec.Kind, kinds.WhyNot(a.spec.Provisioner)),
			Next: "report it: this is a bug in ocpctl",
		}
	}
	return result, err
}
