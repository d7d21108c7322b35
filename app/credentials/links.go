package credentials

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// LinkLasts is how long a link to a secret is valid.
const LinkLasts = 10 * time.Minute

const (
	accountLasts    = 15 * time.Minute // a link in a reply on a pull request; others who see it gain nothing
	breakGlassLasts = 24 * time.Hour
)

// Link is a one-time URL.
type Link struct {
	URL       secret.Text // gives access to the right person after they sign in
	ExpiresAt time.Time
}

// linkPath is the part of a link's URL before its handle.
const linkPath = "/links/"

// AccessLink returns a one-time link to a kubeconfig of a ready cluster, or to an account of its console, only for this principal. It is being
// made, or was made before, when the link is returned.
func (s *Service) AccessLink(ctx context.Context, p policy.Principal, ref string, want Want, origin app.Origin) (Link, error) {
	row, given, origin, err := s.askForAccess(ctx, p, ref, want, origin)
	if err != nil {
		return Link{}, err
	}
	link := people.Link{Kind: people.LinkKubeconfig, Principal: p.ID, Cluster: row.ID, Access: given.ID}
	if want.Console {
		link.Kind = people.LinkConsole
	}
	return s.makeLink(ctx, link, LinkLasts, s.core.StoreOrigin(origin, p))
}

// What break-glass gives: credentials that the installer made, which do not expire.
const (
	BreakGlassPassword   = "password"   // of the user kubeadmin
	BreakGlassKubeconfig = "kubeconfig" // the installer's own
)

// breakGlass lists what break-glass gives.
var breakGlass = map[string]struct {
	approval clusters.ApprovalKind
	link     people.LinkKind
}{
	BreakGlassPassword:   {clusters.ApproveKubeadmin, people.LinkKubeadmin},
	BreakGlassKubeconfig: {clusters.ApproveKubeconfig, people.LinkInstallers},
}

// BreakGlass requests one of a cluster's credentials that the installer made; empty: the password. A platform admin other than the
// requester has to approve. A repeated call returns the pending request.
func (s *Service) BreakGlass(ctx context.Context, p policy.Principal, ref, what string, origin app.Origin) (app.Approval, error) {
	asked, known := breakGlass[cmp.Or(what, BreakGlassPassword)]
	if !known {
		return app.Approval{}, &app.Error{Kind: app.Invalid, Message: "The credential cannot be requested.", Fields: []app.Field{
			app.ProblemOf("what", sayUnknownBreakGlass(what, BreakGlassPassword, BreakGlassKubeconfig)),
		}}
	}
	row, origin, err := s.core.Authorize(ctx, p, ref, policy.ActBreakGlass, origin)
	if err != nil {
		return app.Approval{}, err
	}
	if err := checkKind(row, kinds.Kubeadmin, "no credentials of an install", "Use a kubeconfig: ocpctl kubeconfig "+row.Name+"."); err != nil {
		return app.Approval{}, err
	}
	if origin, err = app.CheckReason(origin, true); err != nil {
		return app.Approval{}, err
	}
	if err := s.core.CheckReachable(ctx, row); err != nil {
		return app.Approval{}, err
	}
	a, err := s.store.AskBreakGlass(ctx, row.ID, asked.approval, breakGlassLasts, s.core.StoreOrigin(origin, p))
	if errors.Is(err, db.ErrConflict) {
		return app.Approval{}, app.Fail(app.Conflict, sayInstallersUnavailable(row.Name, string(asked.approval), isStored(row, asked.approval)))
	}
	if err != nil {
		return app.Approval{}, fmt.Errorf("request break-glass: %w", err)
	}
	return s.core.SeenBy(p, a), nil
}

// isStored reports that there is such a credential of the cluster.
func isStored(row clusters.Row, kind clusters.ApprovalKind) bool {
	if kind == clusters.ApproveKubeadmin {
		return row.Outputs.KubeadminRef != ""
	}
	return row.Outputs.KubeconfigRef != ""
}

// BreakGlassLink returns a link to a credential that the installer made, after break-glass was approved: one approval, one link, shown once.
func (s *Service) BreakGlassLink(ctx context.Context, p policy.Principal, ref, what string, origin app.Origin) (Link, error) {
	asked := breakGlass[what]
	row, origin, err := s.core.Authorize(ctx, p, ref, policy.ActBreakGlass, origin)
	if err != nil {
		return Link{}, err
	}
	if err := s.core.CheckReachable(ctx, row); err != nil {
		return Link{}, err
	}
	link, err := s.makeLink(ctx, people.Link{Kind: asked.link, Principal: p.ID, Cluster: row.ID}, LinkLasts, s.core.StoreOrigin(origin, p))
	if errors.Is(err, db.ErrNotFound) {
		return Link{}, app.Fail(app.Conflict, fmt.Sprintf("You have no valid approval for the %s of %s. Request one with break-glass, and wait "+
			"until a platform admin other than you approves it.", messages.BreakGlassSecret(string(asked.approval)), row.Name))
	}
	return link, err
}

