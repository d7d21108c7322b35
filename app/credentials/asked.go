package credentials

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// What somebody asks for from an account elsewhere that is not linked to anybody is kept with the account's link, and handed over once its owner
// signed in and proved that the account is theirs.

// LinkToAsked returns the one link for somebody who asks for access to a cluster from such an account: it links the account, and gives what was
// asked for. What they may have is judged then. If the account is linked, and only the sign-in is too old, the link is for its owner.
func (s *Service) LinkToAsked(ctx context.Context, account, number string, row clusters.Row, want Want, origin clusters.Origin) (Link, error) {
	if err := s.core.CheckReachable(ctx, row); err != nil {
		return Link{}, err
	}
	l, lasts := people.Link{Kind: people.LinkKubeconfig, Cluster: row.ID, Role: string(want.Role)}, people.AskedLasts
	if want.Console {
		l.Kind = people.LinkConsole
	}
	owner, err := s.store.People.AccountOf(ctx, account)
	switch {
	case errors.Is(err, db.ErrNotFound):
		l.Kind, l.Asked, l.Account, l.Number, lasts = people.LinkOfAccount, l.Kind, account, number, accountLasts
	case err != nil:
		return Link{}, err
	default:
		l.Principal = owner.Principal
	}
	return s.makeLink(ctx, l, lasts, origin)
}

// LinkMade returns the link to what was asked for before an account was linked, and what that is; ok is false if nothing was.
func (s *Service) LinkMade(out clusters.Outcome) (link Link, what string, ok bool) {
	return Link{URL: s.urlOf(out.Handle), ExpiresAt: out.HandleUntil}, messages.AccessKind(out.HandleOf == string(people.LinkConsole)), out.Handle != ""
}

func (s *Service) urlOf(handle string) secret.Text {
	return secret.New(strings.TrimSuffix(s.ui, "/") + linkPath + handle)
}

// askedPatience is how long whoever uses a link to what was asked for waits while it is being made.
const askedPatience = 10 * time.Second

// awaitAsked asks for the access of a link that has none yet, and waits for it. Busy: it takes longer.
func (s *Service) awaitAsked(ctx context.Context, p policy.Principal, link people.Link, origin app.Origin) error {
	row, given, _, err := s.askForAccess(ctx, p, link.Cluster, wantOf(link), origin)
	if err != nil {
		return err
	}
	if given, err = s.awaitAccess(ctx, given, askedPatience); err != nil {
		return err
	}
	if given.State == access.Asked {
		return app.Fail(app.Busy, messages.AccessBeingMade(row.Name, given.Kind == access.Console)+" Your link still works.")
	}
	return nil
}

// accessOf returns the access that a used link hands out.
func (s *Service) accessOf(ctx context.Context, p policy.Principal, used people.Link, origin app.Origin) (access.Row, error) {
	if used.Access == "" {
		_, given, _, err := s.askForAccess(ctx, p, used.Cluster, wantOf(used), origin)
		return given, err
	}
	given, err := s.store.Access.One(ctx, used.Cluster, used.Access)
	if err != nil {
		err = fmt.Errorf("read what a link is for: %w", err)
	}
	return given, err
}

// wantOf is what a link that has no access yet is for.
func wantOf(l people.Link) Want {
	return Want{Role: policy.ClusterRole(l.Role), Console: l.Kind == people.LinkConsole}
}

// BeginProof keeps that the principal goes to prove that the account of a link is theirs, and returns the state with which their browser comes back.
func (s *Service) BeginProof(ctx context.Context, p policy.Principal, handle string) (state string, err error) {
	state = rand.Text()
	err = s.store.People.BeginProof(ctx, handle, p.ID, state)
	if errors.Is(err, db.ErrNotFound) {
		err = s.noLink(ctx, p, handle)
	}
	return state, err
}

// Prove links the account of a link to the principal if it is the one that confirm returns: its number and login on GitHub, as its owner proved
// there. next is the part of a link after its URL's last slash: it gives what was asked for; empty: nothing was.
func (s *Service) Prove(ctx context.Context, p policy.Principal, handle, state string, confirm func() (number int64, login string, err error), origin app.Origin) (next string, err error) {
	link, err := s.store.People.UseProof(ctx, handle, p.ID, state)
	if errors.Is(err, db.ErrNotFound) {
		return "", app.Fail(app.Conflict, fmt.Sprintf("Nothing was linked. GitHub's confirmation is for a page that you opened more than %d minutes ago, signed in as somebody else, or used before. "+
			"Open the link and continue with GitHub again.", int(people.ProofLasts.Minutes())))
	}
	if err != nil {
		return "", err
	}
	number, login, err := confirm()
	if err != nil {
		return "", err
	}
	if proved := profiles.GitHubPrincipal(number); proved != link.Account {
		meant, err := s.core.AccountName(ctx, link.Account)
		if err != nil {
			return "", err
		}
		if err := s.store.AuditRefusal(ctx, s.core.StoreOrigin(origin, p), "link_refused", link.Cluster, "GitHub confirmed another account: "+proved); err != nil {
			return "", err
		}
		_, meant, _ = strings.Cut(meant, ":")
		return "", app.Fail(app.Denied, fmt.Sprintf("Nothing was linked. On GitHub you are @%s, and this link is for @%s. If @%[2]s is yours, continue with GitHub and choose it there. "+
			"If it is not, close this page, and ask for a link of your own.", login, meant))
	}
	who, err := ownerOf(p)
	if err != nil {
		return "", err
	}
	used, err := s.store.People.UseProvedLink(ctx, handle, who, string(origin.Source))
	return used.Next, s.errorOfUse(ctx, p, handle, err)
}
