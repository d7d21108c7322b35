package credentials

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// Redeemed is what a link gave.
type Redeemed struct {
	Kind       people.LinkKind
	Cluster    clusters.Row
	Kubeconfig secret.Text     // of a kubeconfig link, or of one to the installer's
	User       string          // of a link to a login: kubeadmin, or the reader's account of the console
	Password   secret.Text     // … of that user
	Account    string          // of an account link
	Code       secret.Text     // of an account link: what the account has to type
	Asked      people.LinkKind // what the account then gets; empty: nothing was asked for
}

// Redeem uses up a link. An account link, which the principal must have confirmed, gives the code that the account has to type. A link to a kubeconfig that is
// still being made is not used up, and neither is a link to one of the installer's credentials that cannot be read: it has cost an approval. For a secret,
// the audit line is written before the secret is read.
func (s *Service) Redeem(ctx context.Context, p policy.Principal, handle string, origin app.Origin) (Redeemed, error) {
	who, err := ownerOf(p)
	if err != nil {
		return Redeemed{}, err
	}
	link, err := s.store.People.LinkFor(ctx, handle, p.ID)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return Redeemed{}, fmt.Errorf("read a link: %w", err)
	}
	if err := s.waitsFor(ctx, p, link, origin); err != nil {
		return Redeemed{}, err
	}
	out, err := s.breakGlass(ctx, p, link, origin)
	if err != nil {
		return Redeemed{}, err
	}
	used, err := s.store.People.UseLink(ctx, handle, who, string(origin.Source))
	switch {
	case err != nil:
		return Redeemed{}, s.errorOfUse(ctx, p, handle, err)
	case used.Kind == people.LinkOfAccount:
		name, err := s.core.AccountName(ctx, used.Account)
		return Redeemed{Kind: used.Kind, Account: name, Code: secret.New(used.Code), Asked: used.Asked}, err
	case used.Kind == people.LinkKubeconfig, used.Kind == people.LinkConsole:
		return s.redeemAccess(ctx, p, used, origin)
	}
	return out, nil
}

// breakGlass reads what a link to one of the installer's credentials is for; nothing for other links, and for one that does not work.
func (s *Service) breakGlass(ctx context.Context, p policy.Principal, link people.Link, origin app.Origin) (Redeemed, error) {
	if link.Kind != people.LinkKubeadmin && link.Kind != people.LinkInstallers {
		return Redeemed{}, nil
	}
	row, origin, err := s.core.Authorize(ctx, p, link.Cluster, policy.ActBreakGlass, origin) // the rights that the link was made with may have been withdrawn
	if err != nil {
		return Redeemed{}, err
	}
	if err := s.core.CheckReachable(ctx, row); err != nil {
		return Redeemed{}, err
	}
	out := Redeemed{Kind: link.Kind, Cluster: row, User: "kubeadmin"}
	if link.Kind == people.LinkInstallers {
		out.Kubeconfig, err = s.handOutInstallers(ctx, row, artifacts.Kubeconfig, s.core.StoreOrigin(origin, p))
		return out, err
	}
	out.Password, err = s.handOutInstallers(ctx, row, artifacts.Kubeadmin, s.core.StoreOrigin(origin, p))
	return out, err
}

// errorOfUse is the error of a link that was not used, for people.
func (s *Service) errorOfUse(ctx context.Context, p policy.Principal, handle string, err error) error {
	switch {
	case errors.Is(err, db.ErrNotFound):
		return s.noLink(ctx, p, handle)
	case errors.Is(err, db.ErrConflict):
		return app.Fail(app.Conflict, messages.AccountTaken)
	case err != nil:
		return fmt.Errorf("use a link: %w", err)
	}
	return nil
}

// waitsFor returns a Busy error while what a link is for is being made. Links that do not work pass: UseLink rejects and records them.
func (s *Service) waitsFor(ctx context.Context, p policy.Principal, link people.Link, origin app.Origin) error {
	switch {
	case link.Kind != people.LinkKubeconfig && link.Kind != people.LinkConsole:
		return nil
	case link.Access == "":
		return s.awaitAsked(ctx, p, link, origin)
	}
	given, err := s.store.Access.One(ctx, link.Cluster, link.Access)
	if err != nil {
		return fmt.Errorf("read what a link is for: %w", err)
	}
	row, err := s.store.Cluster(ctx, link.Cluster)
	switch {
	case err != nil:
		return fmt.Errorf("read a link's cluster: %w", err)
	case given.State == access.Asked && row.Desired == lifecycle.Present:
		return app.Fail(app.Busy, messages.AccessBeingMade(row.Name, given.Kind == access.Console)+" Your link still works.")
	}
	return nil
}

// redeemAccess hands out what a link was made for, if that may still be had.
func (s *Service) redeemAccess(ctx context.Context, p policy.Principal, used people.Link, origin app.Origin) (Redeemed, error) {
	given, err := s.accessOf(ctx, p, used, origin)
	if err != nil {
		return Redeemed{}, err
	}
	row, _, origin, err := s.core.AuthorizeAccess(ctx, p, used.Cluster, policy.ClusterRole(given.Role), origin) // the rights that the link was made with may have been withdrawn
	if err != nil {
		return Redeemed{}, err
	}
	if err := s.core.CheckReachable(ctx, row); err != nil {
		return Redeemed{}, err
	}
	switch given.State {
	case access.Ready:
	case access.Failed:
		return Redeemed{}, app.Fail(app.Conflict, sayNotMade(row.Name, given))
	default:
		return Redeemed{}, app.Fail(app.Conflict, fmt.Sprintf("The %s of %s that this link is for was revoked, or its time is over. Request a new one.", messages.AccessKind(given.Kind == access.Console), row.Name))
	}
	out := Redeemed{Kind: used.Kind, Cluster: row}
	if given.Kind == access.Console {
		out.User = given.Account
		out.Password, err = s.handOutPassword(ctx, row, given, s.core.StoreOrigin(origin, p))
		return out, err
	}
	out.Kubeconfig, err = s.handOut(ctx, row, given, s.core.StoreOrigin(origin, p))
	return out, err
}
