package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// LinkLasts is how long a link to a secret works.
const LinkLasts = 10 * time.Minute

const (
	accountLasts    = 15 * time.Minute // a link in a reply on a pull request; it gives nothing to whoever only sees it
	breakGlassLasts = 24 * time.Hour
)

// Link is an address that works once.
type Link struct {
	URL       secret.Text // whoever signs in as the right one there gets what it is for
	ExpiresAt time.Time
}

// linkPath is what the handle of a link follows in its address.
const linkPath = "/links/"

// KubeconfigLink makes a link to a ready cluster's kubeconfig that works once, for this principal alone.
func (d *Service) KubeconfigLink(ctx context.Context, p policy.Principal, ref string, deed app.Deed) (Link, error) {
	row, deed, err := d.core.Authorize(ctx, p, ref, policy.ActKubeconfig, deed)
	if err != nil {
		return Link{}, err
	}
	if err := app.CheckReachable(row); err != nil {
		return Link{}, err
	}
	return d.link(ctx, store.Link{Kind: store.LinkKubeconfig, Principal: p.ID, Cluster: row.ID}, LinkLasts, d.core.Origin(deed, p))
}

// BreakGlass asks for a cluster's kubeadmin password. A platform admin other than the one who asks has to approve. Asking
// again returns what waits already.
func (d *Service) BreakGlass(ctx context.Context, p policy.Principal, ref string, deed app.Deed) (app.Approval, error) {
	row, deed, err := d.core.Authorize(ctx, p, ref, policy.ActBreakGlass, deed)
	if err != nil {
		return app.Approval{}, err
	}
	if deed, err = app.CheckReason(deed, true); err != nil {
		return app.Approval{}, err
	}
	if err := app.CheckReachable(row); err != nil {
		return app.Approval{}, err
	}
	a, err := d.store.AskKubeadmin(ctx, row.ID, breakGlassLasts, d.core.Origin(deed, p))
	if errors.Is(err, store.ErrConflict) {
		return app.Approval{}, app.Fail(app.Conflict, "The kubeadmin password of %s cannot be requested now: another request is pending, or no password is stored. "+
			"The list of approvals shows pending requests.", row.Name)
	}
	if err != nil {
		return app.Approval{}, fmt.Errorf("request the password: %w", err)
	}
	return d.core.SeenBy(p, a), nil
}

// KubeadminLink makes a link to the kubeadmin password once break-glass was approved: one approval, one link, one look.
func (d *Service) KubeadminLink(ctx context.Context, p policy.Principal, ref string, deed app.Deed) (Link, error) {
	row, deed, err := d.core.Authorize(ctx, p, ref, policy.ActBreakGlass, deed)
	if err != nil {
		return Link{}, err
	}
	if err := app.CheckReachable(row); err != nil {
		return Link{}, err
	}
	link, err := d.link(ctx, store.Link{Kind: store.LinkKubeadmin, Principal: p.ID, Cluster: row.ID}, LinkLasts, d.core.Origin(deed, p))
	if errors.Is(err, store.ErrNotFound) {
		return Link{}, app.Fail(app.Conflict, "You have no valid approval for the kubeadmin password of %s. Request one with break-glass, and wait "+
			"until another platform admin approves it.", row.Name)
	}
	return link, err
}

// AccountLink makes a link by which whoever signs in says that an account elsewhere, e.g. github:maya, is theirs.
// The number is the account's own there, which no renaming changes.
func (d *Service) AccountLink(ctx context.Context, account, number string, deed store.Deed) (Link, error) {
	return d.link(ctx, store.Link{Kind: store.LinkOfAccount, Account: account, Number: number}, accountLasts, deed)
}

func (d *Service) link(ctx context.Context, l store.Link, lasts time.Duration, deed store.Deed) (Link, error) {
	handle, made, err := d.store.NewLink(ctx, l, lasts, deed)
	if err != nil {
		return Link{}, fmt.Errorf("create a link: %w", err)
	}
	return Link{URL: secret.New(strings.TrimSuffix(d.ui, "/") + linkPath + handle), ExpiresAt: made.ExpiresAt}, nil
}

// Redeemed is what a link was for.
type Redeemed struct {
	Kind       store.LinkKind
	Cluster    store.Row
	Kubeconfig []byte      // of a kubeconfig link
	Password   secret.Text // of a kubeadmin link; the user is kubeadmin
	Account    string      // of an account link: it is the principal's now
}

// noLink is told of every link that does not work, whatever the reason; the audit trail knows it.
func noLink() error {
	return app.Fail(app.NotFound, "This link is not valid. A link works once, for a limited time, and only for the person it was made for. Request a new one.")
}

