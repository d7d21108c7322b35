package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/console"
)

// consoleEditors returns the users of the console that have the role edit.
func consoleEditors(work contract.ConsoleWork) (editors []accessSubject) {
	for _, list := range [][]contract.Access{work.Keep, work.Give} {
		for _, one := range list {
			if one.Role == "edit" {
				editors = append(editors, accessSubject{Kind: "User", Name: one.Account})
			}
		}
	}
	return editors
}

// changeConsole makes and removes accounts of the cluster's own OAuth, and reports each. It returns the first error. Beside other work it does
// not wait until the OAuth server has read the change: an attempt of its own confirms it.
func (a *attempt) changeConsole(ctx context.Context, work contract.ConsoleWork, beside bool) (trouble error) {
	if ctx.Err() != nil {
		return nil // the caller says why
	}
	patience := a.cfg.Timings.Login
	if beside {
		patience = 0
	}
	done := (&console.Changer{
		Cluster: oauthCluster{a}, Roles: clusterRolesOf, Redact: a.cfg.Redact.Add, Poll: a.cfg.Timings.ScalePoll, Patience: patience,
	}).Change(ctx, work)
	if ctx.Err() != nil {
		return nil
	}
	for _, one := range work.Take {
		err := done.Trouble[one.ID]
		if err == nil {
			a.noteLine("the console account of %s as %s is removed", one.Reader, one.Role)
		}
		a.reportAccess(contract.AccessState{Removed: err == nil}, err, one)
		trouble = cmp.Or(trouble, err)
	}
	for _, one := range work.Give {
		err := done.Trouble[one.ID]
		var state contract.AccessState
		switch {
		case err != nil:
		case one.OpenID:
			state = a.openConsole(one)
		default:
			state, err = a.storePassword(ctx, one, done.Passwords[one.ID])
		}
		if ctx.Err() != nil {
			return nil
		}
		a.reportAccess(state, err, one)
		trouble = cmp.Or(trouble, err)
	}
	return trouble
}

// storePassword stores the password of an account where the server finds it. The account ends when the server asks for its removal.
func (a *attempt) storePassword(ctx context.Context, one contract.Access, password secret.Text) (contract.AccessState, error) {
	at := a.cfg.Now().UTC()
	key := artifacts.CredentialKey(a.spec.Cluster, a.spec.Number, at, artifacts.ConsoleFile(one.ID))
	err := a.keepTrying(ctx, a.cfg.Timings.Save, "a console account", func(ctx context.Context) error {
		_, err := a.store.PutOnce(ctx, key, []byte(password.Reveal()))
		return err
	})
	if err != nil {
		return contract.AccessState{}, fmt.Errorf("store the password in the artifact bucket: %w", err)
	}
	expires := at.Add(one.Lifetime)
	a.noteLine("%s has a console account as %s until %s", one.Reader, one.Role, expires.Format(time.RFC3339))
	return contract.AccessState{Console: true, StoredAt: at, ExpiresAt: expires}, nil
}

// openConsole returns the state of an access whose reader signs in through the server: nothing is stored.
func (a *attempt) openConsole(one contract.Access) contract.AccessState {
	at := a.cfg.Now().UTC()
	expires := at.Add(one.Lifetime)
	a.noteLine("%s can sign in to the console as %s until %s", one.Reader, one.Role, expires.Format(time.RFC3339))
	return contract.AccessState{Console: true, OpenID: true, StoredAt: at, ExpiresAt: expires}
}

// oauthCluster is the cluster as the accounts of its console need it.
type oauthCluster struct{ a *attempt }

// Get keeps the answer away from the log: a Secret may be in it.
func (o oauthCluster) Get(ctx context.Context, args ...string) (raw secret.Text, err error) {
	err = o.a.retryUntil(ctx, time.Now().Add(o.a.cfg.Timings.Reach), func() (err error) {
		raw, err = o.a.askSecret(ctx, append(append([]string{"get"}, args...), "--ignore-not-found", "-o", "json")...)
		return err
	})
	return raw, err
}

// Run does not repeat what conflicts with somebody else's change: the caller reads it again first.
func (o oauthCluster) Run(ctx context.Context, input []byte, args ...string) error {
	var conflict error
	err := o.a.retryUntil(ctx, time.Now().Add(o.a.cfg.Timings.Reach), func() error {
		err := o.a.runOC(ctx, input, args...)
		if err != nil && strings.Contains(err.Error(), "(Conflict)") {
			conflict = err
			return nil
		}
		return err
	})
	return cmp.Or(conflict, err)
}