// AccountLink returns a link with which whoever signs in there may confirm that an account elsewhere, by its principal id, is theirs. The account
// is linked once it has typed the code that they see (CompleteLink). number is the account's id
// elsewhere.
func (s *Service) AccountLink(ctx context.Context, account, number string, origin clusters.Origin) (Link, error) {
	return s.makeLink(ctx, people.Link{Kind: people.LinkOfAccount, Account: account, Number: number}, accountLasts, origin)
}

// CompleteLink links an account elsewhere, which typed the code, to the person who confirmed it on the page.
func (s *Service) CompleteLink(ctx context.Context, account, code string, origin clusters.Origin) error {
	err := s.store.People.CompleteLink(ctx, account, strings.ToUpper(code), origin)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return app.Fail(app.Invalid, fmt.Sprintf("Nothing was linked. The code is wrong, was used before or is older than ten minutes, or there were %d wrong codes. "+
			"Type it again as the page shows it, or start again with `/ocp link`.", people.MaxCodeTries))
	case errors.Is(err, db.ErrConflict):
		return app.Fail(app.Conflict, messages.AccountTaken)
	case err != nil:
		return fmt.Errorf("complete a link: %w", err)
	}
	return nil
}

func (s *Service) makeLink(ctx context.Context, l people.Link, lasts time.Duration, origin clusters.Origin) (Link, error) {
	handle, made, err := s.store.People.NewLink(ctx, l, lasts, origin)
	if err != nil {
		return Link{}, fmt.Errorf("create a link: %w", err)
	}
	return Link{URL: s.urlOf(handle), ExpiresAt: made.ExpiresAt}, nil
}

// noLink is the error for every link that does not work. Only whoever it was for learns what it was, and how they get a new one; the audit trail
// has the reason.
func (s *Service) noLink(ctx context.Context, p policy.Principal, handle string) error {
	link, used, err := s.store.People.SpentLink(ctx, handle, p.ID)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return app.Fail(app.NotFound, "This link does not work. A link works once, for a limited time, and only for the person it was made for. Only that person can make a new one, on the page of the cluster or with the command that made it.")
	case err != nil:
		return err
	}
	row := clusters.Row{}
	if link.Cluster != "" {
		if row, err = s.store.Cluster(ctx, link.Cluster); err != nil {
			return fmt.Errorf("read a link's cluster: %w", err)
		}
	}
	return app.Fail(app.NotFound, saySpent(link, used, row.Name))
}

// saySpent tells whoever a link was for that it does not work any more, and who makes a new one.
func saySpent(l people.Link, used bool, cluster string) string {
	why := "expired at " + chatops.Time(l.ExpiresAt)
	if used {
		why = "was used before, and a link works once"
	}
	switch l.Kind {
	case people.LinkOfAccount:
		again := "link"
		if l.Asked != "" {
			again = messages.AccessCommand(l.Asked == people.LinkConsole, true)
		}
		return fmt.Sprintf("This link %s. Only the account that it is for can make a new one: type %s %s there.", why, chatops.Prefix, again)
	case people.LinkKubeadmin, people.LinkInstallers:
		return fmt.Sprintf("This link to a credential of %s %s. Ask for it again on the cluster's page; another platform admin has to approve it.", cluster, why)
	}
	console := l.Kind == people.LinkConsole
	return fmt.Sprintf("This link to your %s of %s %s. You can make a new one on the cluster's page, or with ocpctl %s %s.", messages.AccessKind(console), cluster, why, messages.AccessCommand(console, false), cluster)
}

// LinkFor returns what a link is for without using it up, for a confirmation page.
func (s *Service) LinkFor(ctx context.Context, p policy.Principal, handle string) (ForLink, error) {
	link, err := s.store.People.LinkFor(ctx, handle, p.ID)
	if errors.Is(err, db.ErrNotFound) {
		return ForLink{}, s.noLink(ctx, p, handle)
	}
	if err != nil {
		return ForLink{}, fmt.Errorf("read a link: %w", err)
	}
	out := ForLink{Link: link}
	if link.Kind != people.LinkOfAccount {
		return out, nil
	}
	names, err := s.store.People.ShownNames(ctx, link.Account)
	if err != nil {
		return out, err
	}
	if out.Account, err = s.core.AccountName(ctx, link.Account); err != nil {
		return out, err
	}
	out.Person = strings.TrimPrefix(names[link.Account], "@")
	_, out.Named, _ = strings.Cut(out.Account, ":")
	return out, nil
}