// LinkFor says what a link is for without using it, for a page that asks whether to.
func (d *Service) LinkFor(ctx context.Context, p policy.Principal, handle string) (store.Link, error) {
	link, err := d.store.LinkFor(ctx, handle, p.ID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Link{}, noLink()
	}
	if err != nil {
		return store.Link{}, fmt.Errorf("read a link: %w", err)
	}
	return link, nil
}

// Means refuses to use an account's link for whoever does not say which account is theirs. A page asks; where there is none,
// somebody who only follows a link that was sent to them would let the sender act as them. What does not work passes: Redeem
// tells it, and writes it down.
func (d *Service) Means(ctx context.Context, p policy.Principal, handle, account string) error {
	link, err := d.store.LinkFor(ctx, handle, p.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("read a link: %w", err)
	case link.Kind != store.LinkOfAccount || link.Account == account:
		return nil
	}
	return &app.Error{Kind: app.Invalid, Message: fmt.Sprintf("This link connects the account %s to you: whoever uses that account then acts as you. Nothing was changed. "+
		"Confirm it if you requested the link from that account yourself. If somebody sent it to you, do not.", link.Account),
		Fields: []app.Field{{Name: "account", Detail: "it must be the account that the link is for", Accept: []string{link.Account}}}}
}

// Redeem uses a link. An account's makes the account the principal's, who must have been asked. Where it leads to a secret the audit line is written before the secret is read.
func (d *Service) Redeem(ctx context.Context, p policy.Principal, handle string, deed app.Deed) (Redeemed, error) {
	who, err := owner(p)
	if err != nil {
		return Redeemed{}, err
	}
	used, err := d.store.UseLink(ctx, handle, who, string(deed.Door))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Redeemed{}, noLink()
	case errors.Is(err, store.ErrConflict):
		return Redeemed{}, app.Fail(app.Conflict, "This account is linked to somebody else. That person or a platform admin must unlink it first.")
	case err != nil:
		return Redeemed{}, fmt.Errorf("use a link: %w", err)
	case used.Kind == store.LinkOfAccount:
		return Redeemed{Kind: used.Kind, Account: used.Account}, nil
	}
	act := policy.ActKubeconfig
	if used.Kind == store.LinkKubeadmin {
		act = policy.ActBreakGlass
	}
	row, deed, err := d.core.Authorize(ctx, p, used.Cluster, act, deed) // what the link was made with may have been taken away
	if err != nil {
		return Redeemed{}, err
	}
	if err := app.CheckReachable(row); err != nil {
		return Redeemed{}, err
	}
	out := Redeemed{Kind: used.Kind, Cluster: row}
	if used.Kind == store.LinkKubeconfig {
		out.Kubeconfig, err = d.handOut(ctx, row, artifacts.Kubeconfig, d.core.Origin(deed, p))
		return out, err
	}
	raw, err := d.handOut(ctx, row, artifacts.Kubeadmin, d.core.Origin(deed, p))
	out.Password = secret.New(strings.TrimSpace(string(raw)))
	return out, err
}

// Accounts lists the principal's accounts elsewhere, e.g. github:maya.
func (d *Service) Accounts(ctx context.Context, p policy.Principal) ([]string, error) {
	list, err := d.store.AccountsOf(ctx, p.ID)
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	names := make([]string, 0, len(list))
	for _, a := range list {
		names = append(names, a.Account)
	}
	return names, nil
}

// Unlink makes an account the principal's no longer. A platform admin of every team may unlink anybody's.
func (d *Service) Unlink(ctx context.Context, p policy.Principal, account string, deed app.Deed) error {
	owner := p.ID
	if p.May(policy.ActCatalogue, policy.EveryTeam) {
		owner = ""
	}
	err := d.store.Unlink(ctx, account, owner, d.core.Origin(deed, p))
	if errors.Is(err, store.ErrNotFound) {
		return app.Fail(app.NotFound, "The account %s is not linked to you. Your own page lists your linked accounts.", account)
	}
	if err != nil {
		return fmt.Errorf("unlink an account: %w", err)
	}
	return nil
}

// SignedIn brings the principal's accounts elsewhere up to what its sign-in showed: whoever left a team acts for it from nowhere
// any more.
func (d *Service) SignedIn(ctx context.Context, p policy.Principal, door policy.Door) error {
	who, err := owner(p)
	if err != nil {
		return err
	}
	if err := d.store.SignedIn(ctx, who, string(door)); err != nil {
		return fmt.Errorf("update accounts: %w", err)
	}
	return nil
}

// owner is who signed in, with what was proved.
func owner(p policy.Principal) (store.Owner, error) {
	proof, err := json.Marshal(p.Proof)
	if err != nil {
		return store.Owner{}, fmt.Errorf("encode the claims: %w", err)
	}
	return store.Owner{Principal: p.ID, Name: p.Name, Proof: proof}, nil
}