// ForLink is what a link is for.
type ForLink struct {
	people.Link        // its account as people write it
	Named       string // the name that confirms an account's link when somebody types it, e.g. maya
	Person      string // what the account's owner is called where the account is; empty: it is not known
}

// Means returns an error unless account names the account that an account link is for. The confirmation page asks for it:
// otherwise, whoever follows a link that somebody sent them would let the sender act as them. Links that do not work pass:
// Redeem rejects and records them.
func (s *Service) Means(ctx context.Context, p policy.Principal, handle, account string) error {
	link, err := s.store.People.LinkFor(ctx, handle, p.ID)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("read a link: %w", err)
	case link.Kind != people.LinkOfAccount || link.Account == account:
		return nil
	}
	name, err := s.core.AccountName(ctx, link.Account)
	if _, short, _ := strings.Cut(name, ":"); err != nil || strings.EqualFold(name, account) || strings.EqualFold(short, strings.TrimPrefix(account, "@")) {
		return err
	}
	return &app.Error{Kind: app.Invalid, Message: fmt.Sprintf("This link lets anyone who uses the account %s act as you in ocpctl. Nothing was changed. "+
		"Confirm it if you requested the link from that account yourself. If somebody sent it to you, do not.", name), Fields: []app.Field{
		app.ProblemOf("account", messages.Problem{"it must be the account that the link is for", []string{name}}),
	}}
}

// Accounts returns the principal's linked accounts as people write them: an account on GitHub by its current login, e.g. github:maya.
func (s *Service) Accounts(ctx context.Context, p policy.Principal) ([]string, error) {
	list, err := s.store.People.AccountsOf(ctx, p.ID)
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	names := make([]string, 0, len(list))
	for _, a := range list {
		name, err := s.core.AccountName(ctx, a.Account)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// Unlink removes the link of one of the principal's accounts. A platform admin of every team may unlink anybody's.
func (s *Service) Unlink(ctx context.Context, p policy.Principal, account string, origin app.Origin) error {
	owner := p.ID
	if p.May(policy.ActCatalogue, policy.EveryTeam) {
		owner = ""
	}
	linked, problem, err := s.core.PrincipalNamed(ctx, 0, account)
	if err != nil {
		return err
	}
	if problem != nil {
		linked = account // which is not linked
	}
	err = s.store.People.Unlink(ctx, linked, owner, s.core.StoreOrigin(origin, p))
	if errors.Is(err, db.ErrNotFound) {
		return app.Fail(app.NotFound, fmt.Sprintf("The account %s is not linked to you. Your own page lists your linked accounts.", account))
	}
	if err != nil {
		return fmt.Errorf("unlink an account: %w", err)
	}
	return nil
}

// SignedIn updates the principal's linked accounts from its sign-in, so that whoever left a team loses its rights everywhere.
func (s *Service) SignedIn(ctx context.Context, p policy.Principal, source policy.Source) error {
	who, err := ownerOf(p)
	if err != nil {
		return err
	}
	if err := s.store.People.SignedIn(ctx, who, string(source)); err != nil {
		return fmt.Errorf("update accounts: %w", err)
	}
	return nil
}

// ownerOf returns who signed in, with their proof.
func ownerOf(p policy.Principal) (people.Owner, error) {
	proof, err := json.Marshal(p.Proof)
	if err != nil {
		return people.Owner{}, fmt.Errorf("encode the claims: %w", err)
	}
	return people.Owner{Principal: p.ID, Name: p.Name, Proof: proof}, nil
}

// sayInstallersUnavailable tells an admin why one of the installer's credentials cannot be requested now: there is none, or somebody else asked.
func sayInstallersUnavailable(name, approval string, stored bool) string {
	what := messages.BreakGlassSecret(approval)
	if !stored {
		return fmt.Sprintf("The %s of %s cannot be requested: none is stored. The installer stores it when the cluster is up.", what, name)
	}
	return fmt.Sprintf("The %s of %s cannot be requested now: somebody else's request for it is pending. The list of approvals shows it. Try again when it is decided.", what, name)
}

// sayUnknownBreakGlass is the problem with a credential that break-glass does not give.
func sayUnknownBreakGlass(what string, known ...string) messages.Problem {
	return messages.Problem{fmt.Sprintf("%q cannot be requested", what), known}
}

// Lookalikes returns accounts elsewhere that look like the principal's and are linked to nobody.
func (s *Service) Lookalikes(ctx context.Context, p policy.Principal) ([]string, error) {
	called, _, _ := strings.Cut(profiles.UnlinkedName(p.ID), " (")
	name, _, isAddress := strings.Cut(called, "@")
	email := ""
	if isAddress {
		email = called
	}
	return s.store.People.ListLookalikes(ctx, name, email)
}
